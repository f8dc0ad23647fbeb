// Helpers of the corruption tests of both checkpoint formats.
#ifndef ESTIMATOR_CHECKPOINT_TESTING_CORRUPTION_H_
#define ESTIMATOR_CHECKPOINT_TESTING_CORRUPTION_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace estimator {

// Replaces a file without the slow syncs of WriteFileAtomically.
absl::Status ReplaceFile(absl::string_view path, absl::string_view contents);

// Reads all variables and verifies the contents. Returns the first error, but ignores dtypes that
// cannot be read into an Array.
absl::Status ReadEverything(absl::string_view prefix);

// Whether an error message about a table says which variables are lost.
bool SaysWhatIsLost(absl::string_view message);

}  // namespace estimator

#endif  // ESTIMATOR_CHECKPOINT_TESTING_CORRUPTION_H_
