// CrossReplicaSum and ReplicaId. Summing over replicas is the backend's work, between the segments
// of a program; with one replica the sum is a copy, and that is what this kernel does.
#include <cstdint>
#include <cstring>
#include <memory>

#include "estimator/kernels/kernel.h"

namespace estimator {
namespace {

EST_REGISTER_KERNEL("CrossReplicaSum", KernelTier::kReference,
                    [](const KernelSpec& spec) -> std::unique_ptr<Kernel> {
                      const size_t num_bytes = spec.outputs[0].num_bytes();
                      return MakeKernel(
                          [num_bytes](const KernelArgs& args) {
                            if (args.outputs[0] != args.inputs[0])
                              std::memcpy(args.outputs[0], args.inputs[0], num_bytes);
                            return absl::OkStatus();
                          },
                          /*scratch_bytes=*/0, /*alias_input=*/0);
                    });

EST_REGISTER_KERNEL("ReplicaId", KernelTier::kReference,
                    [](const KernelSpec&) -> std::unique_ptr<Kernel> {
                      return MakeKernel([](const KernelArgs& args) {
                        *args.out<int32_t>(0) = args.step.replica;
                        return absl::OkStatus();
                      });
                    });

}  // namespace
}  // namespace estimator
