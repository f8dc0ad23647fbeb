// Reads single files out of a zip archive, which may be a stranger's, into memory.
#ifndef ESTIMATOR_CHECKPOINT_KERAS_ZIP_FILE_H_
#define ESTIMATOR_CHECKPOINT_KERAS_ZIP_FILE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace estimator {

// Returns the names of the files in the archive, in its order.
// Errors: DATA_LOSS if the archive is damaged.
absl::StatusOr<std::vector<std::string>> ListZipFiles(const std::string& archive);

// Returns the contents of the file `name` in the archive, and verifies their crc32. Nothing is
// written to the disk.
// Errors: NOT_FOUND if the archive has no such file; DATA_LOSS if the
// archive or the file is damaged, or has a size that cannot be; RESOURCE_EXHAUSTED if it has more
// than max_bytes or does not fit into memory; UNIMPLEMENTED if it is encrypted or not compressed
// by deflate.
absl::StatusOr<std::string> ReadZipFile(absl::string_view archive, const std::string& name,
                                        int64_t max_bytes = INT64_MAX);

}  // namespace estimator

#endif  // ESTIMATOR_CHECKPOINT_KERAS_ZIP_FILE_H_
