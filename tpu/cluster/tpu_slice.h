// The table of TPU generations, and how many replicas and hosts a slice such as v3-8 has.
#ifndef TPU_CLUSTER_TPU_SLICE_H_
#define TPU_CLUSTER_TPU_SLICE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "estimator/base/string_arg.h"

namespace estimator::tpu {

// The chips of a TPU generation. A device runs one replica: it is a core of v2 and v3, and the
// whole chip of later TPUs. Source: Cloud TPU's published system architecture.
struct TPUGeneration {
  const char* name;  // "v3"
  int devices_per_chip;
  // Of libtpu's compiler without a TPU, which has a device for each core of a v4.
  int compiler_devices_per_chip;
  double memory_gib;         // of a chip
  double tflops;             // peak of a chip, bf16 products
  double gigabytes_per_sec;  // of a chip's memory
};
absl::Span<const TPUGeneration> TPUGenerations();
// Null if there is none of the name.
const TPUGeneration* FindTPUGeneration(absl::string_view name);

// The slices that a program can be compiled for without a TPU: "v2-8", "v3-8", ...
std::vector<std::string> TopologyNames();

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
