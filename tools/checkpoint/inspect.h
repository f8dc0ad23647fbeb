// `checkpoint list`, `show` and `verify`. They return text for users.
#ifndef TOOLS_CHECKPOINT_INSPECT_H_
#define TOOLS_CHECKPOINT_INSPECT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "estimator/checkpoint/bundle_reader.h"
#include "tools/checkpoint/arguments.h"

namespace estimator {

// Returns a row for each variable (dtype, shape, elements, bytes, number of slices) and a line of
// totals.
absl::StatusOr<std::string> List(const BundleReader& reader, const NameFilter& filter);

// Returns a variable's type, the place where it is stored, statistics over all elements, and the
// first and last elements.
// Errors: NOT_FOUND naming the nearest variable.
absl::StatusOr<std::string> Show(const BundleReader& reader, const std::string& name);

struct VerifyReport {
  std::vector<std::string> damage;  // empty: the checkpoint is not damaged
  std::string summary;
};
// Reads every byte of every variable and checks its crc32c, and verifies the files beside the
// checkpoint (companion_files.h). Continues after damage.
// Errors: NOT_FOUND if there is no such checkpoint; CANCELLED. Damage is not an error.
absl::StatusOr<VerifyReport> Verify(const std::string& prefix);

}  // namespace estimator

#endif  // TOOLS_CHECKPOINT_INSPECT_H_
