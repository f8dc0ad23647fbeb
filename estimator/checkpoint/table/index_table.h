// The sorted table of a checkpoint's .index file, in leveldb's format: written by leveldb's own
// TableBuilder, without compression, as TensorFlow writes it; read by table_file.h with or without
// (some published checkpoints have snappy blocks).
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

// Writes path, syncs and closes it; not atomic: the caller renames.
absl::Status WriteIndexTable(absl::string_view path,
                             const std::map<std::string, std::string>& entries);

// All entries in the order of their keys (bytes). Every block's checksum is verified.
// Errors: NOT_FOUND if there is no such file; others of the file system; DATA_LOSS if it is not
// such a table, with the path, the offset, and the variables whose entries are lost.
absl::StatusOr<std::vector<std::pair<std::string, std::string>>> ReadIndexTable(
    absl::string_view path);

}  // namespace estimator

#endif  // ESTIMATOR_CHECKPOINT_TABLE_INDEX_TABLE_H_
