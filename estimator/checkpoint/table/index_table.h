// Reads and writes the sorted table of a checkpoint's .index file, in leveldb's format. leveldb's
// TableBuilder writes it without compression, as TensorFlow does. table_file.h reads it with or
// without compression, because some published checkpoints have snappy blocks.
#ifndef ESTIMATOR_CHECKPOINT_TABLE_INDEX_TABLE_H_
#define ESTIMATOR_CHECKPOINT_TABLE_INDEX_TABLE_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace estimator {

// Writes the file, syncs it and closes it. This is not atomic: the caller writes to a temporary
// name and renames it.
absl::Status WriteIndexTable(absl::string_view path,
                             const std::map<std::string, std::string>& entries);

// Reads all entries, sorted by the bytes of their keys. The checksum of every block is verified.
// Errors: NOT_FOUND if there is no such file; other errors of the file system; DATA_LOSS if the
// table is damaged, with the path, the offset, and the variables whose entries are lost.
absl::StatusOr<std::vector<std::pair<std::string, std::string>>> ReadIndexTable(
    absl::string_view path);

}  // namespace estimator

#endif  // ESTIMATOR_CHECKPOINT_TABLE_INDEX_TABLE_H_
