#include "estimator/runtime/passes/fuse.h"

#include "estimator/runtime/passes/transformer/fuse_transformer.h"

namespace estimator::ir {

void Fuse(Module& module, KernelTier fastest) {
  FuseBias(module, fastest);
  FusePool(module, fastest);
  FuseBatchNorm(module, fastest);
  FuseRandomMask(module, fastest);
  FuseLayerNorm(module, fastest);
  FuseAttention(module, fastest);
  FuseElementwise(module, fastest);
}

}  // namespace estimator::ir
