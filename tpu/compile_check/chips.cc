#include "tpu/compile_check/chips.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "estimator/base/status.h"
#include "tpu/cluster/tpu_slice.h"

namespace estimator::tpu {

absl::StatusOr<CompileTarget> FindCompileTarget(StringArg name) {
  for (const TPUGeneration& generation : TPUGenerations()) {
    const std::string known = absl::StrCat(generation.name, "-8");
    if (name != known) continue;
    EST_ASSIGN_OR_RETURN(const TPUSlice slice, ParseAcceleratorType(known));
    // The compiler has two devices for each chip of a v4, on which only one replica runs.
    const int devices = generation.compiler_devices_per_chip;
    return CompileTarget{
        .name = known,
        .topology = absl::StrCat(generation.name, slice.num_chips == 8 ? ":2x4" : ":2x2x1"),
        .num_devices = slice.num_chips * devices,
        .memory_gib = generation.memory_gib / devices,
        .tflops = generation.tflops / devices,
        .gigabytes_per_sec = generation.gigabytes_per_sec / devices};
  }
  return InvalidArgument("unknown TPU topology '", name, "'; known are ",
                         absl::StrJoin(TopologyNames(), ", "));
}

}  // namespace estimator::tpu
