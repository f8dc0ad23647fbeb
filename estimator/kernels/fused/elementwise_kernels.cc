// The kernels of single element-wise ops and of chains of them (elementwise.h).
#include "estimator/kernels/fused/broadcast.h"
#include "estimator/kernels/fused/elementwise.h"

namespace estimator::fused {
namespace {

KernelPlan CreateElementwise(const KernelSpec& spec) {
  if (KernelPlan kernel = ElementwiseKernel::CreateSingle(spec)) return kernel;
  return MakeBroadcastKernel(spec);  // null for an op that is not one of two numbers
}

#define EST_OP_kNone(name)
#define EST_OP_kCheap(name) EST_REGISTER_KERNEL(#name, KernelTier::kFused, CreateElementwise);
#define EST_OP_kTile EST_OP_kCheap
#define EST_UNARY(name, x, takes, tiles, ...) EST_OP_##tiles(name)
#define EST_BINARY(name, x, y, takes, tiles, ...) EST_OP_##tiles(name)
#define EST_FUSED_UNARY EST_UNARY
#define EST_FUSED_BINARY EST_BINARY
#include "estimator/op_def/elementwise_table.h"
#undef EST_OP_kNone
#undef EST_OP_kCheap
#undef EST_OP_kTile
EST_REGISTER_KERNEL("SelectV2", KernelTier::kFused, CreateElementwise);
EST_REGISTER_KERNEL("_FusedElementwise", KernelTier::kFused, ElementwiseKernel::Create);

}  // namespace
}  // namespace estimator::fused
