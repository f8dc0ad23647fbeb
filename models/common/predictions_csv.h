// Writes predictions with the ids of their examples to a CSV file, as submissions need it:
//   id,class
//   ILSVRC2012_val_00000001.JPEG,66
// or with columns of one's own:
//   image_id,healthy,rust
//   Test_0,0.25,0.75
#ifndef MODELS_COMMON_PREDICTIONS_CSV_H_
#define MODELS_COMMON_PREDICTIONS_CSV_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "estimator/array/array.h"
#include "estimator/base/string_arg.h"
#include "estimator/estimator.h"

namespace estimator {

// Columns that one prediction fills.
struct PredictionColumns {
  // The columns in the header: one for each element of the prediction.
  std::vector<std::string> names;
  // A prediction, or one of PredictOptions::pass_features: numbers, with six digits, or strings.
  std::string key = "";
  // Not null: gives the text of the only column, in place of `key`.
  std::function<absl::StatusOr<std::string>(const Prediction& row)> text = nullptr;
};

struct PredictionsCsvOptions {
  std::string class_key = "classes";  // i64 []: the predicted class, from 0
  std::string id_key = "example_id";  // u8 [kExampleIdBytes], see ExampleId; may be absent
  // f32 [C]. Not "": a column probability_<label> for each class follows.
  std::string probabilities_key = "";
  int64_t first_label = 0;  // is added to the class: the label of the first class in the data
  // Not empty: the file has these columns, and the options above do not apply.
  //   {{.names = {"image_id"}, .key = "image_name"},
  //    {.names = {"healthy", "rust"}, .key = "probabilities"}}
  std::vector<PredictionColumns> columns = {};
};

// The longest id of an example, in bytes.
inline constexpr int64_t kExampleIdBytes = 256;

// Returns an id as u8 [kExampleIdBytes], with zeros behind it: a feature that a model can pass on.
// Errors: INVALID_ARGUMENT if the id is longer or has a zero byte.
absl::StatusOr<Array> ExampleId(StringArg id);

// Writes all predictions that `next` returns, and returns their number. The file is replaced
// atomically, after the last prediction. Fields are quoted as in RFC 4180.
//   next: Predictions::Next, for single examples.
// An example without an id, or with an empty one, has the number of its prediction, from 0.
// Errors: those of `next`; INVALID_ARGUMENT if a prediction of the options is missing, or has
// another number of elements than columns; those of WriteFileAtomically.
absl::StatusOr<int64_t> WritePredictionsCsv(
    StringArg path, const std::function<absl::StatusOr<std::optional<Prediction>>()>& next,
    const PredictionsCsvOptions& options = {});

}  // namespace estimator

#endif  // MODELS_COMMON_PREDICTIONS_CSV_H_
