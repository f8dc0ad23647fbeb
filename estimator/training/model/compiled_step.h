// CompiledStep: a built model's step on a backend, compiled for the union of all that was ever
// asked to be fetched.
#ifndef ESTIMATOR_TRAINING_MODEL_COMPILED_STEP_H_
#define ESTIMATOR_TRAINING_MODEL_COMPILED_STEP_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "estimator/runtime/backend.h"
#include "estimator/training/input/step_input.h"
#include "estimator/training/model/built_model.h"

namespace estimator {

// Not thread-safe. The model and the backend outlive it.
class CompiledStep {
 public:
  CompiledStep(const BuiltModel& model, Backend& backend, std::vector<Operation> updates)
      : model_(model), backend_(backend), updates_(std::move(updates)) {}

  // The fetch's index. A tensor that was not asked for before means a new compilation at the next
  // executable(): one program for everything, so that watching a tensor does not change the bits of
  // another step.
  size_t Fetch(const Tensor& tensor);
  size_t num_fetches() const { return fetches_.size(); }
  absl::StatusOr<Executable*> executable();
  // The feeds of every replica.
  absl::StatusOr<StepFeeds> Feeds(const StepInput& input) const;
  const BuiltModel& model() const { return model_; }

 private:
  const BuiltModel& model_;
  Backend& backend_;
  const std::vector<Operation> updates_;
  std::vector<Tensor> fetches_;
  std::unique_ptr<Executable> executable_;
};

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_MODEL_COMPILED_STEP_H_
