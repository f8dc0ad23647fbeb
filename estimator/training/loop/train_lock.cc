#include "estimator/training/loop/train_lock.h"

#include "estimator/base/file.h"
#include "estimator/base/remote/remote_file_system.h"
#include "estimator/base/status.h"
#include "glog/logging.h"

namespace estimator {
namespace {

// On disk: do not change, because programs of all versions must use the same file. TensorBoard and
// TensorFlow ignore it.
constexpr char kLockFileName[] = ".train.lock";

}  // namespace

absl::StatusOr<std::unique_ptr<FileLock>> LockForTraining(const std::string& model_dir) {
  EST_RETURN_IF_ERROR(CreateDirectories(model_dir));
  absl::StatusOr<std::unique_ptr<FileLock>> lock =
      FileLock::TryLock(JoinPath(model_dir, kLockFileName));
  if (absl::IsAlreadyExists(lock.status())) {
    return FailedPrecondition(
        "another run is training in ", model_dir, ": ", lock.status().message(),
        ". Two runs would overwrite each other's checkpoints: wait for the other one, stop it, or "
        "use another model_dir");
  }
  if (absl::IsPermissionDenied(lock.status()) || absl::IsFailedPrecondition(lock.status())) {
    // If this run saves, the save reports the cause.
    VLOG(1) << "training without a lock: " << lock.status();
    return nullptr;
  }
  // Its saves show a second run (Saver).
  if (IsRemotePath(model_dir)) return nullptr;
  if (absl::IsUnimplemented(lock.status())) {
    LOG(WARNING)
        << lock.status().message()
        << ": a second run in this model_dir will not be noticed; start only one at a time";
    return nullptr;
  }
  return lock;
}

}  // namespace estimator
