#include "estimator/graphdef/tensor_proto.h"

#include <string>

namespace estimator {

void WriteShapeProto(const Shape& shape, proto::TensorShapeProto* out) {
  for (const int64_t size : shape.dims()) out->add_dim()->set_size(size);
}

void WriteTensorProto(const Array& value, bool contents, proto::TensorProto* out) {
  out->set_dtype(static_cast<proto::DataType>(value.dtype()));
  WriteShapeProto(value.shape(), out->mutable_tensor_shape());
  if (!contents) return;
  if (value.dtype() == DType::kString) {
    for (const std::string& text : value.values<std::string>()) out->add_string_val(text);
    return;
  }
  if (value.num_elements() == 1) {
    switch (value.dtype()) {
      case DType::kFloat32:
        out->add_float_val(value.scalar<float>());
        return;
      case DType::kFloat64:
        out->add_double_val(value.scalar<double>());
        return;
      case DType::kInt32:
        out->add_int_val(value.scalar<int32_t>());
        return;
      case DType::kInt64:
        out->add_int64_val(value.scalar<int64_t>());
        return;
      case DType::kBool:
        out->add_bool_val(value.scalar<bool>());
        return;
      default:
        break;
    }
  }
  out->set_tensor_content(value.raw(), value.num_bytes());
}

}  // namespace estimator
