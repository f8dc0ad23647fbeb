#include "estimator/data/parsing/csv_field.h"

#include "absl/strings/strip.h"

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
  } else if (format.lines && (text[at] == '\n' || text[at] == '\r')) {
    *end = CsvEnd::kLine;
    if (text.substr(at, 2) == "\r\n") *size = 2;
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

size_t CsvRecordEnd::Find(absl::string_view text) {
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (place_ == Place::kQuoted) {
      if (c == '"') place_ = Place::kBehindQuote;
    } else if (c == '\n' || c == '\r') {
      return at;
    } else if (c == format_.delim) {
      place_ = Place::kFieldStart;
    } else if (place_ == Place::kFieldStart) {
      place_ = format_.quotes && c == '"' ? Place::kQuoted : Place::kUnquoted;
    } else if (place_ == Place::kBehindQuote) {
      // Either the second of two quotes, or text that may not be here. As in TensorFlow, the field
      // continues to the next quote.
      place_ = Place::kQuoted;
    }
  }
  return text.size();
}

absl::string_view TakeCsvRecord(const CsvFormat& format, absl::string_view* text) {
  const absl::string_view record = text->substr(0, CsvRecordEnd(format).Find(*text));
  text->remove_prefix(record.size());
  if (!absl::ConsumePrefix(text, "\r\n") && !text->empty()) text->remove_prefix(1);
  return record;
}

size_t ConsumeByteOrderMark(absl::string_view* text) {
  constexpr absl::string_view kMark = "\xef\xbb\xbf";
  return absl::ConsumePrefix(text, kMark) ? kMark.size() : 0;
}

}  // namespace estimator
