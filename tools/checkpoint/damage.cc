#include "tools/checkpoint/damage.h"

#include "tools/checkpoint/arguments.h"

namespace estimator {

absl::StatusOr<std::vector<std::string>> DamageOf(const BundleReader& reader,
                                                  const std::string& name) {
  std::vector<std::string> damage;
  for (const BundleEntry* const part : reader.index().PartsOf(reader.index().tensors.at(name))) {
    const absl::Status status =
        reader.values().Read(*part, [](absl::string_view) { return CheckInterrupt(); });
    if (absl::IsCancelled(status)) return status;
    if (!status.ok()) damage.emplace_back(status.message());
  }
  return damage;
}

}  // namespace estimator
