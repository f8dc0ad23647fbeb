// Trial: a training beside that of an Estimator, for the finders (finders.h). Not for users.
#ifndef ESTIMATOR_TRAINING_TRIAL_H_
#define ESTIMATOR_TRAINING_TRIAL_H_

#include <cmath>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "estimator/base/interrupt.h"
#include "estimator/base/saturating.h"
#include "estimator/base/status.h"
#include "estimator/checkpoint/latest_checkpoint.h"
#include "estimator/nn/train/settable_rate.h"
#include "estimator/runtime/initialize_variables.h"
#include "estimator/training/estimator_base.h"
#include "estimator/training/input/prefetch_steps.h"
#include "estimator/training/model/model_cache.h"
#include "estimator/training/model/replica_reduce.h"

namespace estimator {

// It has a strategy, variables and an input of its own, and writes nothing. Open, Next and Step
// return CANCELLED after a stop request (base/interrupt.h).
class Trial {
 public:
  // Opens the input at its beginning.
  static absl::StatusOr<std::unique_ptr<Trial>> Open(const EstimatorBase& estimator,
                                                     const InputFn& input,
                                                     Mode mode = Mode::kTrain) {
    EST_RETURN_IF_ERROR(estimator.status_);
    EST_RETURN_IF_ERROR(CheckNotInterrupted());
    estimator.trainer_->WaitForCheckpoint();
    auto trial = std::unique_ptr<Trial>(new Trial(estimator, mode));
    const Strategy& strategy = *trial->strategy_;
    EST_RETURN_IF_ERROR(strategy.Validate(mode));
    // As for the Trainer's input: shuffles without a seed take this one.
    SetDefaultSeed(estimator.config().tf_random_seed);
    absl::StatusOr<std::unique_ptr<Feeder>> feeder =
        strategy.OpenInput(mode, PrefetchSteps(input, strategy.batch_size(mode)));
    SetDefaultSeed(std::nullopt);
    EST_ASSIGN_OR_RETURN(trial->input_, std::move(feeder));
    EST_ASSIGN_OR_RETURN(const StepInput* const first, trial->input_->Peek());
    if (first == nullptr)
      return InvalidArgument("the input is empty: ", trial->input_->description().pipeline);
    trial->first_ = *first;
    return trial;
  }

  const BuiltModel& model() const { return *entry_->model; }
  const StepInput& first() const { return first_; }  // of the input
  int64_t examples_per_epoch() const { return input_->description().examples_per_epoch; }
  // The rows of a replica's part of first(), 0 without a batch axis, and the number of parts.
  int64_t rows() const {
    return BatchAxis(strategy_->batch_axis(mode_)).NumRows(first_.replicas[0]);
  }
  int64_t parts() const { return strategy_->broadcast(mode_) ? 1 : strategy_->num_replicas(mode_); }

  // The next step that has the shape of the first one; nullopt at the end.
  absl::StatusOr<std::optional<StepInput>> Next() {
    const std::vector<InputSlot> slots = SlotsOf(first_.replicas[0], mode_);
    while (true) {
      EST_RETURN_IF_ERROR(CheckNotInterrupted());
      EST_ASSIGN_OR_RETURN(std::optional<StepInput> next, input_->Next());
      if (!next.has_value() || HasSlots(next->replicas[0], slots, mode_)) return next;
    }
  }
  // first() with so many rows for each replica, which repeat its own.
  absl::StatusOr<StepInput> FirstWithRows(int64_t rows) const {
    const BatchAxis axis(strategy_->batch_axis(mode_));
    const auto copies = static_cast<size_t>(CeilOfRatio(rows, this->rows()));
    EST_ASSIGN_OR_RETURN(const Element repeated,
                         axis.Join(std::vector<Element>(copies, first_.replicas[0])));
    StepInput step = first_;
    for (Element& element : step.replicas) {
      EST_ASSIGN_OR_RETURN(element, axis.Slice(repeated, 0, rows, axis.NumRows(repeated)));
    }
    return step;
  }
  // Builds the model for steps of this shape. Nothing is computed.
  absl::Status Build(const StepInput& step) {
    EST_ASSIGN_OR_RETURN(entry_, models_.For(step));
    if (mode_ != Mode::kTrain) return absl::OkStatus();
    std::vector<Operation> updates = model().graph->update_ops();
    updates.push_back(model().spec.train_op);
    entry_->step->AlsoUpdate(updates);
    entry_->step->Fetch(model().spec.loss);
    return absl::OkStatus();
  }
  absl::StatusOr<Executable*> Compile() { return entry_->step->executable(); }
  // Gives the variables of the model their values.
  absl::Status LoadVariables() {
    EST_ASSIGN_OR_RETURN(const auto latest, LatestCheckpoint(estimator_.model_dir()));
    const CheckpointChoice choice{.by = CheckpointChoice::By::kNewest,
                                  .prefix = latest.value_or("")};
    EST_RETURN_IF_ERROR(
        models_.EnsureVariables(model(), choice, estimator_.trainer_->state()).status());
    return InitializeVariables(*model().graph, models_.state().store(), /*only_local=*/true);
  }
  // The steps that the loaded variables have been trained for; 0: first values or a warm start.
  int64_t global_step() { return models_.state().global_step(); }
  // The rate of the optimizer: scale_learning_rate multiplies it. Call it after LoadVariables.
  absl::Status SetLearningRate(double rate) {
    if (!model().graph->FindVariable(train::kSetLearningRate).has_value()) {
      EST_RETURN_IF_ERROR(train::MakeLearningRateSettable(*model().graph));
      entry_->step->GraphChanged();
    }
    return models_.state().store().Set(train::kSetLearningRate,
                                       Array::Scalar(static_cast<float>(rate * rate_scale_)));
  }
  // Makes a step of training and returns its loss. If that is not finite, no variable changes.
  absl::StatusOr<double> Step(const StepInput& step) {
    EST_RETURN_IF_ERROR(CheckNotInterrupted());
    EST_ASSIGN_OR_RETURN(StepFeeds feeds, entry_->step->Feeds(step));
    EST_ASSIGN_OR_RETURN(Executable* const executable, Compile());
    double loss = 0;
    const auto outfeed = [&](int64_t, const StepFetches& fetches) {
      loss = ReduceReplicas(FetchOfReplicas(fetches, 0, parts() == 1)).AsDouble();
      return std::isfinite(loss) ? absl::OkStatus() : InvalidArgument("the loss is ", loss);
    };
    const auto ran = executable->RunLoop(1, SameFeeds(std::move(feeds)), outfeed);
    if (!ran.ok() && std::isfinite(loss)) return ran.status();
    return loss;
  }

 private:
  static absl::Status CheckNotInterrupted() {
    return InterruptRequested() ? absl::CancelledError("interrupted in a trial before the training")
                                : absl::OkStatus();
  }
  Trial(const EstimatorBase& estimator, Mode mode)
      : estimator_(estimator),
        mode_(mode),
        strategy_(estimator.make_strategy_(nullptr)),
        rate_scale_(estimator.config().scale_learning_rate && mode == Mode::kTrain
                        ? static_cast<double>(strategy_->num_replicas(mode) /
                                              estimator.config().accumulate_steps)
                        : 1),
        models_(*strategy_, mode, estimator.model_dir(), estimator.config().tf_random_seed,
                estimator.warm_start_, /*max_shapes=*/0, rate_scale_) {}

  const EstimatorBase& estimator_;
  const Mode mode_;
  const std::shared_ptr<Strategy> strategy_;
  const double rate_scale_;
  ModelCache models_;
  std::unique_ptr<Feeder> input_;
  StepInput first_;
  CompiledShapePtr entry_;
};

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_TRIAL_H_
