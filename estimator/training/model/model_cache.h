// ModelCache: the models of evaluation and prediction, one for each input shape: that of full
// batches, and that of the last, smaller one.
#ifndef ESTIMATOR_TRAINING_MODEL_MODEL_CACHE_H_
#define ESTIMATOR_TRAINING_MODEL_MODEL_CACHE_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/checkpoint/latest_checkpoint.h"
#include "estimator/training/model/built_model.h"
#include "estimator/training/model/compiled_step.h"
#include "estimator/training/model/model_state.h"
#include "estimator/training/model/strategy.h"

namespace estimator {

// Built models and their compiled steps over one set of variables. Not thread-safe.
class ModelCache {
 public:
  // `warm_start`: where first values come from, if it is given.
  ModelCache(const Strategy& strategy, Mode mode, const std::string& model_dir,
             std::optional<int64_t> seed,
             std::optional<WarmStartSettings> warm_start = std::nullopt);

  // The newest checkpoint of model_dir that is not known to be damaged; empty if there is none.
  absl::StatusOr<std::string> NewestOrNone();

  struct Entry {
    std::unique_ptr<BuiltModel> model;
    std::unique_ptr<CompiledStep> step;
    Backend* backend = nullptr;
  };
  // The entry for this input, built where it is new. In eval, the step updates the model's own
  // metrics.
  absl::StatusOr<Entry*> For(const StepInput& input);
  // Gives the variables of `graph` the values of `checkpoint`: from `trained` where that is in step
  // with it, else from disk; empty: first values. Where training writes no checkpoints and has gone
  // on from this one (or from nothing), what it learnt counts; null: the caller named a checkpoint,
  // and gets that. A newest checkpoint that turns out damaged gives way to the one before, with a
  // warning. Returns the checkpoint that it was in the end.
  absl::StatusOr<std::string> EnsureVariables(const BuiltModel& model, std::string checkpoint,
                                              const ModelState* trained);
  ModelState& state() { return state_; }

 private:
  absl::Status Load(const BuiltModel& model, const std::string& checkpoint,
                    const ModelState* trained);

  const Strategy& strategy_;
  const Mode mode_;
  const std::optional<int64_t> seed_;
  const std::optional<WarmStartSettings> warm_start_;
  NewestCheckpoint newest_;
  ModelState state_;
  bool has_values_ = false;
  double written_ = 0;  // when the checkpoint of these values was, in seconds since 1970
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<Backend> single_backend_;
  std::vector<std::unique_ptr<Entry>> entries_;
};

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_MODEL_MODEL_CACHE_H_
