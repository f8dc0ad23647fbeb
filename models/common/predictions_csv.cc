#include "models/common/predictions_csv.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
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
  return absl::InvalidArgumentError(absl::StrCat("the model has no prediction '", key, "'"));
}

std::string IdOf(const Prediction& row, const std::string& id_key, int64_t number) {
  std::string id;
  if (const auto found = row.find(id_key); found != row.end()) {
    const absl::Span<const uint8_t> bytes = found->second.values<uint8_t>();
    id.assign(bytes.begin(), std::find(bytes.begin(), bytes.end(), 0));
  }
  return id.empty() ? absl::StrCat(number) : CsvField(id);
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
