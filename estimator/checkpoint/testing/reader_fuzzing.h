// What the fuzz targets of the two formats ask of a reader.
#ifndef ESTIMATOR_CHECKPOINT_TESTING_READER_FUZZING_H_
#define ESTIMATOR_CHECKPOINT_TESTING_READER_FUZZING_H_

#include "absl/strings/string_view.h"

namespace estimator {

// Opens the checkpoint and reads it in every way. CHECKs that what fails is DATA_LOSS or
// UNIMPLEMENTED, that values have the shapes that the index says, and that VerifyContents finds
// what reading does.
void CheckReader(absl::string_view prefix);

}  // namespace estimator

#endif  // ESTIMATOR_CHECKPOINT_TESTING_READER_FUZZING_H_
