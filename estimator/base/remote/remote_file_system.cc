#include "estimator/base/remote/remote_file_system.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>
#include <fnmatch.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "estimator/base/fault_injection.h"
#include "estimator/base/path.h"
#include "estimator/base/remote/read_ahead.h"
#include "estimator/base/status.h"

namespace estimator {
namespace {

using FileSystems = std::map<std::string, RemoteFileSystem*, std::less<>>;

std::mutex file_systems_mutex;

FileSystems& GetFileSystems() {
  // Guarded by file_systems_mutex. Never deleted: files may be closed while the process ends.
  static auto* const file_systems = new FileSystems;
  return *file_systems;
}

RemoteFileSystem* FindFileSystem(absl::string_view path) {
  const size_t scheme_size = SchemeSize(path);
  if (scheme_size == 0) return nullptr;
  const std::lock_guard<std::mutex> lock(file_systems_mutex);
  const auto found = GetFileSystems().find(path.substr(0, scheme_size));
  return found == GetFileSystems().end() ? nullptr : found->second;
}

absl::Status Ask(FileOperation operation, absl::string_view path) {
  return AskFaultInjector(operation, path).status;
}

// The name that a part of a pattern means; it has no special character.
std::string Unescaped(absl::string_view part) {
  std::string name;
  for (size_t i = 0; i < part.size(); ++i) {
    if (part[i] == '\\' && i + 1 < part.size()) ++i;
    name += part[i];
  }
  return name;
}

bool HasWildcard(absl::string_view part) {
  for (size_t i = 0; i < part.size(); ++i) {
    if (part[i] == '\\') {
      ++i;
    } else if (absl::StrContains("*?[", part.substr(i, 1))) {
      return true;
    }
  }
  return false;
}

// Adds the paths below `directory` that match parts[i], parts[i + 1] and so on.
absl::Status GlobBelow(const std::string& directory, const std::vector<std::string>& parts,
                       size_t i, std::vector<std::string>* paths) {
  const bool is_last = i + 1 == parts.size();
  if (!HasWildcard(parts[i])) {
    const std::string path = JoinPath(directory, Unescaped(parts[i]));
    if (!is_last) return GlobBelow(path, parts, i + 1, paths);
    EST_ASSIGN_OR_RETURN(const RemoteFileInfo info, RemotePath(path).Stat());
    if (info.kind != RemoteFileInfo::Kind::kNone) paths->push_back(path);
    return absl::OkStatus();
  }
  EST_ASSIGN_OR_RETURN(const auto entries, RemotePath(directory).List());
  for (const RemoteFileSystem::Entry& entry : entries) {
    if (::fnmatch(parts[i].c_str(), entry.name.c_str(), FNM_PERIOD) != 0) continue;
    const std::string path = JoinPath(directory, entry.name);
    if (is_last) {
      paths->push_back(path);
    } else if (entry.info.kind == RemoteFileInfo::Kind::kDirectory) {
      EST_RETURN_IF_ERROR(GlobBelow(path, parts, i + 1, paths));
    }
  }
  return absl::OkStatus();
}

}  // namespace

void RegisterRemoteFileSystem(absl::string_view scheme, RemoteFileSystem* file_system) {
  const std::lock_guard<std::mutex> lock(file_systems_mutex);
  GetFileSystems()[std::string(scheme)] = file_system;
}

bool IsRemotePath(StringArg path) { return FindFileSystem(path) != nullptr; }

std::string NoFileSystemFor(absl::string_view path) {
  if (SchemeSize(path) == 0 || FindFileSystem(path) != nullptr) return "";
  std::string known = "a local path";
  const std::lock_guard<std::mutex> lock(file_systems_mutex);
  for (const auto& [scheme, file_system] : GetFileSystems()) {
    if (file_system != nullptr) absl::StrAppend(&known, ", or one of ", scheme, "://");
  }
  return absl::StrCat("; this program has no file system for ", path.substr(0, SchemeSize(path)),
                      "://: mount it, or give ", known);
}

RemotePath::RemotePath(StringArg path) : path_(path), file_system_(FindFileSystem(path)) {
  if (file_system_ == nullptr) return;
  while (absl::EndsWith(path_, "/")) path_.pop_back();
}

absl::StatusOr<RemoteFileInfo> RemotePath::Stat() const {
  EST_RETURN_IF_ERROR(Ask(FileOperation::kStat, path_));
  return file_system_->Stat(path_);
}

absl::StatusOr<RemoteFileInfo> RemotePath::Find() const {
  EST_ASSIGN_OR_RETURN(const RemoteFileInfo info, Stat());
  if (info.kind != RemoteFileInfo::Kind::kNone) return info;
  return NotFound("cannot find ", path_, ": No such file or directory");
}

absl::StatusOr<std::vector<RemoteFileSystem::Entry>> RemotePath::List() const {
  EST_RETURN_IF_ERROR(Ask(FileOperation::kList, path_));
  EST_ASSIGN_OR_RETURN(std::vector<RemoteFileSystem::Entry> entries, file_system_->List(path_));
  std::sort(entries.begin(), entries.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  return entries;
}

absl::StatusOr<std::unique_ptr<RemoteReader>> RemotePath::OpenToRead() const {
  EST_RETURN_IF_ERROR(Ask(FileOperation::kOpen, path_));
  EST_ASSIGN_OR_RETURN(std::unique_ptr<RemoteReader> reader, file_system_->OpenToRead(path_));
  return std::make_unique<ReadAhead>(path_, std::move(reader));
}

absl::StatusOr<std::unique_ptr<RemoteWriter>> RemotePath::OpenToWrite() const {
  return file_system_->OpenToWrite(path_);
}

absl::Status RemotePath::Remove() const {
  EST_RETURN_IF_ERROR(Ask(FileOperation::kRemove, path_));
  return file_system_->Remove(path_);
}

absl::Status RemotePath::RemoveDirectory() const {
  EST_RETURN_IF_ERROR(Ask(FileOperation::kRemove, path_));
  return file_system_->RemoveDirectory(path_);
}

absl::Status RemotePath::CopyTo(const RemotePath& to) const {
  if (file_system_ != to.file_system_) {
    return InvalidArgument("cannot rename ", path_, " to ", to.path_,
                           ": they are on different file systems; copy the file");
  }
  EST_RETURN_IF_ERROR(Ask(FileOperation::kRename, to.path_));
  return file_system_->Copy(path_, to.path_);
}

absl::Status RemotePath::CheckWritable() const {
  EST_ASSIGN_OR_RETURN(const RemoteFileInfo info, Stat());
  if (info.kind == RemoteFileInfo::Kind::kFile) {
    return FailedPrecondition(path_, " is a file, so it is not a directory");
  }
  const RemotePath trial(JoinPath(path_, absl::StrCat(".writable-", ::getpid())));
  EST_ASSIGN_OR_RETURN(const auto writer, trial.OpenToWrite());
  EST_RETURN_IF_ERROR(writer->Commit());
  return trial.Remove();
}

absl::StatusOr<std::vector<std::string>> RemotePath::Glob() const {
  // The bucket is no part of the pattern.
  const size_t bucket_end = path_.find('/', SchemeSize(path_) + 3);
  std::vector<std::string> paths;
  if (bucket_end == std::string::npos) {
    EST_ASSIGN_OR_RETURN(const RemoteFileInfo info, Stat());
    if (info.kind != RemoteFileInfo::Kind::kNone) paths.push_back(path_);
    return paths;
  }
  const std::vector<std::string> parts =
      absl::StrSplit(absl::string_view(path_).substr(bucket_end), '/', absl::SkipEmpty());
  EST_RETURN_IF_ERROR(GlobBelow(path_.substr(0, bucket_end), parts, 0, &paths));
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace estimator
