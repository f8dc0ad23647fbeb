// Finds the damage of one variable, for commands that continue after damage.
#ifndef TOOLS_CHECKPOINT_DAMAGE_H_
#define TOOLS_CHECKPOINT_DAMAGE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "estimator/checkpoint/bundle_reader.h"

namespace estimator {

// Reads every byte of the variable and checks its crc32c. Returns a line for each damaged part,
// with file, variable and offset. Empty if the variable is not damaged.
// REQUIRES: the checkpoint has the variable.
// Errors: CANCELLED.
absl::StatusOr<std::vector<std::string>> DamageOf(const BundleReader& reader,
                                                  const std::string& name);

}  // namespace estimator

#endif  // TOOLS_CHECKPOINT_DAMAGE_H_
