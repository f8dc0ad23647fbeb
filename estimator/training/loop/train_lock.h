// The lock that a call of Train holds on its model_dir, so that two runs do not overwrite each
// other's checkpoints. Evaluations, predictions, exports and tools do not need it.
#ifndef ESTIMATOR_TRAINING_LOOP_TRAIN_LOCK_H_
#define ESTIMATOR_TRAINING_LOOP_TRAIN_LOCK_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "estimator/base/file_lock.h"

namespace estimator {

// Creates model_dir if it does not exist, and locks `<model_dir>/.train.lock`. The file stays when
// the lock is released. Returns null, without a lock, if model_dir cannot be written (the first
// save reports that), or if its file system has no locks (a warning says so). Errors:
// FAILED_PRECONDITION if another run trains in model_dir, naming its process, its host and when it
// began; other errors of the file system.
absl::StatusOr<std::unique_ptr<FileLock>> LockForTraining(const std::string& model_dir);

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_LOOP_TRAIN_LOCK_H_
