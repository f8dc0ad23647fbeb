// Reads a CSV file with a header: RFC 4180, with quoted fields, lines that end in LF, CR LF or CR,
// and a byte order mark.
#ifndef TOOLS_TO_TFRECORD_CSV_TABLE_H_
#define TOOLS_TO_TFRECORD_CSV_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace estimator {

struct CsvTable {
  std::string path;
  std::vector<std::string> columns;            // the names in the header
  std::vector<std::vector<std::string>> rows;  // each with one field per column
  std::vector<int64_t> lines;  // the line of the file at which each row begins; 1 is
                               // the first

  // "labels.csv:12", for messages.
  std::string Place(size_t row) const;
  // Errors: NOT_FOUND with the nearest name and all names.
  absl::StatusOr<size_t> Column(const std::string& name) const;
};

// Empty lines are skipped.
// Errors: INVALID_ARGUMENT with the line, for an open quote, text behind a quote, a row of another
// number of fields, two columns of one name, or no header.
absl::StatusOr<CsvTable> ParseCsv(const std::string& path, absl::string_view text);
absl::StatusOr<CsvTable> ReadCsv(const std::string& path);

}  // namespace estimator

#endif  // TOOLS_TO_TFRECORD_CSV_TABLE_H_
