// CompiledStep: a built model's step on a backend, compiled for all tensors that were ever fetched.
#ifndef ESTIMATOR_TRAINING_MODEL_COMPILED_STEP_H_
#define ESTIMATOR_TRAINING_MODEL_COMPILED_STEP_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "estimator/runtime/backend.h"
#include "estimator/training/input/feeder.h"
#include "estimator/training/model/built_model.h"

namespace estimator {

// Not thread-safe. The model and the backend outlive it.
class CompiledStep {
 public:
  CompiledStep(const BuiltModel& model, Backend& backend, std::vector<Operation> updates)
      : model_(model), backend_(backend), updates_(std::move(updates)) {}

  // Returns the index of the tensor's value among a step's fetches. After a new tensor, the next
  // executable() compiles the step again. There is one program for all fetches: a hook that watches
  // a tensor only every n steps then does not change the bits of the steps between.
  //   kSometimes: only the steps of runs that want the tensor compute it (GroupsOf).
  enum class When { kAlways, kSometimes };
  size_t Fetch(const Tensor& tensor, When when = When::kAlways);
  // The groups to want for the values of these fetches.
  FetchGroups GroupsOf(absl::Span<const size_t> fetches) const;
  size_t num_fetches() const { return fetches_.size(); }
  const Tensor& fetch(size_t index) const { return fetches_[index]; }
  // Steps also run these updates, from the next executable() on.
  void AlsoUpdate(const std::vector<Operation>& updates);
  // Errors: those of Backend::Compile; RESOURCE_EXHAUSTED names the batch size.
  absl::StatusOr<Executable*> executable();
  // Tells that the graph has changed: the next executable() compiles the step again.
  void GraphChanged() { executable_ = nullptr; }
  // Null before the step is compiled.
  const ExecutableInfo* info() const {
    return executable_ == nullptr ? nullptr : &executable_->info();
  }
  // The feeds of every replica. Errors: those of FeedsOf.
  absl::StatusOr<StepFeeds> Feeds(const StepInput& input) const;
  const BuiltModel& model() const { return model_; }

 private:
  const BuiltModel& model_;
  Backend& backend_;
  std::vector<Operation> updates_;
  std::vector<Tensor> fetches_;
  std::vector<FetchGroups> groups_;  // of each fetch; 0: always
  std::unique_ptr<Executable> executable_;
};

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_MODEL_COMPILED_STEP_H_
