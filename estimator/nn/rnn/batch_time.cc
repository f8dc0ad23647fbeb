#include "estimator/nn/rnn/batch_time.h"

#include <cstdint>
#include <vector>

#include "estimator/ops/manipulation.h"
#include "estimator/ops/select.h"
#include "estimator/ops/shape_ops.h"

namespace estimator {

Tensor TransposeBatchTime(const Tensor& x) {
  if (!x.valid()) return x;
  std::vector<int64_t> perm = {1, 0};
  for (int axis = 2; axis < x.rank(); ++axis) perm.push_back(axis);
  return Transpose(x, perm);
}

Tensor ForRankOf(const Tensor& x, const Tensor& per_example) {
  if (!per_example.valid()) return per_example;
  Shape shape(std::vector<int64_t>(static_cast<size_t>(x.rank()), 1));
  shape.set_dim(0, per_example.dim(0));
  return per_example.shape() == shape ? per_example : Reshape(per_example, shape);
}

Tensor UnlessFinished(const Tensor& finished, const Tensor& x, const Operand& otherwise) {
  return x.valid() && x.rank() > 0 ? Where(ForRankOf(x, finished), otherwise, x) : x;
}

}  // namespace estimator
