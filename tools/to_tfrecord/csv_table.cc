#include "tools/to_tfrecord/csv_table.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "estimator/base/file.h"
#include "estimator/base/status.h"
#include "estimator/base/strings.h"

namespace estimator {
namespace {

// Splits text into rows. It has read everything before text_[position_].
class Parser {
 public:
  Parser(const std::string& path, absl::string_view text) : path_(path), text_(text) {}

  bool done() const { return position_ >= text_.size(); }
  int64_t line() const { return line_; }

  absl::StatusOr<std::vector<std::string>> Row() {
    std::vector<std::string> fields;
    while (true) {
      EST_ASSIGN_OR_RETURN(std::string field, Field());
      fields.push_back(std::move(field));
      if (done() || text_[position_] != ',') break;
      ++position_;
    }
    if (!done() && text_[position_] == '\r') ++position_;
    if (!done() && text_[position_] == '\n') ++position_;
    ++line_;
    return fields;
  }

  absl::Status Error(int64_t line, absl::string_view what) const {
    return absl::InvalidArgumentError(absl::StrCat(path_, ":", line, ": ", what));
  }

 private:
  bool AtEndOfLine() const {
    return done() || text_[position_] == '\n' || text_.substr(position_, 2) == "\r\n";
  }

  absl::StatusOr<std::string> Field() {
    if (done() || text_[position_] != '"') {
      const size_t begin = position_;
      while (!AtEndOfLine() && text_[position_] != ',') ++position_;
      return std::string(text_.substr(begin, position_ - begin));
    }
    const int64_t first_line = line_;
    std::string field;
    for (++position_; !done(); ++position_) {
      if (text_[position_] == '\n') ++line_;
      if (text_[position_] != '"') {
        field += text_[position_];
      } else if (text_.substr(position_, 2) == "\"\"") {
        field += '"';
        ++position_;
      } else {
        ++position_;
        if (AtEndOfLine() || text_[position_] == ',') return field;
        return Error(line_,
                     "there is text behind a closing quote; write a quote in a quoted field "
                     "as two quotes");
      }
    }
    return Error(first_line, "a quoted field has no closing quote");
  }

  const std::string& path_;
  const absl::string_view text_;
  size_t position_ = 0;
  int64_t line_ = 1;
};

}  // namespace

std::string CsvTable::Place(size_t row) const { return absl::StrCat(path, ":", lines[row]); }

absl::StatusOr<size_t> CsvTable::Column(const std::string& name) const {
  const auto found = std::find(columns.begin(), columns.end(), name);
  if (found != columns.end()) return static_cast<size_t>(found - columns.begin());
  const auto nearest = NearestName(name, columns);
  return absl::NotFoundError(
      absl::StrCat(path, " has no column \"", name, "\"",
                   nearest ? absl::StrCat(" (did you mean \"", *nearest, "\"?)") : "",
                   "; its columns are ", absl::StrJoin(columns, ", ")));
}

absl::StatusOr<CsvTable> ParseCsv(const std::string& path, absl::string_view text) {
  absl::ConsumePrefix(&text, "\xef\xbb\xbf");
  CsvTable table{.path = path, .columns = {}, .rows = {}, .lines = {}};
  Parser parser(path, text);
  while (!parser.done()) {
    const int64_t line = parser.line();
    EST_ASSIGN_OR_RETURN(std::vector<std::string> fields, parser.Row());
    if (fields.size() == 1 && fields[0].empty()) continue;
    if (table.columns.empty()) {
      if (std::set<std::string>(fields.begin(), fields.end()).size() < fields.size()) {
        return parser.Error(line, absl::StrCat("two columns of the header have one name: ",
                                               absl::StrJoin(fields, ", ")));
      }
      table.columns = std::move(fields);
      continue;
    }
    if (fields.size() != table.columns.size()) {
      return parser.Error(line, absl::StrCat("the row has ", fields.size(),
                                             " fields, but the header has ", table.columns.size()));
    }
    table.rows.push_back(std::move(fields));
    table.lines.push_back(line);
  }
  if (table.columns.empty()) return parser.Error(1, "the file has no header");
  return table;
}

absl::StatusOr<CsvTable> ReadCsv(const std::string& path) {
  EST_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  return ParseCsv(path, text);
}

}  // namespace estimator
