#include "tpu/cluster/tpu_slice.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"

namespace estimator::tpu {

absl::Span<const TPUGeneration> TPUGenerations() {
  static constexpr TPUGeneration kGenerations[] = {
      {"v2", 2, 2, 16, 45, 700},   {"v3", 2, 2, 32, 123, 900},   {"v4", 1, 2, 32, 275, 1200},
      {"v5e", 1, 1, 16, 197, 819}, {"v5p", 1, 1, 95, 459, 2765}, {"v6e", 1, 1, 32, 918, 1640}};
  return kGenerations;
}

const TPUGeneration* FindTPUGeneration(absl::string_view name) {
  for (const TPUGeneration& generation : TPUGenerations()) {
    if (name == generation.name) return &generation;
  }
  return nullptr;
}

std::vector<std::string> TopologyNames() {
  std::vector<std::string> names;
  for (const TPUGeneration& generation : TPUGenerations())
    names.push_back(absl::StrCat(generation.name, "-8"));
  return names;
}

absl::StatusOr<TPUSlice> ParseAcceleratorType(StringArg accelerator_type) {
  const absl::string_view text = accelerator_type;
  const size_t dash = text.rfind('-');
  const absl::string_view version = text.substr(0, std::min(dash, text.size()));
  const TPUGeneration* const generation =
      FindTPUGeneration(version == "v5litepod" ? "v5e" : version);
  const bool chips = version == "v5litepod" || version == "v5e" || version == "v6e";
  int64_t size = 0;
  if (dash == absl::string_view::npos || !absl::SimpleAtoi(text.substr(dash + 1), &size) ||
      size < 1 || size > 1000000 || generation == nullptr || (!chips && size % 2 != 0)) {
    return InvalidArgument(
        "\"", text,
        "\" is not a TPU's accelerator type; types are v2-N, v3-N, v4-N and v5p-N "
        "with an even number N of cores, v5litepod-N and v6e-N with N chips");
  }
  TPUSlice slice;
  slice.num_chips = chips ? size : size / 2;
  slice.num_replicas = slice.num_chips * generation->devices_per_chip;
  // Hosts of 8 chips exist only for small slices of v5e and v6e. All other hosts have 4.
  const bool one_host = chips && size <= 8;
  slice.num_hosts = one_host ? 1 : (slice.num_chips + 3) / 4;
  return slice;
}

}  // namespace estimator::tpu
