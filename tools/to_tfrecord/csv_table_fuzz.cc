// Fuzzes the reader of CSV files with a header. The input is the text. What is read is written with
// all fields quoted, and read again.
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "glog/logging.h"
#include "tools/to_tfrecord/csv_table.h"

namespace {

void AppendRow(const std::vector<std::string>& fields, std::string& text) {
  for (size_t i = 0; i < fields.size(); ++i) {
    absl::StrAppend(&text, i == 0 ? "" : ",", "\"",
                    absl::StrReplaceAll(fields[i], {{"\"", "\"\""}}), "\"");
  }
  text += '\n';
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace estimator;
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  const absl::StatusOr<CsvTable> table = ParseCsv("fuzz", text);
  if (!table.ok()) {
    CHECK(absl::IsInvalidArgument(table.status())) << table.status();
    return 0;
  }
  CHECK(!table->columns.empty());
  CHECK_EQ(table->rows.size(), table->lines.size());
  std::string quoted;
  AppendRow(table->columns, quoted);
  for (size_t row = 0; row < table->rows.size(); ++row) {
    CHECK_EQ(table->rows[row].size(), table->columns.size());
    CHECK(row == 0 || table->lines[row] > table->lines[row - 1]);
    AppendRow(table->rows[row], quoted);
  }
  // A row with one empty field is an empty line, which is skipped.
  const absl::StatusOr<CsvTable> again = ParseCsv("again", quoted);
  CHECK(again.ok()) << again.status();
  CHECK(again->columns == table->columns);
  CHECK(again->rows == table->rows);
  return 0;
}
