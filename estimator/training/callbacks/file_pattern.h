// Names of files with numbers of an epoch in them, as Python's str.format makes them.
#ifndef ESTIMATOR_TRAINING_CALLBACKS_FILE_PATTERN_H_
#define ESTIMATOR_TRAINING_CALLBACKS_FILE_PATTERN_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/training/epochs/history.h"

namespace estimator::callbacks {

// Replaces {name} and {name:format} in `pattern`: "ep{epoch:03d}_val-loss{val_loss:.4f}.h5".
//   counts: whole numbers, by name: `epoch`. logs: other numbers.
//   The format is that of Python's numbers: [0][width][.precision] and d, e, f or g. {{ is a brace.
// Errors: INVALID_ARGUMENT for a name that there is not, listing those that there are, and for a
// format that the number does not have.
absl::StatusOr<std::string> FillPattern(absl::string_view pattern,
                                        const std::map<std::string, int64_t>& counts,
                                        const Logs& logs);

}  // namespace estimator::callbacks

#endif  // ESTIMATOR_TRAINING_CALLBACKS_FILE_PATTERN_H_
