#include "tools/to_tfrecord/csv_table.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "estimator/base/file.h"
#include "estimator/base/status.h"
#include "estimator/base/strings.h"
#include "estimator/data/parsing/csv_field.h"

namespace estimator {
namespace {

int64_t CountLines(absl::string_view text) {
  int64_t count = std::count(text.begin(), text.end(), '\n');
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\r' && text.substr(i + 1, 1) != "\n") ++count;
  }
  return count;
}

// Takes the first row from `text`. Moves `line`, which is that of the row, behind it.
absl::StatusOr<std::vector<std::string>> TakeRow(absl::string_view* text, int64_t* line) {
  std::vector<std::string> fields;
  CsvEnd end = CsvEnd::kDelimiter;
  while (end == CsvEnd::kDelimiter) {
    const absl::string_view before = *text;
    fields.emplace_back();
    end = TakeCsvField({.lines = true}, text, &fields.back());
    if (end == CsvEnd::kNoClosingQuote) {
      return InvalidArgument("a quoted field has no closing quote");
    }
    *line += CountLines(before.substr(0, before.size() - text->size()));
    if (end == CsvEnd::kTextBehindQuote) {
      return InvalidArgument(
          "there is text behind a closing quote; write a quote in a quoted field as two quotes");
    }
  }
  if (end == CsvEnd::kText) ++*line;
  return fields;
}

}  // namespace

std::string CsvTable::Place(size_t row) const { return absl::StrCat(path, ":", lines[row]); }

absl::StatusOr<size_t> CsvTable::Column(const std::string& name) const {
  const auto found = std::find(columns.begin(), columns.end(), name);
  if (found != columns.end()) return static_cast<size_t>(found - columns.begin());
  return NotFound(path, " has no column \"", name, "\"", DidYouMean(name, columns),
                  "; its columns are ", absl::StrJoin(columns, ", "));
}

absl::StatusOr<CsvTable> ParseCsv(const std::string& path, absl::string_view text) {
  ConsumeByteOrderMark(&text);
  CsvTable table{.path = path, .columns = {}, .rows = {}, .lines = {}};
  const auto error = [&path](int64_t line, absl::string_view what) {
    return InvalidArgument(path, ":", line, ": ", what);
  };
  for (int64_t next_line = 1; !text.empty();) {
    const int64_t line = next_line;
    absl::StatusOr<std::vector<std::string>> row = TakeRow(&text, &next_line);
    if (!row.ok()) return error(next_line, row.status().message());
    std::vector<std::string> fields = *std::move(row);
    if (fields.size() == 1 && fields[0].empty()) continue;
    if (table.columns.empty()) {
      if (std::set<std::string>(fields.begin(), fields.end()).size() < fields.size()) {
        return error(line, absl::StrCat("two columns of the header have one name: ",
                                        absl::StrJoin(fields, ", ")));
      }
      table.columns = std::move(fields);
      continue;
    }
    if (fields.size() != table.columns.size()) {
      return error(line, absl::StrCat("the row has ", fields.size(), " fields, but the header has ",
                                      table.columns.size()));
    }
    table.rows.push_back(std::move(fields));
    table.lines.push_back(line);
  }
  if (table.columns.empty()) return error(1, "the file has no header");
  return table;
}

absl::StatusOr<CsvTable> ReadCsv(const std::string& path) {
  EST_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  return ParseCsv(path, text);
}

}  // namespace estimator
