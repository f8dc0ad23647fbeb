// Predictions: a lazy sequence of one row for each example, in the input's order.
#ifndef ESTIMATOR_TRAINING_LOOP_PREDICTIONS_H_
#define ESTIMATOR_TRAINING_LOOP_PREDICTIONS_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/array/array.h"
#include "estimator/base/status_or_range.h"
#include "estimator/training/hooks/hook.h"
#include "estimator/training/input/input_fn.h"
#include "estimator/training/loop/run_config.h"
#include "estimator/training/model/model_cache.h"
#include "estimator/training/model/strategy.h"
#include "estimator/training/peers/peers.h"

namespace estimator {

struct PredictOptions {
  // The predictions to return. Empty: all predictions of the spec.
  std::vector<std::string> predict_keys = {};
  // Features of input_fn that pass beside the model: model_fn does not get them, and each row has
  // them as they are, under their names. So rows keep the names of their images, which are strings
  // that no device takes. Of any dtype, with the examples on axis 0.
  std::vector<std::string> pass_features = {};
  Hooks hooks = {};
  // nullopt: as in EvaluateOptions.
  std::optional<std::string> checkpoint_path = std::nullopt;
  // False: Next returns a batch at a time, whose arrays may differ in their first axis.
  bool yield_single_examples = true;
};

// Arrays by name, of one example (without the batch axis) or of one batch. A bare tensor has the
// name "".
using Prediction = std::map<std::string, Array>;

// Not thread-safe. The estimator that made the sequence outlives it.
class Predictions {
 public:
  // The next row, or the next batch; nullopt at the end. The first call builds the model and reads
  // the checkpoint.
  // Errors: those of the input, of the model and of hooks; INVALID_ARGUMENT if a hook asks for a
  // tensor that the model for batches of another shape does not have, or if none of predict_keys
  // is a prediction, or if rows are asked for and the predictions differ in their first axis, or if
  // one of pass_features is a prediction too; NOT_FOUND if it is no feature. After an error, every
  // call returns that error.
  absl::StatusOr<std::optional<Prediction>> Next();
  // All rows or batches that are left.
  StatusOrRange<std::vector<Prediction>> All();

  ~Predictions();
  Predictions(Predictions&&) noexcept;

 private:
  friend class PredictLoop;
  struct State;
  Predictions(std::unique_ptr<State> state, absl::Status status);
  absl::Status status_;
  std::unique_ptr<State> state_;  // null after construction with an error
};

// Keeps its programs between calls. Not thread-safe.
class PredictLoop {
 public:
  // If the strategy divides a prediction among the peers, all of them make the same calls of Next,
  // and get the same rows.
  PredictLoop(const Strategy& strategy, const RunConfig& config, Peers& peers,
              const std::optional<WarmStartSettings>& warm_start = std::nullopt);
  Predictions Predict(const InputFn& input_fn, PredictOptions options, const ModelState& trained);
  // A sequence whose Next returns `status`.
  static Predictions Failed(absl::Status status);

 private:
  friend class Predictions;
  const Strategy& strategy_;
  Peers& peers_;
  const bool divided_;  // among the peers
  const std::string model_dir_;
  ModelCache models_;
};

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_LOOP_PREDICTIONS_H_
