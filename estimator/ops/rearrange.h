// Blocks of pixels as channels or as examples, rolled axes, and reversed sequences.
// Errors (kept by the graph): INVALID_ARGUMENT naming sizes that do not fit.
#ifndef ESTIMATOR_OPS_REARRANGE_H_
#define ESTIMATOR_OPS_REARRANGE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "estimator/base/string_arg.h"
#include "estimator/graph/tensor.h"
#include "estimator/ops/slicing.h"

namespace estimator {

// The pixels of each block of block_size x block_size become channels of one pixel.
//   x: [N,H,W,C].  Returns [N,H/b,W/b,b*b*C].
// Source: TF 2.15 tf.nn.space_to_depth.
Tensor SpaceToDepth(const Tensor& x, int64_t block_size, StringArg name = "SpaceToDepth");
// The inverse: [N,H,W,b*b*C] -> [N,H*b,W*b,C]. Source: TF 2.15 tf.nn.depth_to_space.
Tensor DepthToSpace(const Tensor& x, int64_t block_size, StringArg name = "DepthToSpace");

// Pads the axes after the first with zeros, and makes examples of their blocks: axis 1 + i gets
// paddings[i], {in front, at the end}, and has blocks of block_shape[i].
//   x: [N, ...].  Returns [N * all block sizes, axis / block size, ...].
// Source: TF 2.15 tf.space_to_batch.
Tensor SpaceToBatch(const Tensor& x, const std::vector<int64_t>& block_shape,
                    const Paddings& paddings, StringArg name = "SpaceToBatchND");
// The inverse, which crops instead. Source: TF 2.15 tf.batch_to_space.
Tensor BatchToSpace(const Tensor& x, const std::vector<int64_t>& block_shape, const Paddings& crops,
                    StringArg name = "BatchToSpaceND");

// Moves elements by shifts[i] places along axes[i], those at the end to the begin.
// Source: TF 2.15 tf.roll.
Tensor Roll(const Tensor& x, const std::vector<int64_t>& shifts, const std::vector<int64_t>& axes,
            StringArg name = "roll");

struct ReverseSequenceOptions {
  int64_t seq_axis = 1;
  int64_t batch_axis = 0;
  std::string name = "ReverseSequence";
};
// Reverses the first lengths[i] steps of sequence i. The steps after them stay.
//   x: any dtype and shape.  lengths: i32 or i64 [B].  Returns the type of x.
// Errors: also in a step, if a length is negative or above the number of steps. On a TPU it then
//   gives values of other steps.
// Source: TF 2.15 tf.reverse_sequence.
Tensor ReverseSequence(const Tensor& x, const Tensor& lengths,
                       const ReverseSequenceOptions& options = {});

struct LocalResponseNormalizationOptions {
  int64_t depth_radius = 5;
  float bias = 1;
  float alpha = 1;
  float beta = 0.5;
  std::string name = "LRN";
};
// y = x / (bias + alpha * s)^beta, where s is the sum of x^2 over the channels that are at most
// depth_radius away.
//   x: floating [N,H,W,C] with at most 8192 channels.  Returns the same.
// Source: TF 2.15 tf.nn.local_response_normalization.
Tensor LocalResponseNormalization(const Tensor& x,
                                  const LocalResponseNormalizationOptions& options = {});
// Its gradient, for graphs that have one. Source: TF 2.15 lrn_op.cc.
Tensor LocalResponseNormalizationGrad(const Tensor& dy, const Tensor& x, const Tensor& y,
                                      const LocalResponseNormalizationOptions& options);

}  // namespace estimator

#endif  // ESTIMATOR_OPS_REARRANGE_H_
