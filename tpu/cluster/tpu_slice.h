// TPUSlice: how many replicas and hosts an accelerator type such as v3-8 has.
#ifndef TPU_CLUSTER_TPU_SLICE_H_
#define TPU_CLUSTER_TPU_SLICE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "estimator/base/string_arg.h"

namespace estimator::tpu {

struct TPUSlice {
  int64_t num_chips = 0;
  // Devices that run one copy of the model each: the cores of v2 and v3, the chips of later TPUs.
  int64_t num_replicas = 0;
  int64_t num_hosts = 0;
};

// The slice of an accelerator type:
//   v2-N, v3-N                  N cores, 2 on a chip; a host has 8
//   v4-N, v5p-N                 N cores, 2 on a chip, which is a replica; a host has 4 chips
//   v5litepod-N, v5e-N, v6e-N   N chips; up to 8 on one host, larger slices have 4 on each
// Errors: INVALID_ARGUMENT for another text.
absl::StatusOr<TPUSlice> ParseAcceleratorType(StringArg accelerator_type);

}  // namespace estimator::tpu

#endif  // TPU_CLUSTER_TPU_SLICE_H_
