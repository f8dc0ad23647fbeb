#include "models/common/predictions_csv.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "estimator/base/file.h"
#include "estimator/base/status.h"

namespace estimator {
namespace {

std::string CsvField(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  return absl::StrCat("\"", absl::StrReplaceAll(text, {{"\"", "\"\""}}), "\"");
}

absl::StatusOr<Array> Find(const Prediction& row, const std::string& key) {
  const auto found = row.find(key);
  if (found != row.end()) return found->second;
  std::vector<std::string> names;
  for (const auto& [name, array] : row) names.push_back(name);
  return absl::InvalidArgumentError(
      absl::StrCat("the model has no prediction '", key, "', only ", absl::StrJoin(names, ", ")));
}

std::string IdOf(const Prediction& row, const std::string& id_key, int64_t number) {
  std::string id;
  if (const auto found = row.find(id_key); found != row.end()) {
    const absl::Span<const uint8_t> bytes = found->second.values<uint8_t>();
    id.assign(bytes.begin(), std::find(bytes.begin(), bytes.end(), 0));
  }
  return id.empty() ? absl::StrCat(number) : CsvField(id);
}

// Appends the fields of `columns`, each after a comma.
absl::Status AppendFields(const Prediction& row, const PredictionColumns& columns,
                          std::string* line) {
  if (columns.text != nullptr) {
    EST_ASSIGN_OR_RETURN(const std::string text, columns.text(row));
    absl::StrAppend(line, ",", CsvField(text));
    return absl::OkStatus();
  }
  EST_ASSIGN_OR_RETURN(const Array values, Find(row, columns.key));
  const auto num_names = static_cast<int64_t>(columns.names.size());
  if (values.num_elements() != num_names) {
    return absl::InvalidArgumentError(
        absl::StrCat("prediction '", columns.key, "' is ", values.TypeString(), ", but there are ",
                     num_names, " columns for it: ", absl::StrJoin(columns.names, ", ")));
  }
  for (int64_t i = 0; i < num_names; ++i) {
    if (values.dtype() == DType::kString) {
      absl::StrAppend(line, ",", CsvField(values.data<std::string>()[i]));
    } else if (IsFloating(values.dtype())) {
      absl::StrAppend(line, ",", static_cast<float>(values.AsDouble(i)));
    } else {
      absl::StrAppend(line, ",", static_cast<int64_t>(values.AsDouble(i)));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> WriteColumns(
    StringArg path, const std::function<absl::StatusOr<std::optional<Prediction>>()>& next,
    const std::vector<PredictionColumns>& columns) {
  std::string file;
  for (const PredictionColumns& some : columns) {
    if (some.text != nullptr && some.names.size() != 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("PredictionColumns::text fills one column, not ", some.names.size(), ": ",
                       absl::StrJoin(some.names, ", ")));
    }
    for (const std::string& name : some.names)
      absl::StrAppend(&file, file.empty() ? "" : ",", CsvField(name));
  }
  file += '\n';
  for (int64_t count = 0;; ++count) {
    EST_ASSIGN_OR_RETURN(const std::optional<Prediction> row, next());
    if (!row.has_value()) {
      EST_RETURN_IF_ERROR(WriteFileAtomically(path, file));
      return count;
    }
    std::string line;
    for (const PredictionColumns& some : columns)
      EST_RETURN_IF_ERROR(AppendFields(*row, some, &line));
    if (!line.empty()) line.erase(0, 1);  // the comma before the first field
    absl::StrAppend(&file, line, "\n");
  }
}

}  // namespace

absl::StatusOr<Array> ExampleId(StringArg id) {
  if (static_cast<int64_t>(id.size()) > kExampleIdBytes) {
    return absl::InvalidArgumentError(absl::StrCat("the id of the example has ", id.size(),
                                                   " bytes, but at most ", kExampleIdBytes,
                                                   " are possible"));
  }
  if (absl::string_view(id).find('\0') != absl::string_view::npos)
    return absl::InvalidArgumentError("the id of the example has a zero byte");
  Array array(DType::kUint8, Shape({kExampleIdBytes}));
  std::memset(array.data<uint8_t>(), 0, kExampleIdBytes);
  std::memcpy(array.data<uint8_t>(), id.data(), id.size());
  return array;
}

absl::StatusOr<int64_t> WritePredictionsCsv(
    StringArg path, const std::function<absl::StatusOr<std::optional<Prediction>>()>& next,
    const PredictionsCsvOptions& options) {
  if (!options.columns.empty()) return WriteColumns(path, next, options.columns);
  std::string header = "id,class", rows;
  int64_t count = 0;
  for (;; ++count) {
    EST_ASSIGN_OR_RETURN(const std::optional<Prediction> row, next());
    if (!row.has_value()) break;
    EST_ASSIGN_OR_RETURN(const Array label, Find(*row, options.class_key));
    absl::StrAppend(&rows, IdOf(*row, options.id_key, count), ",",
                    static_cast<int64_t>(label.AsDouble()) + options.first_label);
    if (!options.probabilities_key.empty()) {
      EST_ASSIGN_OR_RETURN(const Array probabilities, Find(*row, options.probabilities_key));
      for (int64_t i = 0; i < probabilities.num_elements(); ++i) {
        if (count == 0) absl::StrAppend(&header, ",probability_", i + options.first_label);
        absl::StrAppend(&rows, ",", static_cast<float>(probabilities.AsDouble(i)));
      }
    }
    rows += '\n';
  }
  EST_RETURN_IF_ERROR(WriteFileAtomically(path, absl::StrCat(header, "\n", rows)));
  return count;
}

}  // namespace estimator
