// The fusing passes for the layers of transformers. Each finds ops that a layer or a user's code
// makes, forward and backward, and replaces them by nodes of kernels/transformer.
#ifndef ESTIMATOR_RUNTIME_PASSES_TRANSFORMER_FUSE_TRANSFORMER_H_
#define ESTIMATOR_RUNTIME_PASSES_TRANSFORMER_FUSE_TRANSFORMER_H_

#include "estimator/runtime/ir.h"

namespace estimator::ir {

// GreaterEqual(RandomUniform(shape), rate) -> _RandomGreaterEqual, if nothing else reads the
// numbers: the mask of a dropout has one byte for each element, and the numbers are not written.
void FuseRandomMask(Module& module, KernelTier fastest);

// What layers::LayerNorm makes with begin_norm_axis -1, center and scale -> _LayerNorm, and its
// gradient -> _LayerNormGrad. If the gradient is another one, for instance because the model reads
// the mean too, neither is fused.
void FuseLayerNorm(Module& module, KernelTier fastest);

// Scaled dot-product attention, forward and backward -> _Attention and _AttentionGrad:
//   SelectV2(mask, Softmax(q k^T scale + bias) keep_scale, 0) v
// where q, k, v are Transpose(Reshape(x, [B, S, heads, D]), [0, 2, 1, 3]) and the result is
// transposed back. With one query, S = 1, the transposes of q and of the result may be views. The
// scores and probabilities are not written. `bias` may be absent, and so may the dropout.
void FuseAttention(Module& module, KernelTier fastest);

// GELU as ops/activations.h, tf.nn.gelu and BERT's code write it, and its gradient:
//   x (1 + erf(x / sqrt(2))) / 2                         -> _Gelu(x), _GeluGrad(dy, x)
//   x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2    -> _GeluApproximate, _GeluApproximateGrad
// These are element-wise ops in f32 and bf16, which FuseElementwise joins with others. Nothing is
// fused if another node reads the values between, as another form of the gradient does. It may read
// those that one op computes from x, such as x / 2.
void FuseGelu(Module& module, KernelTier fastest);

}  // namespace estimator::ir

#endif  // ESTIMATOR_RUNTIME_PASSES_TRANSFORMER_FUSE_TRANSFORMER_H_
