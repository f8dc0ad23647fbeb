// `tfrecord split` and `merge`: they copy records into other files.
#ifndef TOOLS_TFRECORD_REWRITE_H_
#define TOOLS_TFRECORD_REWRITE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "estimator/records/compression.h"
#include "tools/tfrecord/record_files.h"

namespace estimator {

// The name of a shard: "train-00000-of-00012", or with its number of records and a suffix
// "train-00000-of-00012-1024.tfrec".
//   count: -1 leaves the number of records out.
std::string ShardPath(const std::string& prefix, int64_t shard, int64_t num_shards, int64_t count,
                      const std::string& suffix);

// Errors: ALREADY_EXISTS if there is a file and `force` is false.
absl::Status CheckAbsent(const std::string& path, bool force);

struct RewriteOptions {
  InputCompression input = InputCompression::kAuto;
  Compression output = Compression::kNone;
  bool force = false;  // replace existing files
};

struct SplitOptions {
  RewriteOptions rewrite = {};
  int64_t num_shards = 0;             // 0: as many as shard_bytes needs
  int64_t shard_bytes = 100'000'000;  // of uncompressed records
  bool counts_in_names = false;
  std::string suffix = "";
};

// Copies the records, in order, into shards of nearly equal numbers of records. Returns a line for
// users. Errors: ALREADY_EXISTS if a shard exists; INVALID_ARGUMENT for fewer records than shards.
absl::StatusOr<std::string> SplitRecordFiles(const std::vector<std::string>& files,
                                             const std::string& prefix,
                                             const SplitOptions& options);

// Copies the records of all files, in order, into one file. Returns a line for users.
// Errors: ALREADY_EXISTS if the output exists; INVALID_ARGUMENT if it is one of the files.
absl::StatusOr<std::string> MergeRecordFiles(const std::vector<std::string>& files,
                                             const std::string& output,
                                             const RewriteOptions& options);

}  // namespace estimator

#endif  // TOOLS_TFRECORD_REWRITE_H_
