// What stands beside a checkpoint, for `checkpoint verify`.
#ifndef TOOLS_CHECKPOINT_COMPANION_FILES_H_
#define TOOLS_CHECKPOINT_COMPANION_FILES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace estimator {

struct CompanionFilesReport {
  std::vector<std::string> verified;  // paths of those that are whole
  std::vector<std::string> damage;    // "<path>: <cause>. <what is lost>", for each that is not
};

// Holds <prefix>.input, the position of the input, against its crc32c, and parses <prefix>.meta,
// the graph (TensorFlow's MetaGraphDef, which has no checksum): it has nodes, no two of one name,
// and what nodes and saver read is there. Files that are not there are no damage.
// Errors: of the file system.
absl::StatusOr<CompanionFilesReport> VerifyCompanionFiles(const std::string& prefix);

}  // namespace estimator

#endif  // TOOLS_CHECKPOINT_COMPANION_FILES_H_
