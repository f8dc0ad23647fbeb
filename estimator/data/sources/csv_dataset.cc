#include "estimator/data/sources/csv_dataset.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/base/strings.h"
#include "estimator/data/parsing/decode_csv.h"
#include "estimator/data/pipeline/nodes.h"
#include "estimator/data/pipeline/typed_fn.h"
#include "estimator/data/sources/file_datasets.h"
#include "estimator/data/sources/file_records.h"
#include "estimator/data/sources/line_source.h"

namespace estimator {
namespace {

// The names of the columns from the header of a file.
absl::StatusOr<std::vector<std::string>> HeaderNames(const std::string& file, size_t num_columns,
                                                     const LineSourceOptions& reading,
                                                     const DecodeCsvOptions& csv) {
  LineSourceOptions with_header = reading;
  with_header.skip_header = false;
  EST_ASSIGN_OR_RETURN(const std::unique_ptr<RecordSource> lines, OpenLines(file, with_header));
  EST_ASSIGN_OR_RETURN(const std::optional<std::string> header, lines->Next());
  if (!header) {
    return InvalidArgument(file, ": .header is set, but the file is empty");
  }
  absl::StatusOr<std::vector<std::string>> names = CsvFields(*header, csv);
  if (!names.ok()) return Annotate(names.status(), absl::StrCat(file, ": the header"));
  if (names->size() == num_columns) return names;
  return InvalidArgument(file, ": the header has ", names->size(),
                         csv.select_cols.empty() ? "" : " of the selected", " columns (",
                         JoinSome(*names, kShownNames), "), but record_defaults has ", num_columns);
}

absl::StatusOr<std::vector<std::string>> ColumnNames(const std::string& file, size_t num_columns,
                                                     const CsvDatasetOptions& options,
                                                     const LineSourceOptions& reading,
                                                     const DecodeCsvOptions& csv) {
  std::vector<std::string> names = options.column_names;
  if (names.empty() && options.header) {
    EST_ASSIGN_OR_RETURN(names, HeaderNames(file, num_columns, reading, csv));
  }
  for (size_t i = 0; names.size() < num_columns && options.column_names.empty(); ++i) {
    const size_t column = csv.select_cols.empty() ? i : static_cast<size_t>(csv.select_cols[i]);
    names.push_back(absl::StrCat("column_", column));
  }
  if (names.size() != num_columns) {
    return InvalidArgument("column_names has ", names.size(), " names, but record_defaults has ",
                           num_columns, " columns");
  }
  std::set<std::string> seen;
  for (const std::string& name : names) {
    if (!seen.insert(name).second) {
      return InvalidArgument("two columns have the name \"", name, "\"; give other .column_names");
    }
  }
  for (const std::string& label : options.labels) {
    if (seen.erase(label) != 0) continue;
    return InvalidArgument("the label \"", label,
                           "\" is none of the columns, or is given twice; "
                           "the columns are ",
                           JoinSome(names, kShownNames));
  }
  return names;
}

absl::StatusOr<Dataset> MakeCsvDataset(const std::vector<std::string>& patterns,
                                       std::vector<Array> record_defaults,
                                       const CsvDatasetOptions& options) {
  const DecodeCsvOptions csv = {.field_delim = options.field_delim,
                                .use_quote_delim = options.use_quote_delim,
                                .na_value = options.na_value,
                                .select_cols = options.select_cols};
  EST_RETURN_IF_ERROR(CheckCsvOptions(record_defaults, csv));
  const LineSourceOptions reading = {
      .compression = options.compression,
      .buffer_size_bytes = options.buffer_size_bytes,
      .csv = CsvFormat{.delim = options.field_delim[0], .quotes = options.use_quote_delim},
      .skip_header = options.header};
  EST_ASSIGN_OR_RETURN(std::vector<std::string> files, MatchFiles(patterns));
  EST_RETURN_IF_ERROR(CheckFilesExist("Csv", files));
  EST_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                       ColumnNames(files[0], record_defaults.size(), options, reading, csv));

  ElementSpec spec;  // a scalar for each column
  for (size_t i = 0; i < names.size(); ++i) {
    const bool is_label = std::count(options.labels.begin(), options.labels.end(), names[i]) > 0;
    ArraySpecMap& kind = is_label ? spec.labels : spec.features;
    const bool bare = is_label && options.labels.size() == 1;
    kind[bare ? "" : names[i]] = {.dtype = record_defaults[i].dtype(), .shape = Shape{}};
  }
  const auto parse = [csv, names, record_defaults = std::move(record_defaults),
                      labels = options.labels](const Element& line) -> absl::StatusOr<Element> {
    // As TensorFlow's dataset, and unlike decode_csv, an empty line has one empty field.
    const std::string text = line.features.at("").scalar<std::string>();
    const bool empty = text.empty() && csv.use_quote_delim;
    EST_ASSIGN_OR_RETURN(std::vector<Array> columns,
                         DecodeCsv(empty ? "\"\"" : StringArg(text), record_defaults, csv));
    Element element;
    for (size_t i = 0; i < columns.size(); ++i) {
      element.features.emplace(names[i], std::move(columns[i]));
    }
    for (const std::string& label : labels) {
      const auto found = element.features.find(label);
      element.labels[labels.size() == 1 ? "" : label] = std::move(found->second);
      element.features.erase(found);
    }
    return element;
  };
  const auto open = [reading](const std::string& path) { return OpenLines(path, reading); };
  return Dataset(FileRecordsNode(
                     {.label = "Csv", .kind = "record", .files = std::move(files), .open = open}))
      .Map(TypedMapFn(parse,
                      [spec = std::move(spec)](const std::optional<ElementSpec>&)
                          -> absl::StatusOr<ElementSpec> { return spec; }),
           {.num_parallel_calls = options.num_parallel_calls});
}

}  // namespace

Dataset CsvDataset(std::vector<std::string> files, std::vector<Array> record_defaults,
                   CsvDatasetOptions options) {
  absl::StatusOr<Dataset> dataset = MakeCsvDataset(files, std::move(record_defaults), options);
  if (dataset.ok()) return *std::move(dataset);
  return Dataset(ErrorNode(Annotate(dataset.status(), "CsvDataset")));
}

}  // namespace estimator
