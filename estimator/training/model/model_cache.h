// ModelCache: the models of evaluation and prediction. There is one for each shape of batch, such
// as that of the last, smaller batch.
#ifndef ESTIMATOR_TRAINING_MODEL_MODEL_CACHE_H_
#define ESTIMATOR_TRAINING_MODEL_MODEL_CACHE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/training/input/feeder.h"
#include "estimator/training/model/built_model.h"
#include "estimator/training/model/compiled_shapes.h"
#include "estimator/training/model/model_state.h"
#include "estimator/training/model/start_checkpoint.h"
#include "estimator/training/model/strategy.h"

namespace estimator {

// Built models and their compiled steps over one set of variables. Not thread-safe.
class ModelCache {
 public:
  // `warm_start` gives the first values if model_dir has no checkpoint. `learning_rate_scale` is
  // that of BuildOptions, for trials of a training. `max_shapes` is that of CompiledShapes.
  ModelCache(const Strategy& strategy, Mode mode, const std::string& model_dir,
             std::optional<int64_t> seed, std::optional<WarmStartSettings> warm_start,
             int64_t max_shapes, double learning_rate_scale = 1);

  // The checkpoint for a call: `checkpoint_path` if the caller gave one, else the newest of
  // model_dir. If there is none and nothing was trained, logs that the loop is `doing`
  // ("evaluating") first values. Errors: those of StartCheckpoint::Choose.
  absl::StatusOr<CheckpointChoice> ChooseCheckpoint(
      const std::optional<std::string>& checkpoint_path, const ModelState& trained,
      absl::string_view doing);

  // The model for inputs of this shape; builds it if there is none. In eval, the step updates the
  // model's own metrics. Errors: those of CompiledShapes::For and of building it.
  absl::StatusOr<CompiledShapePtr> For(const StepInput& input);
  // Gives the variables of `model` the values of the chosen checkpoint, or first values if there is
  // none. If the caller gave no path, values are copied from `trained` where it has the
  // checkpoint's values or is ahead of it. Returns the prefix of the checkpoint; see
  // StartCheckpoint::Start for a damaged one.
  absl::StatusOr<std::string> EnsureVariables(const BuiltModel& model,
                                              const CheckpointChoice& choice,
                                              const ModelState& trained);
  // Gives the variables of `model` the values that `trained` has now.
  absl::Status CopyVariables(const BuiltModel& model, const ModelState& trained);
  ModelState& state() { return state_; }

 private:
  // `trained`: null if the caller gave a path.
  absl::Status Load(const BuiltModel& model, CheckpointAttempt& attempt, const ModelState* trained);

  const Strategy& strategy_;
  const Mode mode_;
  const std::optional<int64_t> seed_;
  const std::optional<WarmStartSettings> warm_start_;
  const double learning_rate_scale_;
  const std::string model_dir_;
  StartCheckpoint start_;
  ModelState state_;
  bool has_values_ = false;
  double written_ = 0;  // when the checkpoint of these values was written, in seconds since 1970
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<Backend> single_backend_;
  CompiledShapes shapes_;
};

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_MODEL_MODEL_CACHE_H_
