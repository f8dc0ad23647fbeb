// What the corruption tests of the two formats share.
#ifndef ESTIMATOR_CHECKPOINT_TESTING_CORRUPTION_H_
#define ESTIMATOR_CHECKPOINT_TESTING_CORRUPTION_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace estimator {

// Without the syncs of WriteFileAtomically, which are slow.
absl::Status ReplaceFile(absl::string_view path, absl::string_view contents);

// What a restoring program, and then a verifying one, meets first. Dtypes that only stream are left
// out.
absl::Status ReadEverything(absl::string_view prefix);

// Whether a message about a table says which variables are lost: in all of it, or in one block.
bool SaysWhatIsLost(absl::string_view message);

}  // namespace estimator

#endif  // ESTIMATOR_CHECKPOINT_TESTING_CORRUPTION_H_
