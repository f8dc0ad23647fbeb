// Copies a checkpoint into a model directory, to begin a run with it.
#ifndef ESTIMATOR_CHECKPOINT_COPY_CHECKPOINT_H_
#define ESTIMATOR_CHECKPOINT_COPY_CHECKPOINT_H_

#include "absl/status/status.h"
#include "estimator/base/string_arg.h"

namespace estimator {

// Copies all files of the checkpoint `prefix`, of TensorFlow's newer or older format, as the
// checkpoint `name` of `model_dir`, which must exist, and writes its state file.
// Errors: those of the file system.
absl::Status CopyCheckpoint(StringArg prefix, StringArg model_dir, StringArg name);

}  // namespace estimator

#endif  // ESTIMATOR_CHECKPOINT_COPY_CHECKPOINT_H_
