// Converts arrays and shapes to and from TensorFlow's TensorProto and TensorShapeProto.
#ifndef ESTIMATOR_GRAPHDEF_TENSOR_PROTO_H_
#define ESTIMATOR_GRAPHDEF_TENSOR_PROTO_H_

#include "absl/status/statusor.h"
#include "estimator/array/array.h"
#include "estimator/proto/tensor.pb.h"

namespace estimator {

void WriteShapeProto(const Shape& shape, proto::TensorShapeProto* out);

// Writes a value as tf.make_tensor_proto does: one number in its typed field, several numbers as
// tensor_content, strings in string_val. If `contents` is false, writes only dtype and shape.
void WriteTensorProto(const Array& value, bool contents, proto::TensorProto* out);

// Reads a shape; unknown sizes become kUnknownDim. REQUIRES: the rank is known.
// Errors: INVALID_ARGUMENT for other negative sizes, and for more elements than an int64 can count.
absl::StatusOr<Shape> ReadShapeProto(const proto::TensorShapeProto& in);

// The dtype of a node's attribute. For a reference (DT_FLOAT_REF) it is the dtype referred to.
// kInvalid for dtypes that are not supported (DT_COMPLEX64, DT_RESOURCE).
DType ReadDType(proto::DataType dtype);

// Reads what WriteTensorProto writes, and TensorFlow's other forms: values in the dtype's field,
// where the last value also fills the missing elements, and no values mean zeros.
//   max_bytes: the largest size of the value in memory.
// Errors: INVALID_ARGUMENT if bytes, values and shape do not fit, or if the value is larger than
// max_bytes; UNIMPLEMENTED if the dtype is not supported.
absl::StatusOr<Array> ReadTensorProto(const proto::TensorProto& in, int64_t max_bytes);

}  // namespace estimator

#endif  // ESTIMATOR_GRAPHDEF_TENSOR_PROTO_H_
