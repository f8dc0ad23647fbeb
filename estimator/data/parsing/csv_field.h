// Splits comma-separated values (RFC 4180) into records and fields. It is the only splitter:
// CsvDataset, DecodeCsv and the programs of tools use it, each with its own rules for what else may
// stand in a field.
#ifndef ESTIMATOR_DATA_PARSING_CSV_FIELD_H_
#define ESTIMATOR_DATA_PARSING_CSV_FIELD_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace estimator {

struct CsvFormat {
  char delim = ',';
  bool quotes = true;  // whether a field may be in quotes
  // Whether the text has several records, which "\n", "\r\n" or "\r" ends. Quotes may then stand
  // inside of a field that does not begin with one. A text of one record, as TensorFlow has it, may
  // have neither quotes nor ends of lines there.
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

// Finds the end of a record in a text that comes in pieces. A record ends at the first "\n" or "\r"
// that is not between quotes. Quotes begin only at the beginning of a field, and they end only
// where a delimiter or an end of a line follows. So a quote inside of a field joins no records.
// Source: TF 2.15 csv_dataset_op.cc, which continues behind a damaged record in the same way.
class CsvRecordEnd {
 public:
  explicit CsvRecordEnd(const CsvFormat& format) : format_(format) {}

  // The number of bytes of `text` before the end of the line, or all if the record continues behind
  // it. `text` is what follows the bytes of the last call. The end of the line is not one of them.
  size_t Find(absl::string_view text);
  // Begins a new record.
  void Reset() { place_ = Place::kFieldStart; }

 private:
  enum class Place { kFieldStart, kUnquoted, kQuoted, kBehindQuote };

  CsvFormat format_;
  Place place_ = Place::kFieldStart;
};

// Removes the first record from `text`, with the end of its line, and returns it without that.
absl::string_view TakeCsvRecord(const CsvFormat& format, absl::string_view* text);

// Removes the UTF-8 byte order mark that some programs (Excel) write at the beginning of a file.
// Returns the number of its bytes: 3, or 0 if there is none.
size_t ConsumeByteOrderMark(absl::string_view* text);

}  // namespace estimator

#endif  // ESTIMATOR_DATA_PARSING_CSV_FIELD_H_
