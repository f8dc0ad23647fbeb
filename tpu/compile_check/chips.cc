#include "tpu/compile_check/chips.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace estimator::tpu {

absl::Span<const TpuSlice> TpuSlices() {
  static constexpr TpuSlice kSlices[] = {
      // Two cores a chip, a device each.
      {"v2-8", "v2:2x2x1", 8, 8, 22.5, 350},
      {"v3-8", "v3:2x2x1", 8, 16, 61.5, 450},
      {"v4-8", "v4:2x2x1", 8, 16, 137.5, 600},
      // A device is a chip. v5p-8 counts cores, of which a chip has two.
      {"v5e-8", "v5e:2x4", 8, 16, 197, 819},
      {"v5p-8", "v5p:2x2x1", 4, 95, 459, 2765},
      {"v6e-8", "v6e:2x4", 8, 32, 918, 1640},
  };
  return kSlices;
}

absl::StatusOr<TpuSlice> FindTpuSlice(StringArg name) {
  std::vector<std::string> names;
  for (const TpuSlice& slice : TpuSlices()) {
    if (name == slice.name) return slice;
    names.push_back(slice.name);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("unknown TPU topology '", name, "'; known are ", absl::StrJoin(names, ", ")));
}

}  // namespace estimator::tpu
