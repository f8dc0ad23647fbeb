// Keeps what a model predicted for each example of an evaluation, for people and tools/report:
// the files examples.jsonl and examples.png of model_dir.
//
// The first line of examples.jsonl describes the rest, and each other line is an example:
//   {"checkpoint":"model.ckpt-1000","classes":["cat","dog"],"multi_label":false}
//   {"label":[1],"scores":[0.25,0.75],"title":"dog [correct]","sure":0.75,"png":"iVBORw0KGgo..."}
// `label` is a class, or with multi_label a 0 or 1 for each class. `sure` is the score of the
// label; with multi_label the smallest of its classes. The first nine, the best and the worst
// examples have a picture, a PNG file in base64. A number that is not finite is null.
#ifndef MODELS_COMMON_EVALUATED_EXAMPLES_H_
#define MODELS_COMMON_EVALUATED_EXAMPLES_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "estimator/base/string_arg.h"
#include "estimator/estimator.h"

namespace estimator {

inline constexpr char kExamplesFile[] = "examples.jsonl";
inline constexpr size_t kNumShownExamples = 24;  // so many best and so many worst have pictures

struct ExamplesOptions {
  std::vector<std::string> classes = {};  // their names; empty: "0", "1", ...
  std::string scores = "probabilities";   // a prediction: f32 [C] for each example
  std::string picture = "image";          // a feature: u8 or f32 [H, W] or [H, W, 1 or 3]
};

// The names under which the label and the picture pass beside the model.
inline constexpr char kExampleLabel[] = "example/label", kExamplePicture[] = "example/picture";
// The dataset whose batches have these features too. Labels by name are those of the classes (0
// or 1), one label is the number of a class.
Dataset WithExampleFeatures(const Dataset& batches, const ExamplesOptions& options);

// Writes both files for all rows that `next` returns. Returns the titles of the first nine rows:
// "roses [correct]", or "roses [incorrect, should be tulips]".
// Errors: those of `next`; INVALID_ARGUMENT for a label that is no class, or a picture of another
// shape; those of writing.
absl::StatusOr<std::vector<std::string>> WriteExampleRows(
    StringArg model_dir, const std::function<absl::StatusOr<std::optional<Prediction>>()>& next,
    const ExamplesOptions& options = {});

// Predicts the examples of an input with labels, and writes both files to the model_dir.
template <typename Params>
absl::StatusOr<std::vector<std::string>> WriteExamples(
    EstimatorOf<Params>& estimator, const typename EstimatorOf<Params>::InputFnType& input_fn,
    const ExamplesOptions& options = {}) {
  const auto input = [&](const Params& params) -> absl::StatusOr<Dataset> {
    absl::StatusOr<Dataset> batches = input_fn(params);
    if (!batches.ok()) return batches;
    return WithExampleFeatures(*batches, options);
  };
  Predictions rows = estimator.Predict(
      input, {.predict_keys = {options.scores}, .pass_features = {kExampleLabel, kExamplePicture}});
  // All processes that train together predict; the chief writes.
  if (!estimator.peers().is_chief()) {
    EST_RETURN_IF_ERROR(rows.All().status());
    return std::vector<std::string>();
  }
  return WriteExampleRows(
      estimator.model_dir(), [&] { return rows.Next(); }, options);
}

}  // namespace estimator

#endif  // MODELS_COMMON_EVALUATED_EXAMPLES_H_
