#include "estimator/remote/arrow_file_system.h"

#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <absl/strings/strip.h>
#include <absl/time/clock.h>
#include <absl/time/time.h>

#include <cstdlib>
#include <utility>

#include "estimator/base/path.h"
#include "estimator/base/status.h"
#include "estimator/remote/arrow_library.h"

namespace estimator {
namespace {

// The first error of a bucket is that of all requests for so long.
constexpr int64_t kRetrySeconds = 60;

class ArrowReader : public RemoteReader {
 public:
  ArrowReader(const EstArrowShim* shim, EstArrowReader* reader, std::string path, int64_t size)
      : shim_(shim), reader_(reader), path_(std::move(path)), size_(size) {}
  ~ArrowReader() override { shim_->CloseReader(reader_); }
  absl::StatusOr<size_t> Read(int64_t offset, size_t n, char* buffer) const override {
    int64_t count = 0;
    EST_RETURN_IF_ERROR(
        FromArrow(*shim_, shim_->Read(reader_, offset, static_cast<int64_t>(n), buffer, &count),
                  "read", path_));
    return static_cast<size_t>(count);
  }
  int64_t size() const override { return size_; }

 private:
  const EstArrowShim* const shim_;
  EstArrowReader* const reader_;
  const std::string path_;
  const int64_t size_;
};

class ArrowWriter : public RemoteWriter {
 public:
  ArrowWriter(const EstArrowShim* shim, EstArrowWriter* writer, std::string path)
      : shim_(shim), writer_(writer), path_(std::move(path)) {}
  ~ArrowWriter() override { shim_->CloseWriter(writer_); }
  absl::Status Write(absl::string_view data) override {
    return FromArrow(*shim_, shim_->Write(writer_, data.data(), static_cast<int64_t>(data.size())),
                     "write", path_);
  }
  absl::Status Commit() override {
    return FromArrow(*shim_, shim_->Commit(writer_), "write", path_);
  }

 private:
  const EstArrowShim* const shim_;
  EstArrowWriter* const writer_;
  const std::string path_;
};

RemoteFileInfo ToInfo(const EstArrowInfo& info) {
  return {.kind = info.kind == EST_ARROW_NONE        ? RemoteFileInfo::Kind::kNone
                  : info.kind == EST_ARROW_DIRECTORY ? RemoteFileInfo::Kind::kDirectory
                                                     : RemoteFileInfo::Kind::kFile,
          .size = info.size,
          .modified_seconds = 1e-9 * static_cast<double>(info.modified_ns)};
}

// The options of a connection, of the form a=b&c=d.
std::string Options(absl::string_view scheme,
                    const std::function<std::string(const char* name)>& variable) {
  const std::string family =
      absl::AsciiStrToUpper(absl::StartsWith(scheme, "abfs") ? "abfs" : scheme);
  std::vector<std::string> options;
  if (std::string more = variable(absl::StrCat("ESTIMATOR_", family, "_OPTIONS").c_str());
      !more.empty()) {
    options.push_back(std::move(more));
  }
  if (scheme == "gs") {
    // Google's library repeats for 15 minutes, also what no credentials allow. Of two values of an
    // option, Arrow takes the first.
    options.push_back("retry_limit_seconds=120");
    const std::string host = variable("STORAGE_EMULATOR_HOST");
    if (!host.empty()) {
      options.push_back(absl::StrCat("scheme=http&endpoint_override=",
                                     absl::StripSuffix(absl::StripPrefix(host, "http://"), "/")));
    }
  }
  return absl::StrJoin(options, "&");
}

}  // namespace

absl::StatusOr<ArrowPath> ParseArrowPath(
    const std::string& path, const std::function<std::string(const char* name)>& variable) {
  const absl::string_view scheme = absl::string_view(path).substr(0, SchemeSize(path));
  absl::string_view rest = absl::string_view(path).substr(scheme.size() + 3);
  const absl::string_view authority = rest.substr(0, rest.find('/'));
  rest.remove_prefix(authority.size());
  const size_t at = authority.find('@');
  const bool has_user = at != absl::string_view::npos;
  // Azure's container comes before its account: abfs://container@account.dfs.core.windows.net/name.
  const bool is_azure = absl::StartsWith(scheme, "abfs");
  const absl::string_view bucket = !has_user  ? authority
                                   : is_azure ? authority.substr(0, at)
                                              : authority.substr(at + 1);
  if (bucket.empty() || (has_user && !is_azure && authority.substr(0, at) != "anonymous")) {
    return InvalidArgument(path, " has no bucket: write ", scheme,
                           is_azure ? "://CONTAINER@ACCOUNT.dfs.core.windows.net/NAME"
                                    : "://BUCKET/NAME, or anonymous@BUCKET for a public bucket");
  }
  const std::string options = Options(scheme, variable);
  // A test server has no credentials, and Arrow would ask Google for some.
  const bool is_emulated =
      scheme == "gs" && !has_user && !variable("STORAGE_EMULATOR_HOST").empty();
  ArrowPath parsed{.uri = absl::StrCat(scheme, "://", is_emulated ? "anonymous@" : "", authority,
                                       is_azure ? "/" : "", options.empty() ? "" : "?", options),
                   .name = absl::StrCat(bucket, rest)};
  // Without a container in the authority, the first part of the path is one.
  if (is_azure && !has_user) parsed.name = std::string(absl::StripPrefix(rest, "/"));
  return parsed;
}

ArrowFileSystem::ArrowFileSystem(std::function<absl::StatusOr<const EstArrowShim*>()> load)
    : load_(std::move(load)) {}

absl::StatusOr<ArrowFileSystem::Target> ArrowFileSystem::Resolve(const std::string& path) {
  const absl::StatusOr<const EstArrowShim*> shim = load_();
  EST_RETURN_IF_ERROR(Annotate(shim.status(), path));
  EST_ASSIGN_OR_RETURN(const ArrowPath parsed, ParseArrowPath(path, [](const char* name) {
                         const char* const value = std::getenv(name);
                         return std::string(value == nullptr ? "" : value);
                       }));
  std::unique_lock<std::mutex> lock(mutex_);
  Bucket& bucket = buckets_[parsed.uri];
  lock.unlock();
  // A bucket that takes minutes to fail keeps only its own requests waiting.
  const std::lock_guard<std::mutex> bucket_lock(bucket.mutex);
  const int64_t now = absl::ToUnixSeconds(absl::Now());
  if (bucket.connected == nullptr && now < bucket.failed_secs + kRetrySeconds) {
    // The error is that of the path that was asked for first.
    return absl::StrContains(bucket.error.message(), path) ? bucket.error
                                                           : Annotate(bucket.error, path);
  }
  if (bucket.connected == nullptr) {
    EstArrowFileSystem* connected = nullptr;
    bucket.error =
        FromArrow(**shim, (*shim)->Connect(parsed.uri.c_str(), &connected), "connect to", path);
    // A request tells whether the store answers. Without credentials it takes minutes to fail, and
    // a program that starts makes many.
    EstArrowInfo info{};
    if (bucket.error.ok()) {
      bucket.error =
          FromArrow(**shim, (*shim)->Stat(connected, parsed.name.c_str(), &info), "find", path);
    }
    if (absl::IsUnavailable(bucket.error) || connected == nullptr ||
        absl::StrContains(bucket.error.message(), "access token")) {
      bucket.failed_secs = absl::ToUnixSeconds(absl::Now());
      return bucket.error;
    }
    bucket.connected = connected;
  }
  return Target{.shim = *shim, .bucket = bucket.connected, .name = parsed.name};
}

absl::StatusOr<RemoteFileInfo> ArrowFileSystem::Stat(const std::string& path) {
  EST_ASSIGN_OR_RETURN(const Target at, Resolve(path));
  EstArrowInfo info{};
  EST_RETURN_IF_ERROR(
      FromArrow(*at.shim, at.shim->Stat(at.bucket, at.name.c_str(), &info), "find", path));
  return ToInfo(info);
}

absl::StatusOr<std::vector<RemoteFileSystem::Entry>> ArrowFileSystem::List(
    const std::string& directory) {
  EST_ASSIGN_OR_RETURN(const Target at, Resolve(directory));
  std::vector<Entry> entries;
  const auto add = [](void* context, const char* name, const EstArrowInfo* info) {
    static_cast<std::vector<Entry>*>(context)->push_back({name, ToInfo(*info)});
  };
  EST_RETURN_IF_ERROR(FromArrow(*at.shim, at.shim->List(at.bucket, at.name.c_str(), add, &entries),
                                "list", directory));
  return entries;
}

absl::StatusOr<std::unique_ptr<RemoteReader>> ArrowFileSystem::OpenToRead(const std::string& path) {
  EST_ASSIGN_OR_RETURN(const Target at, Resolve(path));
  EstArrowReader* reader = nullptr;
  int64_t size = 0;
  EST_RETURN_IF_ERROR(FromArrow(
      *at.shim, at.shim->OpenReader(at.bucket, at.name.c_str(), &reader, &size), "open", path));
  return std::make_unique<ArrowReader>(at.shim, reader, path, size);
}

absl::StatusOr<std::unique_ptr<RemoteWriter>> ArrowFileSystem::OpenToWrite(
    const std::string& path) {
  EST_ASSIGN_OR_RETURN(const Target at, Resolve(path));
  EstArrowWriter* writer = nullptr;
  EST_RETURN_IF_ERROR(
      FromArrow(*at.shim, at.shim->OpenWriter(at.bucket, at.name.c_str(), &writer), "write", path));
  return std::make_unique<ArrowWriter>(at.shim, writer, path);
}

absl::Status ArrowFileSystem::Remove(const std::string& path) {
  EST_ASSIGN_OR_RETURN(const Target at, Resolve(path));
  return FromArrow(*at.shim, at.shim->Remove(at.bucket, at.name.c_str()), "remove", path);
}

absl::Status ArrowFileSystem::RemoveDirectory(const std::string& path) {
  EST_ASSIGN_OR_RETURN(const Target at, Resolve(path));
  // Arrow would remove a bucket, and every file in it.
  if (!absl::StrContains(at.name, "/")) {
    return FailedPrecondition("cannot remove ", path, ": it is a bucket, not a directory in one");
  }
  return FromArrow(*at.shim, at.shim->RemoveDirectory(at.bucket, at.name.c_str()), "remove", path);
}

absl::Status ArrowFileSystem::Copy(const std::string& from, const std::string& to) {
  EST_ASSIGN_OR_RETURN(const Target source, Resolve(from));
  EST_ASSIGN_OR_RETURN(const Target target, Resolve(to));
  if (source.bucket != target.bucket) {
    return InvalidArgument("cannot copy ", from, " to ", to, ": they are in different buckets");
  }
  return FromArrow(*source.shim,
                   source.shim->Copy(source.bucket, source.name.c_str(), target.name.c_str()),
                   absl::StrCat("copy ", from, " to"), to);
}

namespace {

[[maybe_unused]] const bool registered = [] {
  static auto* const file_system = new ArrowFileSystem(LoadArrow);
  for (const char* const scheme : {"gs", "s3", "abfs", "abfss"}) {
    RegisterRemoteFileSystem(scheme, file_system);
  }
  return true;
}();

}  // namespace
}  // namespace estimator
