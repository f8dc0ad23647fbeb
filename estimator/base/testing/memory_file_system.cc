#include "estimator/base/testing/memory_file_system.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/time/clock.h>
#include <absl/time/time.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

#include "estimator/base/status.h"

namespace estimator {
namespace {

constexpr char kScheme[] = "mem";

absl::Status NoFile(absl::string_view verb, absl::string_view path) {
  return NotFound("cannot ", verb, " ", path, ": No such file or directory");
}

}  // namespace

class MemoryFileSystem::Reader : public RemoteReader {
 public:
  Reader(MemoryFileSystem* files, std::string path, std::shared_ptr<const std::string> contents)
      : files_(files), path_(std::move(path)), contents_(std::move(contents)) {}
  absl::StatusOr<size_t> Read(int64_t offset, size_t n, char* buffer) const override {
    EST_RETURN_IF_ERROR(files_->Ask("read", path_));
    if (offset >= size()) return 0;
    const size_t count = std::min(n, contents_->size() - static_cast<size_t>(offset));
    std::memcpy(buffer, contents_->data() + offset, count);
    files_->bytes_read_ += static_cast<int64_t>(count);
    return count;
  }
  int64_t size() const override { return static_cast<int64_t>(contents_->size()); }

 private:
  MemoryFileSystem* const files_;
  const std::string path_;
  const std::shared_ptr<const std::string> contents_;
};

class MemoryFileSystem::Writer : public RemoteWriter {
 public:
  Writer(MemoryFileSystem* files, std::string path) : files_(files), path_(std::move(path)) {}
  absl::Status Write(absl::string_view data) override {
    EST_RETURN_IF_ERROR(files_->Ask("write", path_));
    contents_.append(data.data(), data.size());
    return absl::OkStatus();
  }
  absl::Status Commit() override {
    EST_RETURN_IF_ERROR(files_->Ask("commit", path_));
    files_->Put(path_, std::make_shared<const std::string>(std::move(contents_)));
    return absl::OkStatus();
  }

 private:
  MemoryFileSystem* const files_;
  const std::string path_;
  std::string contents_;
};

MemoryFileSystem::MemoryFileSystem() { RegisterRemoteFileSystem(kScheme, this); }

MemoryFileSystem::~MemoryFileSystem() { RegisterRemoteFileSystem(kScheme, nullptr); }

void MemoryFileSystem::OnRequest(Request hook) {
  const std::lock_guard<std::mutex> lock(mutex_);
  hook_ = std::move(hook);
}

int64_t MemoryFileSystem::num_requests(absl::string_view request) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  int64_t count = 0;
  for (const auto& [name, number] : num_requests_) {
    if (request.empty() || name == request) count += number;
  }
  return count;
}

std::map<std::string, std::string> MemoryFileSystem::Files() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::map<std::string, std::string> files;
  for (const auto& [path, file] : files_) files[path] = *file.contents;
  return files;
}

absl::Status MemoryFileSystem::Ask(absl::string_view request, absl::string_view path) {
  Request hook;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++num_requests_[std::string(request)];
    hook = hook_;
  }
  return hook ? hook(request, path) : absl::OkStatus();
}

void MemoryFileSystem::Put(const std::string& path, std::shared_ptr<const std::string> contents) {
  const std::lock_guard<std::mutex> lock(mutex_);
  files_[path] = {.contents = std::move(contents),
                  .modified_seconds = absl::ToDoubleSeconds(absl::Now() - absl::UnixEpoch())};
}

absl::StatusOr<RemoteFileInfo> MemoryFileSystem::Stat(const std::string& path) {
  EST_RETURN_IF_ERROR(Ask("stat", path));
  const std::lock_guard<std::mutex> lock(mutex_);
  if (const auto found = files_.find(path); found != files_.end()) {
    return RemoteFileInfo{.kind = RemoteFileInfo::Kind::kFile,
                          .size = static_cast<int64_t>(found->second.contents->size()),
                          .modified_seconds = found->second.modified_seconds};
  }
  const std::string below = absl::StrCat(path, "/");
  const auto first = files_.lower_bound(below);
  if (first == files_.end() || !absl::StartsWith(first->first, below)) return RemoteFileInfo{};
  return RemoteFileInfo{.kind = RemoteFileInfo::Kind::kDirectory};
}

absl::StatusOr<std::vector<RemoteFileSystem::Entry>> MemoryFileSystem::List(
    const std::string& directory) {
  EST_RETURN_IF_ERROR(Ask("list", directory));
  const std::lock_guard<std::mutex> lock(mutex_);
  const std::string below = absl::StrCat(directory, "/");
  std::set<std::string> directories;
  std::vector<Entry> entries;
  for (const auto& [path, file] : files_) {
    if (!absl::StartsWith(path, below)) continue;
    const std::string rest = path.substr(below.size());
    if (const size_t slash = rest.find('/'); slash != std::string::npos) {
      directories.insert(rest.substr(0, slash));
    } else {
      entries.push_back({rest,
                         {.kind = RemoteFileInfo::Kind::kFile,
                          .size = static_cast<int64_t>(file.contents->size()),
                          .modified_seconds = file.modified_seconds}});
    }
  }
  for (const std::string& name : directories) {
    entries.push_back({name, {.kind = RemoteFileInfo::Kind::kDirectory}});
  }
  return entries;
}

absl::StatusOr<std::unique_ptr<RemoteReader>> MemoryFileSystem::OpenToRead(
    const std::string& path) {
  EST_RETURN_IF_ERROR(Ask("stat", path));
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = files_.find(path);
  if (found == files_.end()) return NoFile("open", path);
  return std::make_unique<Reader>(this, path, found->second.contents);
}

absl::StatusOr<std::unique_ptr<RemoteWriter>> MemoryFileSystem::OpenToWrite(
    const std::string& path) {
  return std::make_unique<Writer>(this, path);
}

absl::Status MemoryFileSystem::Remove(const std::string& path) {
  EST_RETURN_IF_ERROR(Ask("remove", path));
  const std::lock_guard<std::mutex> lock(mutex_);
  return files_.erase(path) == 1 ? absl::OkStatus() : NoFile("remove", path);
}

absl::Status MemoryFileSystem::RemoveDirectory(const std::string& path) {
  EST_RETURN_IF_ERROR(Ask("remove", path));
  const std::lock_guard<std::mutex> lock(mutex_);
  std::erase_if(files_, [below = absl::StrCat(path, "/")](const auto& file) {
    return absl::StartsWith(file.first, below);
  });
  return absl::OkStatus();
}

absl::Status MemoryFileSystem::Copy(const std::string& from, const std::string& to) {
  EST_RETURN_IF_ERROR(Ask("copy", from));
  std::shared_ptr<const std::string> contents;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = files_.find(from);
    if (found == files_.end()) return NoFile("copy", from);
    contents = found->second.contents;
  }
  Put(to, std::move(contents));
  return absl::OkStatus();
}

}  // namespace estimator
