// Parses lines of comma-separated values (RFC 4180) into arrays, a column each.
#ifndef ESTIMATOR_DATA_PARSING_DECODE_CSV_H_
#define ESTIMATOR_DATA_PARSING_DECODE_CSV_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "estimator/array/array.h"
#include "estimator/base/status_or_range.h"
#include "estimator/base/string_arg.h"

namespace estimator {

struct DecodeCsvOptions {
  std::string field_delim = ",";  // one character
  // Whether a field may be in quotes ("), which are not a part of it. It may then contain the
  // delimiter and newlines, and a quote as two quotes. With false a quote is a character as any.
  bool use_quote_delim = true;
  std::string na_value = "";  // a field of this text is missing, as an empty one is
  // The columns to parse, counted from 0 and ascending. Without any, all of them.
  std::vector<int> select_cols = {};
};

// The fields of a line, as scalars.
//   record_defaults: an array for each field, f32, f64, i32, i64 or string. Its dtype is that of
//     the result. With one element it is the value of a missing field; without any, as
//     Array(DType::kFloat32, {0}), the field is required.
// Errors: INVALID_ARGUMENT, in TensorFlow's words, if the number of fields is not that of
// record_defaults, a required field is missing, a field is not a number of its dtype, a quote is
// where none may be, or the options are not valid.
// Source: TF 2.15 tf.io.decode_csv.
StatusOrRange<std::vector<Array>> DecodeCsv(StringArg line,
                                            const std::vector<Array>& record_defaults,
                                            const DecodeCsvOptions& options = {});
// The fields of a string array of lines. The results have its shape.
StatusOrRange<std::vector<Array>> DecodeCsv(const Array& lines,
                                            const std::vector<Array>& record_defaults,
                                            const DecodeCsvOptions& options = {});

// Checks defaults and options. Errors: those of DecodeCsv.
absl::Status CheckCsvOptions(const std::vector<Array>& record_defaults,
                             const DecodeCsvOptions& options);
// The selected fields of a line, as strings.
StatusOrRange<std::vector<std::string>> CsvFields(StringArg line, const DecodeCsvOptions& options);

}  // namespace estimator

#endif  // ESTIMATOR_DATA_PARSING_DECODE_CSV_H_
