// The checks of the fuzz targets of both checkpoint formats.
#ifndef ESTIMATOR_CHECKPOINT_TESTING_READER_FUZZING_H_
#define ESTIMATOR_CHECKPOINT_TESTING_READER_FUZZING_H_

#include "absl/strings/string_view.h"

namespace estimator {

// Opens the checkpoint and reads it in every way. CHECKs that all errors are DATA_LOSS or
// UNIMPLEMENTED, that values have the shapes in the index, and that VerifyContents fails if reading
// does.
void CheckReader(absl::string_view prefix);

}  // namespace estimator

#endif  // ESTIMATOR_CHECKPOINT_TESTING_READER_FUZZING_H_
