#include "estimator/runtime/passes/fuse.h"

#include <memory>
#include <utility>

#include "estimator/runtime/passes/bfloat16_products.h"

namespace estimator::ir {

bool FindKernel(const Module& module, Node& node, KernelTier fastest, KernelTier slowest) {
  if (fastest == KernelTier::kReference) return false;  // it has only plain ops
  absl::StatusOr<std::unique_ptr<Kernel>> kernel =
      CreateKernel(SpecOf(module, node), fastest, slowest);
  if (!kernel.ok()) return false;
  node.kernel = *std::move(kernel);
  return true;
}

void Fuse(Module& module, const CompileOptions& options) {
  const KernelTier fastest = options.fastest;
  if (Runs(options, "fuse_bias")) FuseBias(module, fastest);
  if (Runs(options, "fuse_pool")) FusePool(module, fastest);
  if (Runs(options, "fuse_conv_block")) FuseConvBlock(module, fastest);
  if (Runs(options, "fuse_batch_norm")) FuseBatchNorm(module, fastest);
  if (options.compute_dtype == DType::kBfloat16) NarrowProducts(module, fastest);
  if (Runs(options, "widen_results")) WidenResults(module, fastest);
  if (Runs(options, "fuse_elementwise")) FuseElementwise(module, fastest);
}

}  // namespace estimator::ir
