// Parses requests for tools/verify_interop.sh: parse_tool REQUESTS RESULTS. Both are TFRecord files
// of Examples, a result for each request. testdata/interop/check_parsing.py describes them.
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "estimator/array/array.h"
#include "estimator/base/status.h"
#include "estimator/data/parsing/decode_csv.h"
#include "estimator/data/parsing/example_builder.h"
#include "estimator/data/parsing/parse_example.h"
#include "estimator/data/pipeline/dataset.h"
#include "estimator/data/sources/csv_dataset.h"
#include "estimator/data/sources/file_datasets.h"
#include "estimator/records/tfrecord.h"
#include "tools/interop/tool_main.h"

namespace estimator {
namespace {

using Strings = std::vector<std::string>;

absl::StatusOr<Strings> StringsOf(const ArrayMap& request, const std::string& name) {
  EST_ASSIGN_OR_RETURN(const Array array, request.Get(name));
  const absl::Span<const std::string> values = array.values<std::string>();
  return Strings(values.begin(), values.end());
}

absl::StatusOr<int64_t> IntOf(absl::string_view text) {
  int64_t value = 0;
  if (absl::SimpleAtoi(text, &value)) return value;
  return InvalidArgument("\"", text, "\" is not a number");
}

// An array whose elements all have a value.
Array Filled(DType dtype, const Shape& shape, int64_t value) {
  Array array(dtype, shape);
  if (dtype == DType::kString) {
    for (std::string& text : array.values<std::string>()) text = absl::StrCat(value);
  }
  VisitNumeric(dtype, [&](auto tag) {
    using T = decltype(tag);
    for (T& element : array.values<T>()) element = static_cast<T>(static_cast<float>(value));
  });
  return array;
}

// "fixed NAME DTYPE SHAPE DEFAULT", "rows NAME DTYPE SHAPE PADDING ALLOW_MISSING" and "var NAME
// DTYPE PADDING". A shape is its sizes with "x" between them, or "-". A DEFAULT may be "none".
absl::StatusOr<FeatureSpecs> SpecsOf(const Strings& lines) {
  FeatureSpecs specs;
  for (const std::string& line : lines) {
    const Strings words = absl::StrSplit(line, ' ');
    EST_ASSIGN_OR_RETURN(const DType dtype, DTypeFromName(words[2]));
    if (words[0] == "var") {
      EST_ASSIGN_OR_RETURN(const int64_t padding, IntOf(words[3]));
      specs[words[1]] =
          VarLenFeature{.dtype = dtype, .default_value = static_cast<double>(padding)};
      continue;
    }
    Shape shape;
    for (const auto& size : absl::StrSplit(words[3], 'x')) {
      if (size == "-") continue;
      EST_ASSIGN_OR_RETURN(const int64_t number, IntOf(size));
      shape.push_back(number);
    }
    std::optional<int64_t> value;
    if (words[4] != "none") {
      EST_ASSIGN_OR_RETURN(value, IntOf(words[4]));
    }
    if (words[0] == "rows") {
      specs[words[1]] = FixedLenSequenceFeature{.dtype = dtype,
                                                .shape = shape,
                                                .default_value = static_cast<double>(*value),
                                                .allow_missing = words[5] == "1"};
    } else {
      FixedLenFeature fixed{.dtype = dtype, .shape = shape};
      if (value) fixed.default_value = Filled(dtype, shape, *value);
      specs[words[1]] = fixed;
    }
  }
  return specs;
}

ArrayMap ColumnsOf(std::vector<Array> columns) {
  ArrayMap result;
  for (size_t i = 0; i < columns.size(); ++i) result[absl::StrCat(i)] = std::move(columns[i]);
  return result;
}

// The elements of a dataset as rows of columns.
absl::StatusOr<ArrayMap> Drain(const Dataset& dataset) {
  EST_ASSIGN_OR_RETURN(const std::unique_ptr<Iterator> iterator, dataset.MakeIterator());
  std::map<std::string, std::vector<Array>> columns;
  while (true) {
    EST_ASSIGN_OR_RETURN(const std::optional<Element> element, iterator->Next());
    if (!element) break;
    for (const auto& [name, array] : element->features) columns[name].push_back(array);
  }
  ArrayMap result;
  for (const auto& [name, rows] : columns) result[name] = Stack(rows);
  return result;
}

absl::StatusOr<ArrayMap> Answer(const ArrayMap& request) {
  EST_ASSIGN_OR_RETURN(const Strings mode, StringsOf(request, "mode"));
  EST_ASSIGN_OR_RETURN(const Strings lines, StringsOf(request, "specs"));
  EST_ASSIGN_OR_RETURN(const Strings inputs, StringsOf(request, "inputs"));
  EST_ASSIGN_OR_RETURN(const Strings options, StringsOf(request, "options"));
  if (mode[0] == "reads") {
    EST_ASSIGN_OR_RETURN(const int64_t num_parallel_reads, IntOf(options[0]));
    return Drain(
        TFRecordDataset(inputs, {.num_parallel_reads = static_cast<int>(num_parallel_reads)}));
  }
  if (mode[0] == "csv" || mode[0] == "csv_files") {
    std::vector<Array> defaults;
    for (const std::string& line : lines) {  // "DTYPE DEFAULT"
      const Strings words = absl::StrSplit(line, ' ');
      EST_ASSIGN_OR_RETURN(const DType dtype, DTypeFromName(words[0]));
      if (words[1] == "none") {
        defaults.emplace_back(dtype, Shape{0});
        continue;
      }
      EST_ASSIGN_OR_RETURN(const int64_t value, IntOf(words[1]));
      defaults.push_back(Filled(dtype, {}, value));
    }
    DecodeCsvOptions csv{
        .field_delim = options[0], .use_quote_delim = options[1] == "1", .na_value = options[2]};
    for (size_t i = 3; i < options.size(); ++i) {
      EST_ASSIGN_OR_RETURN(const int64_t column, IntOf(options[i]));
      csv.select_cols.push_back(static_cast<int>(column));
    }
    if (mode[0] == "csv_files") {
      return Drain(CsvDataset(inputs, defaults,
                              {.header = true,
                               .field_delim = csv.field_delim,
                               .use_quote_delim = csv.use_quote_delim,
                               .na_value = csv.na_value}));
    }
    EST_ASSIGN_OR_RETURN(std::vector<Array> columns, DecodeCsv(inputs[0], defaults, csv));
    return ColumnsOf(std::move(columns));
  }
  EST_ASSIGN_OR_RETURN(const FeatureSpecs specs, SpecsOf(lines));
  if (mode[0] == "sequence") {
    EST_ASSIGN_OR_RETURN(const Strings sequence_lines, StringsOf(request, "sequences"));
    EST_ASSIGN_OR_RETURN(const FeatureSpecs sequences, SpecsOf(sequence_lines));
    return ParseSingleSequenceExample(inputs[0], specs, sequences);
  }
  const bool single = mode[0] == "single";
  const Array serialized = single ? Array::String(inputs[0]) : Array::Strings(inputs);
  EST_ASSIGN_OR_RETURN(const Element element,
                       ParseExample(specs)({.features = serialized, .labels = {}}));
  return element.features;
}

std::string Serialize(const absl::StatusOr<ArrayMap>& answer) {
  ExampleBuilder result;
  if (!answer.ok()) {
    return result.Bytes("error", {std::string(answer.status().message())}).Serialize();
  }
  for (const auto& [name, array] : *answer) {
    Strings parts = {std::string(DTypeName(array.dtype())),
                     absl::StrJoin(array.shape().dims(), "x")};
    if (array.dtype() == DType::kString) {
      for (const std::string& value : array.values<std::string>()) parts.push_back(value);
    } else {
      parts.emplace_back(static_cast<const char*>(array.raw()), array.num_bytes());
    }
    result.Bytes(absl::StrCat("array ", name), parts);
  }
  return result.Serialize();
}

absl::Status Run(const std::vector<std::string>& arguments) {
  EST_ASSIGN_OR_RETURN(const auto reader, TFRecordReader::Open(arguments[0]));
  EST_ASSIGN_OR_RETURN(const auto writer, TFRecordWriter::Open(arguments[1]));
  const VarLenFeature strings{.dtype = DType::kString};
  while (true) {
    EST_ASSIGN_OR_RETURN(const std::optional<std::string> record, reader->Next());
    if (!record) return writer->Close();
    EST_ASSIGN_OR_RETURN(const ArrayMap request,
                         ParseSingleExample(*record, {{"mode", strings},
                                                      {"specs", strings},
                                                      {"sequences", strings},
                                                      {"inputs", strings},
                                                      {"options", strings}}));
    EST_RETURN_IF_ERROR(writer->Write(Serialize(Answer(request))));
  }
}

}  // namespace
}  // namespace estimator

int main(int argc, char** argv) {
  return estimator::ToolMain(argc, argv, "parse_tool REQUESTS RESULTS", estimator::Run);
}
