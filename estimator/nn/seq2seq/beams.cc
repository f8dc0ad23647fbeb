#include "estimator/nn/seq2seq/beams.h"

#include "estimator/ops/constant.h"
#include "estimator/ops/gather.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/shape_ops.h"

namespace estimator::seq2seq {

Tensor GatherBeams(const Tensor& x, const Tensor& beams) {
  return Gather(x, beams, {.axis = 1, .batch_dims = 1});
}

Tensor GatherFlatBeams(const Tensor& x, const Tensor& beams, int64_t beam_width) {
  const int64_t batch_size = beams.dim(0);
  const Tensor first = Reshape(Range(batch_size) * beam_width, Shape{batch_size, 1});
  return Gather(x, Reshape(beams + first, Shape{-1}));
}

}  // namespace estimator::seq2seq
