#include "estimator/data/parsing/decode_csv.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "estimator/base/status.h"
#include "estimator/base/strings.h"
#include "estimator/data/parsing/csv_field.h"

namespace estimator {
namespace {

// TensorFlow's parser takes no sign but "-", and spaces around the number.
template <typename Int>
bool ParseNumber(absl::string_view text, Int* value) {
  return !absl::StartsWith(absl::StripAsciiWhitespace(text), "+") && absl::SimpleAtoi(text, value);
}

// TensorFlow's parser takes hexadecimal integers, "inf" and "nan", and no other words.
template <typename Float>
bool ParseFloat(absl::string_view text, Float* value) {
  const absl::string_view stripped = absl::StripAsciiWhitespace(text);
  if (stripped.empty()) {  // spaces are 0 in TensorFlow
    *value = 0;
    return true;
  }
  absl::string_view digits = stripped;
  const bool negative = absl::ConsumePrefix(&digits, "-");
  if (!negative) absl::ConsumePrefix(&digits, "+");
  if (absl::StartsWithIgnoreCase(digits, "infinity") ||
      absl::StartsWithIgnoreCase(digits, "nan(")) {
    return false;
  }
  if (absl::StartsWithIgnoreCase(digits, "0x")) {
    uint64_t bits = 0;
    if (!absl::SimpleHexAtoi(digits, &bits)) return false;
    const auto magnitude = static_cast<Float>(bits);
    *value = negative ? -magnitude : magnitude;
    return true;
  }
  if constexpr (sizeof(Float) == sizeof(float)) {
    return absl::SimpleAtof(stripped, value);
  } else {
    return absl::SimpleAtod(stripped, value);
  }
}
bool ParseNumber(absl::string_view text, float* value) { return ParseFloat(text, value); }
bool ParseNumber(absl::string_view text, double* value) { return ParseFloat(text, value); }

// Sets `fields` to the selected fields of a line.
absl::Status Extract(absl::string_view line, const DecodeCsvOptions& options,
                     std::vector<std::string>* fields) {
  fields->clear();
  const CsvFormat format = {.delim = options.field_delim[0], .quotes = options.use_quote_delim};
  const std::vector<int>& selected = options.select_cols;
  int column = 0;
  CsvEnd end = CsvEnd::kText;
  std::string field;
  // A delimiter at the end has an empty field behind it.
  while (!line.empty() || end == CsvEnd::kDelimiter) {
    // TensorFlow's parser skips ends of lines before a field.
    if (!line.empty() && (line[0] == '\n' || line[0] == '\r')) {
      line.remove_prefix(1);
      end = CsvEnd::kText;
      continue;
    }
    end = TakeCsvField(format, &line, &field);
    switch (end) {
      case CsvEnd::kNoClosingQuote:
        return InvalidArgument("Quoted field has to end with quote followed by delim or end");
      case CsvEnd::kTextBehindQuote:
        return InvalidArgument("Quote inside a string has to be escaped by another quote");
      case CsvEnd::kSpecialCharacter:
        return InvalidArgument("Unquoted fields cannot have quotes/CRLFs inside");
      default:
        break;
    }
    if (!selected.empty() && selected[fields->size()] != column++) continue;
    fields->push_back(field);
    if (!selected.empty() && fields->size() == selected.size()) return absl::OkStatus();
  }
  return absl::OkStatus();
}

absl::string_view TypeName(DType dtype) {
  if (dtype == DType::kFloat32) return "float";
  return dtype == DType::kFloat64 ? "double" : DTypeName(dtype);
}

// Writes field number `index` of a line to `out`.
template <typename T>
absl::Status Convert(const std::string& field, size_t index, const Array& value,
                     const DecodeCsvOptions& options, absl::string_view where, T* out) {
  if (field.empty() || field == options.na_value) {
    if (value.num_elements() == 0) {
      return InvalidArgument("Field ", index, " is required but missing", where, "!");
    }
    *out = value.data<T>()[0];
    return absl::OkStatus();
  }
  if constexpr (std::is_same_v<T, std::string>) {
    *out = field;
  } else if (!ParseNumber(field, out)) {
    return InvalidArgument("Field ", index, where, " is not a valid ", TypeName(value.dtype()),
                           ": ", Shortened(field));
  }
  return absl::OkStatus();
}

absl::Status ConvertInto(const std::string& field, size_t index, const Array& value,
                         const DecodeCsvOptions& options, absl::string_view where, int64_t line,
                         Array* out) {
  const auto convert = [&](auto tag) {
    using T = decltype(tag);
    return Convert<T>(field, index, value, options, where, out->data<T>() + line);
  };
  switch (value.dtype()) {
    case DType::kFloat32:
      return convert(float{});
    case DType::kFloat64:
      return convert(double{});
    case DType::kInt32:
      return convert(int32_t{});
    case DType::kInt64:
      return convert(int64_t{});
    default:
      return convert(std::string());
  }
}

// Writes line number `line` of the results.
absl::Status DecodeLine(absl::string_view text, const std::vector<Array>& record_defaults,
                        const DecodeCsvOptions& options, absl::string_view where, int64_t line,
                        std::vector<std::string>* fields, std::vector<Array>* out) {
  EST_RETURN_IF_ERROR(Extract(text, options, fields));
  if (fields->size() != record_defaults.size()) {
    return InvalidArgument("Expect ", record_defaults.size(), " fields but have ", fields->size(),
                           where);
  }
  for (size_t i = 0; i < fields->size(); ++i) {
    EST_RETURN_IF_ERROR(
        ConvertInto((*fields)[i], i, record_defaults[i], options, where, line, &(*out)[i]));
  }
  return absl::OkStatus();
}

std::vector<Array> MakeColumns(const std::vector<Array>& record_defaults, const Shape& shape) {
  std::vector<Array> columns;
  columns.reserve(record_defaults.size());
  for (const Array& value : record_defaults) columns.emplace_back(value.dtype(), shape);
  return columns;
}

}  // namespace

absl::Status CheckCsvOptions(const std::vector<Array>& record_defaults,
                             const DecodeCsvOptions& options) {
  if (options.field_delim.size() != 1) {
    return InvalidArgument("field_delim should be only 1 char, not \"", options.field_delim, "\"");
  }
  if (record_defaults.empty()) {
    return InvalidArgument("record_defaults is empty; give one array for each field");
  }
  for (size_t i = 0; i < record_defaults.size(); ++i) {
    const Array& value = record_defaults[i];
    constexpr DType kFieldTypes[] = {DType::kFloat32, DType::kFloat64, DType::kInt32, DType::kInt64,
                                     DType::kString};
    if (std::count(std::begin(kFieldTypes), std::end(kFieldTypes), value.dtype()) == 0) {
      return InvalidArgument("record_defaults[", i, "] is ", value.TypeString(),
                             "; a field is float32, float64, int32, int64 or string");
    }
    if (value.num_elements() > 1 || value.shape().rank() > 1) {
      return InvalidArgument("record_defaults[", i, "] is ", value.TypeString(),
                             "; give one value, or none for a required field");
    }
  }
  const std::vector<int>& selected = options.select_cols;
  if (selected.empty()) return absl::OkStatus();
  if (selected.size() != record_defaults.size()) {
    return InvalidArgument("select_cols has ", selected.size(),
                           " columns, but record_defaults has ", record_defaults.size());
  }
  for (size_t i = 0; i < selected.size(); ++i) {
    if (selected[i] < 0 || (i > 0 && selected[i] <= selected[i - 1])) {
      return InvalidArgument("select_cols is not strictly increasing from 0 on: column ", i, " is ",
                             selected[i]);
    }
  }
  return absl::OkStatus();
}

StatusOrRange<std::vector<std::string>> CsvFields(StringArg line, const DecodeCsvOptions& options) {
  std::vector<std::string> fields;
  EST_RETURN_IF_ERROR(Extract(line, options, &fields));
  return fields;
}

StatusOrRange<std::vector<Array>> DecodeCsv(StringArg line,
                                            const std::vector<Array>& record_defaults,
                                            const DecodeCsvOptions& options) {
  EST_RETURN_IF_ERROR(CheckCsvOptions(record_defaults, options));
  std::vector<Array> columns = MakeColumns(record_defaults, {});
  std::vector<std::string> fields;
  EST_RETURN_IF_ERROR(DecodeLine(line, record_defaults, options, "", 0, &fields, &columns));
  return columns;
}

StatusOrRange<std::vector<Array>> DecodeCsv(const Array& lines,
                                            const std::vector<Array>& record_defaults,
                                            const DecodeCsvOptions& options) {
  EST_RETURN_IF_ERROR(CheckCsvOptions(record_defaults, options));
  if (lines.dtype() != DType::kString) {
    return InvalidArgument("DecodeCsv reads strings, not ", lines.TypeString());
  }
  std::vector<Array> columns = MakeColumns(record_defaults, lines.shape());
  std::vector<std::string> fields;
  const absl::Span<const std::string> texts = lines.values<std::string>();
  for (size_t i = 0; i < texts.size(); ++i) {
    EST_RETURN_IF_ERROR(DecodeLine(texts[i], record_defaults, options,
                                   absl::StrCat(" in record ", i), static_cast<int64_t>(i), &fields,
                                   &columns));
  }
  return columns;
}

}  // namespace estimator
