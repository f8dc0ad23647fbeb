#include "estimator/runtime/passes/fusion/fuse.h"

#include "estimator/runtime/passes/bfloat16_products.h"
#include "estimator/runtime/passes/round_operands.h"
#include "estimator/runtime/passes/transformer/fuse_transformer.h"

namespace estimator::ir {

void Fuse(Module& module, const CompileOptions& options) {
  const KernelTier fastest = options.fastest;
  if (options.bfloat16_operands) RoundOperands(module);
  // Before FuseBias, which takes the bias that this makes.
  if (Runs(options, "fold_batch_norm") && fastest != KernelTier::kReference) FoldBatchNorm(module);
  if (Runs(options, "fuse_bias")) FuseBias(module, fastest, options.compute_dtype);
  if (Runs(options, "fuse_pool")) FusePool(module, fastest);
  if (Runs(options, "fuse_conv_block")) FuseConvBlock(module, fastest);
  if (Runs(options, "fuse_batch_norm")) FuseBatchNorm(module, fastest);
  // The layers of transformers consist of element-wise ops too, so they come before
  // FuseElementwise.
  if (Runs(options, "fuse_random_mask")) FuseRandomMask(module, fastest);
  if (Runs(options, "fuse_layer_norm")) FuseLayerNorm(module, fastest);
  if (Runs(options, "fuse_attention")) FuseAttention(module, fastest);
  if (Runs(options, "fuse_gelu")) FuseGelu(module, fastest);
  // After FuseBias and FuseConvBlock, because the fused products are cast as a whole.
  if (options.compute_dtype == DType::kBfloat16) NarrowProducts(module, fastest);
  if (Runs(options, "widen_results")) WidenResults(module, fastest);
  if (Runs(options, "fuse_elementwise")) FuseElementwise(module, fastest);
  if (Runs(options, "fuse_bias_grad")) FuseBiasGrad(module, fastest);
}

}  // namespace estimator::ir
