// PjrtBackend: runs steps on the devices of a PJRT plugin, one replica on each.
//
// A step becomes a StableHLO loop (tpu/stablehlo/lower_step.h) over stacked batches. RunLoop reads
// the batches of several steps, copies them to the devices, runs the loop, and then calls the
// outfeed for each step in order. A step whose loss is not finite ends the loop on the devices
// before its updates.
//
// Variables stay on the devices between runs. Their buffers are donated to the loop, which updates
// them in place. VariableStore copies a value back when it is read: for a checkpoint, an
// evaluation, a hook.
#ifndef TPU_PJRT_PJRT_BACKEND_H_
#define TPU_PJRT_PJRT_BACKEND_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "absl/status/statusor.h"
#include "estimator/array/dtype.h"
#include "estimator/runtime/backend.h"
#include "tpu/pjrt/client.h"

namespace estimator::tpu::pjrt {

struct PjrtBackendOptions {
  int num_replicas = 1;
  // The most steps of one execution. RunLoop runs longer loops in parts.
  int64_t iterations = 1;
  // The most bytes of the stacked batches and fetches of one replica; it may lower `iterations`.
  // 256 MiB.
  int64_t max_stacked_bytes = int64_t{256} << 20;
  // Whether the first fetch of a step with updates is the loss, which must be finite for the
  // updates to take effect: in training.
  bool guard_loss = false;
  DType compute_dtype = DType::kFloat32;  // as in stablehlo::LowerOptions
};

// Gives the client that all backends of a strategy share. Called before the first compilation, so
// that a program that never runs a step does not open the devices.
using ClientSource = std::function<absl::StatusOr<std::shared_ptr<Client>>()>;

// `store` outlives the backend. Executables keep the client.
// An error of the outfeed ends the loop, but the updates of the steps that the same execution has
// run stay, unlike on the CPU: only a loss that is not finite stops the devices before an update.
// Errors of Compile: those of the client, of LowerStep and of Client::Compile. Errors of RunLoop:
// those of Executable; those of the device; ABORTED if a loss is not finite and the outfeed accepts
// the step.
std::unique_ptr<Backend> MakePjrtBackend(ClientSource client, VariableStore& store,
                                         PjrtBackendOptions options);

}  // namespace estimator::tpu::pjrt

#endif  // TPU_PJRT_PJRT_BACKEND_H_
