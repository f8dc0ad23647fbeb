// CrossReplicaSum and ReplicaId. The backend sums over replicas, between the segments of a program.
// This kernel is for one replica, where the sum is a copy.
#include <cstdint>
#include <cstring>
#include <memory>

#include "estimator/kernels/kernel.h"

namespace estimator {
namespace {

EST_REGISTER_KERNEL("CrossReplicaSum", KernelTier::kReference,
                    [](const KernelSpec& spec) -> KernelPlan {
                      const size_t num_bytes = spec.outputs[0].num_bytes();
                      return MakeKernel(
                          [num_bytes](const KernelArgs& args) {
                            if (args.outputs[0] != args.inputs[0])
                              std::memcpy(args.outputs[0], args.inputs[0], num_bytes);
                            return absl::OkStatus();
                          },
                          /*scratch_bytes=*/0, /*alias_input=*/0);
                    });

EST_REGISTER_KERNEL("ReplicaId", KernelTier::kReference, [](const KernelSpec&) -> KernelPlan {
  return MakeKernel([](const KernelArgs& args) {
    *args.out<int32_t>(0) = args.step.replica;
    return absl::OkStatus();
  });
});

}  // namespace
}  // namespace estimator
