// `checkpoint list`, `show` and `verify`: text for people.
#ifndef TOOLS_CHECKPOINT_INSPECT_H_
#define TOOLS_CHECKPOINT_INSPECT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "estimator/checkpoint/bundle_reader.h"
#include "tools/checkpoint/arguments.h"

namespace estimator {

// A row a variable: dtype, shape, elements, bytes, how many slices; and a line of totals.
absl::StatusOr<std::string> List(const BundleReader& reader, const NameFilter& filter);

// Type, where it is stored, statistics over all elements, and the first and last of them.
// Errors: NOT_FOUND with the nearest name.
absl::StatusOr<std::string> Show(const BundleReader& reader, const std::string& name);

struct VerifyReport {
  std::vector<std::string> damage;  // empty: the checkpoint is whole
  std::string summary;
};
// Reads every byte that a variable uses and holds it against its crc32c, and what stands beside
// the checkpoint (extras.h); goes on after damage.
// Errors: NOT_FOUND if there is no such checkpoint; CANCELLED. Damage is no error here.
absl::StatusOr<VerifyReport> Verify(const std::string& prefix);

}  // namespace estimator

#endif  // TOOLS_CHECKPOINT_INSPECT_H_
