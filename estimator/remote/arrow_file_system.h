// Files of object stores, through Apache Arrow: gs:// (Google), s3:// (Amazon, and others with its
// protocol), abfs:// and abfss:// (Azure). Linked into a program, it registers these schemes
// (RegisterRemoteFileSystem); Arrow is loaded at the first use of such a path.
#ifndef ESTIMATOR_REMOTE_ARROW_FILE_SYSTEM_H_
#define ESTIMATOR_REMOTE_ARROW_FILE_SYSTEM_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "estimator/base/remote/remote_file_system.h"
#include "estimator/remote/shim/arrow_shim.h"

namespace estimator {

// What a path is to Arrow.
struct ArrowPath {
  std::string uri;   // of the bucket, with the options of the environment: what Connect takes
  std::string name;  // "bucket/name"
};

// "gs://bucket/a" is {"gs://bucket?OPTIONS", "bucket/a"}. OPTIONS are Arrow's parameters of a URI,
// from ESTIMATOR_GS_OPTIONS, ESTIMATOR_S3_OPTIONS or ESTIMATOR_ABFS_OPTIONS, and for gs:// from
// STORAGE_EMULATOR_HOST, the address of a test server. "anonymous@bucket" needs no credentials.
// Errors: INVALID_ARGUMENT if there is no bucket.
//   variable: gives the value of an environment variable, "" if it is not set.
absl::StatusOr<ArrowPath> ParseArrowPath(
    const std::string& path, const std::function<std::string(const char* name)>& variable);

class ArrowFileSystem : public RemoteFileSystem {
 public:
  // load: LoadArrow, or one of a test.
  explicit ArrowFileSystem(std::function<absl::StatusOr<const EstArrowShim*>()> load);

  absl::StatusOr<RemoteFileInfo> Stat(const std::string& path) override;
  absl::StatusOr<std::vector<Entry>> List(const std::string& directory) override;
  absl::StatusOr<std::unique_ptr<RemoteReader>> OpenToRead(const std::string& path) override;
  absl::StatusOr<std::unique_ptr<RemoteWriter>> OpenToWrite(const std::string& path) override;
  absl::Status Remove(const std::string& path) override;
  absl::Status RemoveDirectory(const std::string& path) override;
  absl::Status Copy(const std::string& from, const std::string& to) override;

 private:
  // A path of a connected bucket.
  struct Target {
    const EstArrowShim* shim = nullptr;
    EstArrowFileSystem* bucket = nullptr;
    std::string name;
  };
  absl::StatusOr<Target> Resolve(const std::string& path);

  const std::function<absl::StatusOr<const EstArrowShim*>()> load_;
  struct Bucket {
    std::mutex mutex;  // guards the members, also while another thread connects
    EstArrowFileSystem* connected = nullptr;
    absl::Status error;       // of the last attempt
    int64_t failed_secs = 0;  // since 1970
  };
  std::mutex mutex_;
  std::map<std::string, Bucket> buckets_;  // by URI; which there are is guarded by mutex_
};

}  // namespace estimator

#endif  // ESTIMATOR_REMOTE_ARROW_FILE_SYSTEM_H_
