// FileLock: a lock between processes, held through a file. The kernel releases it when its process
// ends in any way, so a crash leaves no lock behind.
#ifndef ESTIMATOR_BASE_FILE_LOCK_H_
#define ESTIMATOR_BASE_FILE_LOCK_H_

#include <absl/status/statusor.h>

#include <memory>

#include "estimator/base/string_arg.h"

namespace estimator {

// Holds the lock for its lifetime. Two FileLocks of one process exclude each other as well. A child
// process that is forked meanwhile shares the lock until it ends or calls exec.
class FileLock {
 public:
  // Locks the file without waiting. The file is created if it does not exist, and it is never
  // removed. A description of this process is written into it for the message below.
  // Errors: ALREADY_EXISTS if the lock is held, with the description of the holder, such as
  // "process 1234 on host server1, since 2024-05-01 12:30:00 CEST"; UNIMPLEMENTED if the file
  // system has no locks; INVALID_ARGUMENT if the path is a link, a folder or a pipe; errors of
  // opening the file, such as PERMISSION_DENIED, or FAILED_PRECONDITION on a read-only file system.
  static absl::StatusOr<std::unique_ptr<FileLock>> TryLock(StringArg path);

  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  explicit FileLock(int fd) : fd_(fd) {}

  const int fd_;
};

// Whether a process of this machine has the number `pid`. The number may be that of another process
// than the one that was meant, because numbers are used again.
bool ProcessExists(int pid);

}  // namespace estimator

#endif  // ESTIMATOR_BASE_FILE_LOCK_H_
