// Verifies the files beside a checkpoint, for `checkpoint verify`.
#ifndef TOOLS_CHECKPOINT_COMPANION_FILES_H_
#define TOOLS_CHECKPOINT_COMPANION_FILES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace estimator {

struct CompanionFilesReport {
  std::vector<std::string> verified;  // paths of files that are not damaged
  std::vector<std::string> damage;    // "<path>: <cause>. <consequence>" of each damaged file
};

// Verifies these files; a missing file is not damage:
//   <prefix>.input  the input position. Its crc32c must match.
//   <prefix>.meta   the graph, TensorFlow's MetaGraphDef. It must have nodes with different names,
//                   and all nodes that its nodes and its saver use. If <prefix>.input has its
//                   checksum, that must match.
// Errors: those of the file system.
absl::StatusOr<CompanionFilesReport> VerifyCompanionFiles(const std::string& prefix);

}  // namespace estimator

#endif  // TOOLS_CHECKPOINT_COMPANION_FILES_H_
