// Splits comma-separated values (RFC 4180) into fields. It is the only splitter: DecodeCsv and the
// tables of tools/to_tfrecord use it, each with its own rules for what else may stand in a field.
#ifndef ESTIMATOR_DATA_PARSING_CSV_FIELD_H_
#define ESTIMATOR_DATA_PARSING_CSV_FIELD_H_

#include <string>

#include "absl/strings/string_view.h"

namespace estimator {

struct CsvFormat {
  char delim = ',';
  bool quotes = true;  // whether a field may be in quotes
  // Whether the text has several records, which "\n" or "\r\n" ends. Quotes may then stand inside
  // of a field that does not begin with one. A text of one record, as TensorFlow has it, may have
  // neither quotes nor ends of lines there.
  bool lines = false;
};

// What is behind a field, or what is wrong with it.
enum class CsvEnd {
  kDelimiter,
  kLine,
  kText,              // the end of the text
  kNoClosingQuote,    // the field begins with a quote, and the text ends before the next one
  kTextBehindQuote,   // after the closing quote
  kSpecialCharacter,  // a quote or the end of a line in a field that is not in quotes
};

// Moves the first field of `text`, and what ends it, to `field`. The field is without its quotes.
// After an error, `text` begins at the character that is wrong.
CsvEnd TakeCsvField(const CsvFormat& format, absl::string_view* text, std::string* field);

}  // namespace estimator

#endif  // ESTIMATOR_DATA_PARSING_CSV_FIELD_H_
