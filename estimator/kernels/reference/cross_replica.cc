// CrossReplicaSum and ReplicaId. The backend sums over replicas, between the segments of a program.
// This kernel is for one replica, where the sum is a copy.
#include <cstdint>

#include "estimator/kernels/kernel.h"
#include "estimator/kernels/reference/loops.h"

namespace estimator {
namespace {

EST_REGISTER_KERNEL("CrossReplicaSum", KernelTier::kReference, [](const KernelSpec& spec) {
  return MakeKernel(
      [output = spec.outputs[0]](const KernelArgs& args) {
        CopyTensor(output, args.inputs[0], args.outputs[0]);
      },
      /*scratch_bytes=*/0, /*alias_input=*/0);
});

EST_REGISTER_KERNEL("ReplicaId", KernelTier::kReference, [](const KernelSpec&) -> KernelPlan {
  return MakeKernel([](const KernelArgs& args) { *args.out<int32_t>(0) = args.step.replica; });
});

}  // namespace
}  // namespace estimator
