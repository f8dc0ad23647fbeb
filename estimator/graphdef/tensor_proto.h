// Arrays and shapes as TensorFlow's TensorProto and TensorShapeProto.
#ifndef ESTIMATOR_GRAPHDEF_TENSOR_PROTO_H_
#define ESTIMATOR_GRAPHDEF_TENSOR_PROTO_H_

#include "absl/status/statusor.h"
#include "estimator/array/array.h"
#include "estimator/proto/tensor.pb.h"

namespace estimator {

void WriteShapeProto(const Shape& shape, proto::TensorShapeProto* out);

// As tf.make_tensor_proto does: one number in its typed field, several as tensor_content, strings
// in string_val. Without `contents`, dtype and shape alone.
void WriteTensorProto(const Array& value, bool contents, proto::TensorProto* out);

// Unknown sizes are kUnknownDim. REQUIRES: the rank is known.
// Errors: INVALID_ARGUMENT for other negative sizes and for more elements than an int64 can count.
absl::StatusOr<Shape> ReadShapeProto(const proto::TensorShapeProto& in);

// The dtype of a node's attribute; that of what it refers to for a reference (DT_FLOAT_REF).
// kInvalid for those that we have not (DT_COMPLEX64, DT_RESOURCE).
DType ReadDType(proto::DataType dtype);

// The reverse of WriteTensorProto, and the other ways in which TensorFlow writes: values in the
// dtype's field, the last of which stands for all that follow; none at all are zeros.
// Errors: INVALID_ARGUMENT if bytes, values and shape do not fit, or if the value would have more
// than max_bytes; UNIMPLEMENTED for a dtype that we have not.
absl::StatusOr<Array> ReadTensorProto(const proto::TensorProto& in, int64_t max_bytes);

}  // namespace estimator

#endif  // ESTIMATOR_GRAPHDEF_TENSOR_PROTO_H_
