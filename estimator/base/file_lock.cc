#include "estimator/base/file_lock.h"

#include <absl/cleanup/cleanup.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/string_view.h>
#include <absl/strings/strip.h>
#include <absl/time/clock.h>
#include <absl/time/time.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <utility>

#include "estimator/base/fault_injection.h"
#include "estimator/base/out_of_resources.h"
#include "estimator/base/remote/remote_file_system.h"
#include "estimator/base/status.h"

namespace estimator {
namespace {

std::string DescribeThisProcess() {
  std::array<char, 256> host = {};
  if (::gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
  return absl::StrCat("process ", ::getpid(), " on host ",
                      host[0] == '\0' ? "localhost" : host.data(), ", since ",
                      absl::FormatTime("%Y-%m-%d %H:%M:%S %Z", absl::Now(), absl::LocalTimeZone()));
}

// What the holder of the lock wrote. It may not have written it yet, or the file may not be
// writable for it.
std::string ReadDescription(int fd) {
  std::array<char, 512> text = {};
  const ssize_t count = ::pread(fd, text.data(), text.size(), 0);
  absl::string_view description(text.data(), count > 0 ? static_cast<size_t>(count) : 0);
  absl::ConsumeSuffix(&description, "\n");
  return description.empty() ? "another process" : std::string(description);
}

absl::StatusOr<int> OpenLockFile(const std::string& path) {
  if (IsRemotePath(path)) {
    return Unimplemented("cannot lock ", path, ": a remote file system has no locks");
  }
  EST_RETURN_IF_ERROR(AskFaultInjector(FileOperation::kOpen, path).status);
  // The name is ours, in a folder that may be a stranger's: a link is not followed, because its
  // target would be emptied, and a pipe must not block.
  constexpr int kFlags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  int fd = ::open(path.c_str(), O_RDWR | O_CREAT | kFlags, 0666);
  // A file of another user can be locked too, except on NFS.
  if (fd < 0 && (errno == EACCES || errno == EPERM || errno == EROFS)) {
    const int number = errno;
    fd = ::open(path.c_str(), O_RDONLY | kFlags);
    if (fd < 0) errno = number;
  }
  struct stat info = {};
  if (fd >= 0 ? ::fstat(fd, &info) == 0 && !S_ISREG(info.st_mode)
              : errno == ELOOP || errno == EISDIR || errno == ENXIO) {
    if (fd >= 0) ::close(fd);
    return InvalidArgument("the lock file ", path,
                           " is a link, a folder or a pipe; remove it, and check who put it there");
  }
  if (fd < 0) return FileError(errno, "open", path);
  return fd;
}

}  // namespace

absl::StatusOr<std::unique_ptr<FileLock>> FileLock::TryLock(StringArg path) {
  EST_ASSIGN_OR_RETURN(const int fd, OpenLockFile(std::string(path)));
  absl::Cleanup close = [fd] { ::close(fd); };
  EST_RETURN_IF_ERROR(AskFaultInjector(FileOperation::kLock, path).status);
  // flock(2) and not fcntl(2): a POSIX lock is lost when any descriptor of the file is closed, and
  // does not exclude other locks of its process.
  int result = 0;
  do {
    result = ::flock(fd, LOCK_EX | LOCK_NB);
  } while (result != 0 && errno == EINTR);
  if (result != 0 && errno == EWOULDBLOCK) {
    return absl::AlreadyExistsError(absl::StrCat(path, " is locked by ", ReadDescription(fd)));
  }
  if (result != 0) {
    const absl::Status status = absl::ErrnoToStatus(errno, absl::StrCat("cannot lock ", path));
    return Unimplemented(status.message());
  }
  const std::string description = absl::StrCat(DescribeThisProcess(), "\n");
  // The description is only for messages: the lock holds without it, for example on a full disk.
  if (::ftruncate(fd, 0) == 0) {
    [[maybe_unused]] const ssize_t written =
        ::pwrite(fd, description.data(), description.size(), 0);
  }
  std::move(close).Cancel();
  return std::unique_ptr<FileLock>(new FileLock(fd));
}

FileLock::~FileLock() {
  // The description is removed before the lock is released, because after that another process may
  // have written its own.
  [[maybe_unused]] const int result = ::ftruncate(fd_, 0);
  ::close(fd_);
}

bool ProcessExists(int pid) { return ::kill(pid, 0) == 0 || errno == EPERM; }

}  // namespace estimator
