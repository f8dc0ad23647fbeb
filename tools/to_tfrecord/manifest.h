// The manifest of a conversion: which shards are finished, of which inputs and with which settings.
// It lets the same command continue after a stop. A text file with fields between tabs:
//   manifest  1
//   setting   NAME  VALUE
//   shard     NUMBER  RECORDS  BYTES  INPUTS  NAME OF THE FILE
//   unused    NUMBER OF THE SHARD  PATH  REASON
// Texts have C escapes. On disk: do not change.
#ifndef TOOLS_TO_TFRECORD_MANIFEST_H_
#define TOOLS_TO_TFRECORD_MANIFEST_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace estimator {

struct UnusedFile {
  std::string path;
  std::string reason;
};

struct FinishedShard {
  std::string file = "";  // its name, without the directory
  int64_t records = 0;
  int64_t bytes = 0;    // the size of the file
  uint64_t inputs = 0;  // a hash of the inputs of the shard
  std::vector<UnusedFile> unused = {};
};

struct Manifest {
  std::map<std::string, std::string> settings = {};
  std::map<int64_t, FinishedShard> shards = {};  // by number
};

std::string EncodeManifest(const Manifest& manifest);
// Errors: DATA_LOSS naming the line, if the text is not a manifest or of another version.
absl::StatusOr<Manifest> DecodeManifest(absl::string_view text);

// Compares the settings of an earlier run with those of this one.
// Errors: FAILED_PRECONDITION listing all differences with both values.
absl::Status CheckSameSettings(const std::map<std::string, std::string>& earlier,
                               const std::map<std::string, std::string>& now);

}  // namespace estimator

#endif  // TOOLS_TO_TFRECORD_MANIFEST_H_
