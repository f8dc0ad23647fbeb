// What is damaged of one variable, for the commands that go on after damage.
#ifndef TOOLS_CHECKPOINT_DAMAGE_H_
#define TOOLS_CHECKPOINT_DAMAGE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "estimator/checkpoint/bundle_reader.h"

namespace estimator {

// Reads every byte of the variable and holds it against its crc32c. A line for each part that is
// damaged, with file, variable and offset; none: it is whole. REQUIRES: the reader has it.
// Errors: CANCELLED.
absl::StatusOr<std::vector<std::string>> DamageOf(const BundleReader& reader,
                                                  const std::string& name);

}  // namespace estimator

#endif  // TOOLS_CHECKPOINT_DAMAGE_H_
