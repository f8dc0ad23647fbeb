#include "estimator/base/testing/system_faults.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <mutex>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "glog/logging.h"

namespace estimator::testing {
namespace {

struct Fault {
  std::string prefix;
  int index = 0;
  int error = 0;
  std::string hit;
};

std::atomic<bool> active = false;
std::mutex mutex;
Fault& TheFault() {  // guarded by mutex
  static Fault& fault = *new Fault;
  return fault;
}

bool Writes(absl::string_view call) {
  return call == "create" || call == "write" || call == "fsync" || call == "close" ||
         call == "rename" || call == "link" || call == "mkdir" || call == "ftruncate";
}

// What the system may answer: a full disk only where something is written, no locks to flock, and a
// stale handle of NFS to all but a write, which the page cache takes.
bool CanFailWith(absl::string_view call, int error) {
  if (error == ENOSPC) return Writes(call);
  if (error == ENOLCK) return call == "flock";
  return error != ESTALE || (call != "write" && call != "close");
}

// Whether this call fails. errno is then set.
bool Fails(absl::string_view call, absl::string_view path) {
  if (!active.load(std::memory_order_acquire)) return false;
  const std::lock_guard<std::mutex> lock(mutex);
  Fault& fault = TheFault();
  if (!active || !absl::StartsWith(path, fault.prefix) || !CanFailWith(call, fault.error) ||
      fault.index-- != 0) {
    return false;
  }
  fault.hit = absl::StrCat(call, " ", path);
  errno = fault.error;
  return true;
}

std::string PathOf(int fd) {
  char path[4096];
  const ssize_t size = ::readlink(absl::StrCat("/proc/self/fd/", fd).c_str(), path, sizeof(path));
  return std::string(path, size < 0 ? 0 : static_cast<size_t>(size));
}

bool Fails(absl::string_view call, int fd) {
  return active.load(std::memory_order_acquire) && Fails(call, PathOf(fd));
}

// Of openat and unlinkat.
bool Fails(absl::string_view call, int folder, const char* path) {
  if (!active.load(std::memory_order_acquire)) return false;
  return Fails(
      call, path[0] == '/' || folder == AT_FDCWD ? path : absl::StrCat(PathOf(folder), "/", path));
}

// The system's function of this name.
template <typename Function>
Function* System(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

absl::string_view OpenOrCreate(int flags) { return (flags & O_CREAT) != 0 ? "create" : "open"; }

}  // namespace

SystemFault::SystemFault(absl::string_view prefix, int index, int error) {
  const std::lock_guard<std::mutex> lock(mutex);
  CHECK(!active) << "another SystemFault lives";
  TheFault() = {.prefix = std::string(prefix), .index = index, .error = error, .hit = {}};
  active = true;
}

SystemFault::~SystemFault() { active = false; }

std::string SystemFault::hit() const {
  const std::lock_guard<std::mutex> lock(mutex);
  return TheFault().hit;
}

}  // namespace estimator::testing

// The functions have names of their own here and the system's in the program, because headers may
// define the latter inline (_FORTIFY_SOURCE). `fails` are the arguments of Fails.
#define EST_FAULTY(result, failed, name, parameters, fails, arguments)                \
  extern "C" result estimator_faulty_##name parameters __asm__(#name);                \
  extern "C" result estimator_faulty_##name parameters {                              \
    static auto* const real = ::estimator::testing::System<result parameters>(#name); \
    if (::estimator::testing::Fails fails) return failed;                             \
    return real arguments;                                                            \
  }
// A function of the system that has a second name for files of more than 2 GB.
#define EST_FAULTY_64(result, failed, name, parameters, fails, arguments) \
  EST_FAULTY(result, failed, name, parameters, fails, arguments)          \
  EST_FAULTY(result, failed, name##64, parameters, fails, arguments)

using ::estimator::testing::OpenOrCreate;

// The mode is passed on as it comes: without O_CREAT it is not read.
EST_FAULTY_64(int, -1, open, (const char* path, int flags, mode_t mode),
              (OpenOrCreate(flags), path), (path, flags, mode))
EST_FAULTY_64(int, -1, openat, (int folder, const char* path, int flags, mode_t mode),
              (OpenOrCreate(flags), folder, path), (folder, path, flags, mode))
EST_FAULTY_64(int, -1, stat, (const char* path, void* info), ("stat", path), (path, info))
EST_FAULTY_64(int, -1, lstat, (const char* path, void* info), ("lstat", path), (path, info))
EST_FAULTY_64(int, -1, fstat, (int fd, void* info), ("fstat", fd), (fd, info))
EST_FAULTY(ssize_t, -1, read, (int fd, void* buffer, size_t size), ("read", fd), (fd, buffer, size))
EST_FAULTY_64(ssize_t, -1, pread, (int fd, void* buffer, size_t size, off_t offset), ("read", fd),
              (fd, buffer, size, offset))
EST_FAULTY(ssize_t, -1, write, (int fd, const void* buffer, size_t size), ("write", fd),
           (fd, buffer, size))
EST_FAULTY_64(ssize_t, -1, pwrite, (int fd, const void* buffer, size_t size, off_t offset),
              ("write", fd), (fd, buffer, size, offset))
EST_FAULTY_64(void*, reinterpret_cast<void*>(-1), mmap,
              (void* address, size_t size, int protection, int flags, int fd, off_t offset),
              ("mmap", fd), (address, size, protection, flags, fd, offset))
EST_FAULTY(DIR*, nullptr, opendir, (const char* path), ("opendir", path), (path))
EST_FAULTY(DIR*, nullptr, fdopendir, (int fd), ("opendir", fd), (fd))
EST_FAULTY_64(void*, nullptr, readdir, (DIR * folder), ("readdir", ::dirfd(folder)), (folder))
EST_FAULTY(int, -1, flock, (int fd, int operation), ("flock", fd), (fd, operation))
EST_FAULTY(int, -1, fsync, (int fd), ("fsync", fd), (fd))
EST_FAULTY(int, -1, fdatasync, (int fd), ("fsync", fd), (fd))
EST_FAULTY_64(int, -1, ftruncate, (int fd, off_t size), ("ftruncate", fd), (fd, size))
EST_FAULTY(int, -1, rename, (const char* from, const char* to), ("rename", to), (from, to))
EST_FAULTY(int, -1, link, (const char* from, const char* to), ("link", to), (from, to))
EST_FAULTY(int, -1, unlink, (const char* path), ("unlink", path), (path))
EST_FAULTY(int, -1, unlinkat, (int folder, const char* path, int flags), ("unlink", folder, path),
           (folder, path, flags))
EST_FAULTY(int, -1, remove, (const char* path), ("unlink", path), (path))
EST_FAULTY(int, -1, rmdir, (const char* path), ("unlink", path), (path))
EST_FAULTY(int, -1, mkdir, (const char* path, mode_t mode), ("mkdir", path), (path, mode))
EST_FAULTY(char*, nullptr, mkdtemp, (char* path), ("mkdir", path), (path))
// The file is closed in any case, as by the system.
EST_FAULTY(int, real(fd) - 1, close, (int fd), ("close", fd), (fd))
