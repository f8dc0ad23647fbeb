// The state of one call of Trainer::Train. Only the files of Trainer include it.
#ifndef ESTIMATOR_TRAINING_LOOP_TRAINER_LOOP_H_
#define ESTIMATOR_TRAINING_LOOP_TRAINER_LOOP_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/training/hooks/hook.h"
#include "estimator/training/loop/step_runner.h"
#include "estimator/training/loop/trainer.h"
#include "estimator/training/model/first_non_finite.h"

namespace estimator {

// The session of one Train call, for its hooks.
class Trainer::TrainSession : public Session {
 public:
  TrainSession(Trainer& trainer, int64_t examples_per_step)
      : last(trainer.main_),
        trainer_(trainer),
        examples_per_step_(examples_per_step),
        start_step_(trainer.state_.global_step()) {}

  const Graph& graph() const override { return *trainer_.main_->model->graph; }
  VariableStore& variables() override { return trainer_.state_.store(); }
  int64_t global_step() const override { return trainer_.state_.global_step(); }
  const std::string& model_dir() const override { return trainer_.model_dir_; }
  int64_t steps_per_run() const override { return trainer_.strategy_.iterations_per_loop(); }
  int64_t examples_per_step() const override { return examples_per_step_; }
  absl::StatusOr<std::string> SaveCheckpoint() override {
    const AddSeconds saving(times().checkpoint);
    return trainer_.SaveCheckpoint(TrainCheckpoints::When::kNow);
  }
  std::vector<StageTime> InputStageTimes() const override {
    return trainer_.input_.open().StageTimes();
  }
  const ExecutableInfo* program_info() const override { return trainer_.main_->step->info(); }
  absl::StatusOr<std::string> SaveCheckpointInBackground(
      const std::function<absl::Status(const std::string&)>& committed) override {
    const AddSeconds saving(times().checkpoint);
    return trainer_.SaveCheckpoint(TrainCheckpoints::When::kInBackground, committed);
  }
  absl::Status FinishCheckpoint() override {
    const AddSeconds saving(times().checkpoint);
    return trainer_.FinishCheckpoint();
  }
  absl::StatusOr<double> LearningRate() override { return trainer_.LearningRate(*this); }
  absl::Status SetLearningRate(double rate) override {
    EST_ASSIGN_OR_RETURN(const bool changed, trainer_.SetLearningRate(rate));
    // The peers agree on the rate alone.
    return changed ? SaveAgain() : absl::OkStatus();
  }
  absl::Status VariablesWereSet() override {
    trainer_.variables_set_ = true;
    return SaveAgain();
  }
  absl::Status SaveAgain() {
    // The saver may have saved this step before the hook was called.
    const bool saved = global_step() > start_step_ && !trainer_.state_.checkpoint().empty();
    return saved ? SaveCheckpointInBackground(nullptr).status() : absl::OkStatus();
  }
  int64_t restored_step() const override { return trainer_.restored_step_; }
  std::string FirstNonFiniteTensor() override {
    const std::string mine =
        estimator::FirstNonFiniteTensor(*last->model, *trainer_.backend_, last_feeds);
    const absl::StatusOr<std::vector<std::string>> all =
        trainer_.peers_.Exchange("the first tensor that is not finite", absl::OkStatus(), mine);
    if (!all.ok() || trainer_.peers_.alone()) return mine;
    // A sum over replicas has the NaN of another rank: the first one in the order of the graph
    // counts. A text in parentheses names no tensor.
    std::string first = mine;
    int first_id = std::numeric_limits<int>::max();
    for (size_t i = 0; i < all->size(); ++i) {
      const std::string& text = (*all)[i];
      const Tensor tensor = last->model->graph->FindTensor(text.substr(0, text.find(' ')));
      if (!tensor.valid() || tensor.node()->id() >= first_id) continue;
      first_id = tensor.node()->id();
      first = absl::StrCat(text, " on ", trainer_.peers_.Name(static_cast<int>(i)));
    }
    return first;
  }
  int rank() const override { return trainer_.peers_.rank(); }

  CompiledShapePtr last;  // of the step that ran last
  StepFeeds last_feeds;   // its input

 private:
  Trainer& trainer_;
  const int64_t examples_per_step_;
  const int64_t start_step_;
};

// The state of one Train call.
struct Trainer::Loop {
  TrainSession& session;
  StepRunner& runner;
  int64_t target_step;
  int64_t first_step;
  int64_t run_start;  // the step before last_run
  StepRun last_run;
  bool interrupted;  // with peers: one of them was asked to stop
};

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_LOOP_TRAINER_LOOP_H_
