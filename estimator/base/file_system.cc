#include "estimator/base/file_system.h"

#include <absl/cleanup/cleanup.h>
#include <absl/strings/str_cat.h>
#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include "estimator/base/fault_injection.h"
#include "estimator/base/out_of_resources.h"
#include "estimator/base/path.h"
#include "estimator/base/remote/remote_file_system.h"
#include "estimator/base/status.h"

namespace estimator {
namespace {

absl::Status Error(int number, absl::string_view verb, absl::string_view path) {
  return FileError(number, verb, path);
}

absl::StatusOr<struct stat> Stat(absl::string_view path) {
  struct stat info;
  if (::stat(std::string(path).c_str(), &info) != 0) return Error(errno, "find", path);
  return info;
}

// Whether an error of stat(2) says that there is nothing: no such name, a parent that is a file, or
// a name that no file can have.
bool SaysAbsent(int number) {
  return number == ENOENT || number == ENOTDIR || number == ENAMETOOLONG;
}

// The same for answers on which files depend. Guesses (FileExists) do not ask the injector: a test
// looks at files while its hook stops a writer.
absl::StatusOr<struct stat> StatOrFault(absl::string_view path) {
  EST_RETURN_IF_ERROR(AskFaultInjector(FileOperation::kStat, path).status);
  return Stat(path);
}

using RemoteKind = RemoteFileInfo::Kind;

}  // namespace

absl::StatusOr<bool> Exists(StringArg path) {
  if (const RemotePath remote(path); remote) {
    EST_ASSIGN_OR_RETURN(const RemoteFileInfo info, remote.Stat());
    return info.kind != RemoteKind::kNone;
  }
  errno = 0;
  const absl::Status status = StatOrFault(path).status();
  if (absl::IsNotFound(status) || SaysAbsent(errno)) return false;
  EST_RETURN_IF_ERROR(status);
  return true;
}

absl::StatusOr<bool> DirectoryExists(StringArg path) {
  if (const RemotePath remote(path); remote) {
    EST_ASSIGN_OR_RETURN(const RemoteFileInfo info, remote.Stat());
    return info.kind == RemoteKind::kDirectory;
  }
  errno = 0;
  const auto info = StatOrFault(path);
  if (absl::IsNotFound(info.status()) || SaysAbsent(errno)) return false;
  EST_RETURN_IF_ERROR(info.status());
  return S_ISDIR(info->st_mode);
}

bool FileExists(StringArg path) {
  if (const RemotePath remote(path); remote) return Exists(path).value_or(true);
  errno = 0;
  return Stat(path).ok() || !SaysAbsent(errno);
}

bool IsDirectory(StringArg path) {
  if (const RemotePath remote(path); remote) return DirectoryExists(path).value_or(false);
  const auto info = Stat(path);
  return info.ok() && S_ISDIR(info->st_mode);
}

absl::StatusOr<int64_t> FileSize(StringArg path) {
  if (const RemotePath remote(path); remote) {
    EST_ASSIGN_OR_RETURN(const RemoteFileInfo info, remote.Find());
    return info.size;
  }
  EST_ASSIGN_OR_RETURN(const struct stat info, StatOrFault(path));
  return info.st_size;
}

std::vector<std::optional<int64_t>> FileSizes(const std::vector<std::string>& paths) {
  using Sizes = std::map<std::string, int64_t>;         // by name
  std::map<std::string, absl::StatusOr<Sizes>> listed;  // by directory
  std::vector<std::optional<int64_t>> sizes;
  for (const std::string& path : paths) {
    const std::string directory(Dirname(path));
    const RemotePath remote(directory);
    // One file is asked for by its name: its directory may have a million others.
    if (!remote || paths.size() == 1) {
      sizes.push_back(FileExists(path) ? std::optional(FileSize(path).value_or(0)) : std::nullopt);
      continue;
    }
    const auto [found, is_new] = listed.try_emplace(directory, Sizes());
    if (is_new) {
      const auto entries = remote.List();
      if (!entries.ok()) found->second = entries.status();
      for (const auto& entry : entries.ok() ? *entries : std::vector<RemoteFileSystem::Entry>()) {
        (*found->second)[entry.name] = entry.info.size;
      }
    }
    if (!found->second.ok()) {
      sizes.emplace_back(0);
      continue;
    }
    const auto size = found->second->find(std::string(Basename(path)));
    sizes.push_back(size == found->second->end() ? std::nullopt : std::optional(size->second));
  }
  return sizes;
}

bool IsSameFile(StringArg a, StringArg b) {
  const RemotePath remote_a(a), remote_b(b);
  if (remote_a || remote_b) return remote_a.path() == remote_b.path();
  std::error_code error;
  return std::filesystem::equivalent(std::string(a), std::string(b), error) && !error;
}

bool IsSymbolicLink(StringArg path) {
  std::error_code error;
  return !IsRemotePath(path) && std::filesystem::is_symlink(std::string(path), error);
}

absl::StatusOr<double> FileModifiedTimeSeconds(StringArg path) {
  if (const RemotePath remote(path); remote) {
    EST_ASSIGN_OR_RETURN(const RemoteFileInfo info, remote.Find());
    return info.modified_seconds;
  }
  EST_ASSIGN_OR_RETURN(const struct stat info, StatOrFault(path));
  return static_cast<double>(info.st_mtim.tv_sec) +
         1e-9 * static_cast<double>(info.st_mtim.tv_nsec);
}

namespace {

// Refuses URLs. Without this check "gs://bucket/run" would create a local directory "gs:".
absl::Status CheckLocal(absl::string_view path) {
  const std::string problem = NoFileSystemFor(path);
  if (problem.empty()) return absl::OkStatus();
  return InvalidArgument(path, " is not a local path", problem);
}

// Refuses a path through a link to nothing: the name is taken, so no directory can be created
// there, and the system would only say that it exists.
absl::Status CheckNoDanglingLink(absl::string_view path) {
  for (absl::string_view part = path; !part.empty(); part = Dirname(part)) {
    const std::string name(part);
    struct stat info;
    if (::lstat(name.c_str(), &info) != 0) continue;
    std::error_code error;
    if (!S_ISLNK(info.st_mode) || ::stat(name.c_str(), &info) == 0 || errno != ENOENT) break;
    return FailedPrecondition(part, " is a link to ",
                              std::filesystem::read_symlink(name, error).string(),
                              ", which does not exist; create that directory, or remove the link");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CreateDirectories(StringArg path) {
  if (IsRemotePath(path)) return absl::OkStatus();
  EST_RETURN_IF_ERROR(CheckLocal(path));
  EST_RETURN_IF_ERROR(AskFaultInjector(FileOperation::kOpen, path).status);
  std::error_code error;
  std::filesystem::create_directories(std::string(path), error);
  if (error == std::errc::file_exists) EST_RETURN_IF_ERROR(CheckNoDanglingLink(path));
  if (error) return Error(error.value(), "create directory", path);
  return absl::OkStatus();
}

absl::Status CheckWritableDirectory(StringArg path) {
  if (const RemotePath remote(path); remote) return remote.CheckWritable();
  EST_RETURN_IF_ERROR(CheckLocal(path));
  EST_RETURN_IF_ERROR(CheckNoDanglingLink(path));
  std::string nearest(path.empty() ? "." : path);  // path, or its nearest parent that exists
  while (true) {
    EST_ASSIGN_OR_RETURN(const bool exists, Exists(nearest));
    if (exists) break;
    const absl::string_view above = Dirname(nearest);
    nearest = std::string(above.empty() ? "." : above);
  }
  EST_ASSIGN_OR_RETURN(const bool is_directory, DirectoryExists(nearest));
  if (!is_directory) {
    return FailedPrecondition(nearest, " is a file, so ",
                              nearest == path
                                  ? "it is not a directory"
                                  : absl::StrCat("the directory ", path, " cannot be created"));
  }
  // Creating a directory is the only sure test: for root, access(2) reports /proc and read-only
  // places as writable.
  std::string trial = JoinPath(nearest, ".writable-XXXXXX");
  if (::mkdtemp(trial.data()) == nullptr) {
    return absl::ErrnoToStatus(errno == ENOENT ? EACCES : errno,
                               absl::StrCat("cannot write to the directory ", nearest));
  }
  ::rmdir(trial.c_str());
  return absl::OkStatus();
}

absl::Status RenameFile(StringArg from, StringArg to) {
  const RemotePath remote_from(from), remote_to(to);
  if (remote_from || remote_to) {
    if (from == to) return absl::OkStatus();
    EST_RETURN_IF_ERROR(remote_from.CopyTo(remote_to));
    return remote_from.Remove();
  }
  EST_RETURN_IF_ERROR(AskFaultInjector(FileOperation::kRename, to).status);
  if (::rename(std::string(from).c_str(), std::string(to).c_str()) != 0) {
    return Error(errno, absl::StrCat("rename ", from, " to"), to);
  }
  return absl::OkStatus();
}

absl::Status LinkFile(StringArg from, StringArg to) {
  const RemotePath remote_from(from), remote_to(to);
  if (remote_from || remote_to) {
    EST_ASSIGN_OR_RETURN(const bool exists, Exists(to));
    if (exists) return absl::AlreadyExistsError(absl::StrCat(to, " exists"));
    return remote_from.CopyTo(remote_to);
  }
  EST_RETURN_IF_ERROR(AskFaultInjector(FileOperation::kRename, to).status);
  if (::link(std::string(from).c_str(), std::string(to).c_str()) != 0) {
    return Error(errno, absl::StrCat("link ", from, " to"), to);
  }
  return absl::OkStatus();
}

absl::Status SyncDirectory(StringArg path) {
  if (IsRemotePath(path)) return absl::OkStatus();
  EST_RETURN_IF_ERROR(AskFaultInjector(FileOperation::kSync, path).status);
  const std::string name = path.empty() ? "." : std::string(path);
  const int fd = ::open(name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return Error(errno, "open directory", name);
  const absl::Cleanup close = [fd] { ::close(fd); };
  // EINVAL means that the file system cannot sync directories, and does not need it.
  if (::fsync(fd) != 0 && errno != EINVAL) return Error(errno, "sync directory", name);
  return absl::OkStatus();
}

absl::Status RemoveFile(StringArg path) {
  if (const RemotePath remote(path); remote) return remote.Remove();
  EST_RETURN_IF_ERROR(AskFaultInjector(FileOperation::kRemove, path).status);
  if (::unlink(std::string(path).c_str()) != 0) return Error(errno, "remove", path);
  return absl::OkStatus();
}

absl::Status RemoveDirectoryRecursively(StringArg path) {
  if (const RemotePath remote(path); remote) return remote.RemoveDirectory();
  EST_RETURN_IF_ERROR(AskFaultInjector(FileOperation::kRemove, path).status);
  std::error_code error;
  std::filesystem::remove_all(std::string(path), error);
  if (error) return Error(error.value(), "remove directory", path);
  return absl::OkStatus();
}

StatusOrRange<std::vector<std::string>> ListDirectory(StringArg path) {
  std::vector<std::string> names;
  if (const RemotePath remote(path); remote) {
    EST_ASSIGN_OR_RETURN(const auto entries, remote.List());
    for (const RemoteFileSystem::Entry& entry : entries) names.push_back(entry.name);
    return names;
  }
  EST_RETURN_IF_ERROR(AskFaultInjector(FileOperation::kList, path).status);
  std::error_code error;
  std::filesystem::directory_iterator entry(std::string(path), error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    names.push_back(entry->path().filename().string());
  }
  if (error) return Error(error.value(), "list directory", path);
  std::sort(names.begin(), names.end());
  return names;
}

namespace {

// The first error of the functions below in a call of Glob, but for those that say that there is
// nothing to read. Left to itself, glob(3) takes a folder that fails halfway for a shorter one.
thread_local int glob_error = 0;

void KeepGlobError() {
  if (glob_error == 0 && !SaysAbsent(errno) && errno != EACCES && errno != ELOOP) {
    glob_error = errno;
  }
}

void* OpenForGlob(const char* path) {
  DIR* const directory = ::opendir(path);
  if (directory == nullptr) KeepGlobError();
  return directory;
}

struct dirent* ReadForGlob(void* directory) {
  errno = 0;
  struct dirent* const entry = ::readdir(static_cast<DIR*>(directory));
  if (entry == nullptr) KeepGlobError();
  return entry;
}

template <int (*kStat)(const char*, struct stat*)>
int StatForGlob(const char* path, struct stat* info) {
  const int result = kStat(path, info);
  if (result != 0) KeepGlobError();
  return result;
}

}  // namespace

StatusOrRange<std::vector<std::string>> Glob(StringArg pattern) {
  if (const RemotePath remote(pattern); remote) {
    EST_ASSIGN_OR_RETURN(std::vector<std::string> paths, remote.Glob());
    return paths;
  }
  EST_RETURN_IF_ERROR(CheckLocal(pattern));
  glob_t matches = {};
  matches.gl_opendir = OpenForGlob;
  matches.gl_readdir = ReadForGlob;
  matches.gl_closedir = [](void* directory) { ::closedir(static_cast<DIR*>(directory)); };
  matches.gl_stat = StatForGlob<::stat>;
  matches.gl_lstat = StatForGlob<::lstat>;
  glob_error = 0;
  const absl::Cleanup free = [&matches] { ::globfree(&matches); };
  const int code =
      ::glob(std::string(pattern).c_str(), GLOB_NOSORT | GLOB_ALTDIRFUNC, nullptr, &matches);
  if (glob_error != 0) return Error(glob_error, "match pattern", pattern);
  if (code != 0 && code != GLOB_NOMATCH) return Error(errno, "match pattern", pattern);
  std::vector<std::string> paths(matches.gl_pathv, matches.gl_pathv + matches.gl_pathc);
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::string EscapeGlob(absl::string_view path) {
  std::string escaped;
  for (const char c : path) {
    if (absl::string_view("*?[]\\").find(c) != absl::string_view::npos) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

}  // namespace estimator
