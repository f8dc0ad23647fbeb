#include "estimator/data/parsing/csv_field.h"

#include <cstddef>

namespace estimator {
namespace {

// What is at `text[at]`, if that can end a field.
//   size: set to the number of its bytes.
bool IsEnd(const CsvFormat& format, absl::string_view text, size_t at, CsvEnd* end, size_t* size) {
  *size = 1;
  if (at >= text.size()) {
    *end = CsvEnd::kText;
    *size = 0;
  } else if (text[at] == format.delim) {
    *end = CsvEnd::kDelimiter;
  } else if (format.lines && text[at] == '\n') {
    *end = CsvEnd::kLine;
  } else if (format.lines && text.substr(at, 2) == "\r\n") {
    *end = CsvEnd::kLine;
    *size = 2;
  } else {
    return false;
  }
  return true;
}

}  // namespace

CsvEnd TakeCsvField(const CsvFormat& format, absl::string_view* text, std::string* field) {
  const absl::string_view all = *text;
  field->clear();
  CsvEnd end = CsvEnd::kText;
  size_t at = 0, size = 0;
  const auto take = [&](size_t bytes, CsvEnd result) {
    text->remove_prefix(bytes);
    return result;
  };
  if (format.quotes && !all.empty() && all[0] == '"') {
    for (++at; at < all.size(); ++at) {
      if (all[at] == '"') {
        if (IsEnd(format, all, at + 1, &end, &size)) return take(at + 1 + size, end);
        // A quote inside of a field is written as two.
        if (all[++at] != '"') return take(at, CsvEnd::kTextBehindQuote);
      }
      field->push_back(all[at]);
    }
    return take(at, CsvEnd::kNoClosingQuote);
  }
  for (; !IsEnd(format, all, at, &end, &size); ++at) {
    const char c = all[at];
    if (!format.lines && ((format.quotes && c == '"') || c == '\n' || c == '\r')) {
      return take(at, CsvEnd::kSpecialCharacter);
    }
  }
  field->assign(all.data(), at);
  return take(at + size, end);
}

}  // namespace estimator
