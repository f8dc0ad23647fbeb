// Arrays and shapes as TensorFlow's TensorProto and TensorShapeProto.
#ifndef ESTIMATOR_GRAPHDEF_TENSOR_PROTO_H_
#define ESTIMATOR_GRAPHDEF_TENSOR_PROTO_H_

#include "estimator/array/array.h"
#include "estimator/proto/tensor.pb.h"

namespace estimator {

void WriteShapeProto(const Shape& shape, proto::TensorShapeProto* out);

// As tf.make_tensor_proto does: one number in its typed field, several as tensor_content, strings
// in string_val. Without `contents`, dtype and shape alone.
void WriteTensorProto(const Array& value, bool contents, proto::TensorProto* out);

}  // namespace estimator

#endif  // ESTIMATOR_GRAPHDEF_TENSOR_PROTO_H_
