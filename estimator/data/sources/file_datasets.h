// Datasets of files: TFRecord, text lines, records of fixed length, and lists of files.
// Elements are string scalars named "". A file is opened when it is reached. MakeIterator reports
// all missing files at once.
#ifndef ESTIMATOR_DATA_SOURCES_FILE_DATASETS_H_
#define ESTIMATOR_DATA_SOURCES_FILE_DATASETS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "estimator/base/status_or_range.h"
#include "estimator/base/string_arg.h"
#include "estimator/data/pipeline/dataset.h"
#include "estimator/records/compression.h"

namespace estimator {

struct FileDatasetOptions {
  Compression compression = Compression::kNone;
};

// The records of the files in order. State: file, byte offset, record. To restore it, a file that
// is not compressed seeks.
// Errors (of Next): DATA_LOSS with the file, the record and its byte offset.
Dataset TFRecordDataset(std::vector<std::string> files, FileDatasetOptions options = {});

// The lines of the files in order, without their "\n" or "\r\n".
Dataset TextLineDataset(std::vector<std::string> files, FileDatasetOptions options = {});

struct FixedLengthRecordOptions {
  int64_t header_bytes = 0;                      // skipped at the beginning of every file
  int64_t footer_bytes = 0;                      // skipped at the end of every file
  Compression compression = Compression::kNone;  // a compressed file is read into memory
};

// The records of the files in order. The dataset is indexed.
// Errors (of MakeIterator): DATA_LOSS if the size of a file, without header and footer, is not a
// multiple of record_bytes.
Dataset FixedLengthRecordDataset(std::vector<std::string> files, int64_t record_bytes,
                                 FixedLengthRecordOptions options = {});

// The paths that match a shell pattern (* ? [abc]), sorted by bytes. Errors: NOT_FOUND if none do.
StatusOrRange<std::vector<std::string>> MatchFiles(StringArg pattern);

struct ListFilesOptions {
  bool shuffle = false;  // TensorFlow's default is true; here nothing is random by default
  std::optional<int64_t> seed;
};
// The same paths as a dataset. It is indexed.
Dataset ListFiles(StringArg pattern, ListFilesOptions options = {});

}  // namespace estimator

#endif  // ESTIMATOR_DATA_SOURCES_FILE_DATASETS_H_
