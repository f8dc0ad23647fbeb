#include "estimator/ops/tensor_array.h"

#include "estimator/ops/constant.h"
#include "estimator/ops/gather.h"
#include "estimator/ops/shape_ops.h"

namespace estimator {
TensorArray::TensorArray(const TensorSpec& element, int64_t size, StringArg name)
    : rows_(Zeros(element.shape.Stacked(size), element.dtype, name)) {}

Tensor TensorArray::Read(const Tensor& index, StringArg name) const {
  return estimator::Gather(rows_, index, {.name = std::string(name)});
}

TensorArray TensorArray::Write(const Tensor& index, const Tensor& value, StringArg name) const {
  return TensorArray(
      TensorScatterUpdate(rows_, Reshape(index, {1, 1}), ExpandDims(value, 0), name));
}

Tensor TensorArray::Gather(const Tensor& indices, StringArg name) const {
  return estimator::Gather(rows_, indices, {.name = std::string(name)});
}

TensorArray TensorArray::Scatter(const Tensor& indices, const Tensor& values,
                                 StringArg name) const {
  return TensorArray(TensorScatterUpdate(rows_, ExpandDims(indices, -1), values, name));
}

}  // namespace estimator
