// The lines of a file, or the records of a CSV file, whose quoted fields may have several lines.
#ifndef ESTIMATOR_DATA_SOURCES_LINE_SOURCE_H_
#define ESTIMATOR_DATA_SOURCES_LINE_SOURCE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "estimator/data/parsing/csv_field.h"
#include "estimator/data/sources/file_records.h"
#include "estimator/records/compression.h"

namespace estimator {

struct LineSourceOptions {
  Compression compression = Compression::kNone;
  int64_t buffer_size_bytes = 256 << 10;
  // Whether the lines are records of CSV (csv_field.h). A newline between quotes (") then does not
  // end a line, "\r" does, and a byte order mark at the beginning of the file is dropped.
  std::optional<CsvFormat> csv = std::nullopt;
  bool skip_header = false;  // skips the first line, which is not counted
};

// Lines end in "\n" or "\r\n", which they do not contain; the last one may end with the file.
// Errors (of Next): DATA_LOSS for a line of more than 64 MiB, so that neither a quote that is never
// closed nor a device without end fills the memory.
absl::StatusOr<std::unique_ptr<RecordSource>> OpenLines(const std::string& path,
                                                        const LineSourceOptions& options);

}  // namespace estimator

#endif  // ESTIMATOR_DATA_SOURCES_LINE_SOURCE_H_
