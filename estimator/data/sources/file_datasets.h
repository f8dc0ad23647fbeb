// Datasets of files: TFRecord, text lines, records of fixed length, and lists of files.
// Elements are string scalars named "". A file is opened when it is reached. MakeIterator reports
// all missing files at once.
#ifndef ESTIMATOR_DATA_SOURCES_FILE_DATASETS_H_
#define ESTIMATOR_DATA_SOURCES_FILE_DATASETS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "estimator/base/status_or_range.h"
#include "estimator/base/string_arg.h"
#include "estimator/data/pipeline/dataset.h"
#include "estimator/records/compression.h"

namespace estimator {

struct TFRecordDatasetOptions {
  Compression compression = Compression::kNone;
  // The number of bytes of a file that are read at once.
  int64_t buffer_size_bytes = 256 << 10;
  // The number of files that are read at the same time, each by a thread. Their records alternate,
  // as from an Interleave with this cycle_length, so the order does not depend on the threads. With
  // 1 the files are read one after another, in the caller's thread. With `indexed`, the order is
  // always that of the files, and this is the number of threads that read a batch.
  int num_parallel_reads = 1;
  // Makes the dataset indexed: its cardinality is known, Skip, Shard and a resume cost nothing, and
  // Shuffle(n) is a random permutation of all records if n is at least their number. The index is
  // made by one scan of the files and cached beside each as ".<name>.index". Files must not be
  // compressed. Records are read in the order that a Shuffle gives, so this is for local disks.
  bool indexed = false;
};

// The records of the files in order.
//   files: paths or shell patterns (* ? [abc]). The files of a pattern are sorted by bytes.
// State: file, byte offset, record. A restore seeks to the record in O(1); a compressed file is
// decompressed up to there. It fails if the file at that place of the list has another name now.
// Errors (of MakeIterator): NOT_FOUND for missing files and patterns that no file matches.
// Errors (of Next): DATA_LOSS with the file, the record and its byte offset. Dataset::IgnoreErrors
// skips such records.
// Source: TF 2.15 tf.data.TFRecordDataset.
Dataset TFRecordDataset(std::vector<std::string> files, TFRecordDatasetOptions options = {});

struct FileDatasetOptions {
  Compression compression = Compression::kNone;
  int64_t buffer_size_bytes = 256 << 10;  // the number of bytes of a file that are read at once
};

// The lines of the files in order, without their "\n" or "\r\n".
//   files: as those of TFRecordDataset.
// Source: TF 2.15 tf.data.TextLineDataset.
Dataset TextLineDataset(std::vector<std::string> files, FileDatasetOptions options = {});

struct FixedLengthRecordOptions {
  int64_t header_bytes = 0;                      // skipped at the beginning of every file
  int64_t footer_bytes = 0;                      // skipped at the end of every file
  Compression compression = Compression::kNone;  // a compressed file is read into memory
};

// The records of the files in order. The dataset is indexed.
// Errors (of MakeIterator): DATA_LOSS if the size of a file, without header and footer, is not a
// multiple of record_bytes; RESOURCE_EXHAUSTED if a compressed file does not fit into memory.
Dataset FixedLengthRecordDataset(std::vector<std::string> files, int64_t record_bytes,
                                 FixedLengthRecordOptions options = {});

// The paths that match a shell pattern (* ? [abc]), sorted by bytes. Errors: NOT_FOUND if none do.
StatusOrRange<std::vector<std::string>> MatchFiles(StringArg pattern);
// The paths of several patterns. A path of a file is itself, whatever characters it has.
// Errors: NOT_FOUND with all patterns that match no file. A path without * ? [ is not looked up.
StatusOrRange<std::vector<std::string>> MatchFiles(const std::vector<std::string>& patterns);

struct ListFilesOptions {
  bool shuffle = false;  // TensorFlow's default is true; here nothing is random by default
  std::optional<int64_t> seed;
};
// The same paths as a dataset. It is indexed.
Dataset ListFiles(StringArg pattern, ListFilesOptions options = {});

}  // namespace estimator

#endif  // ESTIMATOR_DATA_SOURCES_FILE_DATASETS_H_
