// Holds a checkpoint against the variables that a program wants from it.
#ifndef ESTIMATOR_CHECKPOINT_RESTORE_H_
#define ESTIMATOR_CHECKPOINT_RESTORE_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/array/array.h"
#include "estimator/array/tensor_spec.h"
#include "estimator/checkpoint/bundle_reader.h"

namespace estimator {

// Whether the checkpoint has every wanted variable with its dtype and shape. What it has beyond
// them is fine. An i32 scalar serves for an i64 one: some programs keep global_step so. Errors:
// NOT_FOUND if a variable is missing, else INVALID_ARGUMENT; one table of all mismatches: variable,
// here, there, the nearest name in the checkpoint, and the likely cure.
absl::Status CheckRestorable(const BundleReader& reader,
                             const std::map<std::string, TensorSpec>& wanted);

// A variable of the checkpoint, and the array of the caller that takes its value.
struct RestoreTarget {
  std::string name;  // in the checkpoint
  Array* value = nullptr;
};

// Reads every target where it lies: no second copy of a value is made. After the check above.
// Errors: as CheckRestorable, and then nothing is written; as BundleReader::Read, and then the
// contents of the targets are undefined.
absl::Status RestoreInto(const BundleReader& reader, const std::vector<RestoreTarget>& targets);

// The values of the wanted variables, after the check above.
// Errors: as CheckRestorable, and as BundleReader::Read.
absl::StatusOr<std::map<std::string, Array>> RestoreVariables(
    const BundleReader& reader, const std::map<std::string, TensorSpec>& wanted);

}  // namespace estimator

#endif  // ESTIMATOR_CHECKPOINT_RESTORE_H_
