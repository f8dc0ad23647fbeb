// EpochLoop: what a training by epochs adds to the training loop. The Trainer calls it:
//
//   Prepare        the model is built: what each step fetches, and where the training ends
//   Start          the variables have their values: continues with the epoch of the checkpoint
//   for each run of at most StepsLeft() steps:
//     BeforeRun, AddStep for each step, AfterRun    the last step of an epoch ends it
//   End
//
// It is the first hook of the training: a checkpoint of an epoch's last step has what the callbacks
// changed at its end. SaveState is part of each checkpoint.
#ifndef ESTIMATOR_TRAINING_LOOP_EPOCH_LOOP_H_
#define ESTIMATOR_TRAINING_LOOP_EPOCH_LOOP_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/training/callbacks/callback.h"
#include "estimator/training/epochs/epoch_state.h"
#include "estimator/training/epochs/history.h"
#include "estimator/training/hooks/hook.h"
#include "estimator/training/hooks/period.h"
#include "estimator/training/loop/eval_result.h"
#include "estimator/training/loop/train_metrics.h"
#include "estimator/training/model/built_model.h"

namespace estimator {

struct EpochLoopOptions {
  // What ends an epoch, and what is kept of it.
  enum class Kind {
    kTrainEpochs,       // its steps; the history is in model_dir, and another process continues
    kTrain,             // one pass over the data, or the end of the training
    kTrainAndEvaluate,  // an evaluation: EndEpoch is called from outside
  };
  Kind kind = Kind::kTrain;
  int64_t epochs = callbacks::Context::kUnknown;
  int64_t initial_epoch = 0;
  std::optional<int64_t> steps_per_epoch = std::nullopt;  // none: one pass over the data
  // The steps of a pass that the input knows itself; -1: not known, the sizes say it.
  std::shared_ptr<const int64_t> pass_steps = nullptr;
  Hooks hooks = {};  // the callbacks among them are called
  std::function<absl::StatusOr<EvalResult>(Session&)> validate = nullptr;
  int64_t validation_freq = 1;
};

// Not thread-safe.
class EpochLoop : public SessionRunHook {
 public:
  explicit EpochLoop(EpochLoopOptions options);
  bool has_callbacks() const { return !callbacks_.empty(); }

  struct Model {
    const BuiltModel& model;
    Backend& backend;
    bool broadcast = false;  // all replicas compute the same
    InputSizes sizes;
    int64_t global_step = 0;
    const std::string& model_dir;
    std::string state;  // of the checkpoint that the variables are from; empty: none
  };
  // Errors: those of TrainMetrics; FAILED_PRECONDITION if the steps of an epoch are not known;
  // those of reading the history.
  absl::Status Prepare(const Model& model);
  // The global step of the last epoch's end; INT64_MAX if it is not known.
  int64_t target_step() const;
  absl::Status Start(Session& session);
  // Steps to the end of the epoch. 0: the training is over.
  int64_t StepsLeft() const;
  // Whether all epochs have been trained.
  bool over() const { return state_.epoch >= options_.epochs; }
  // As TrainMetrics::AddStep.
  absl::Status AddStep(const std::vector<Array>& values, int64_t examples);

  std::vector<Tensor> BeforeRun(RunContext& context) override;
  absl::Status AfterRun(RunContext& context, const RunValues& values) override;
  absl::Status End(Session& session) override;

  // Calls OnTrainEnd. Only for kTrainAndEvaluate, which ends its last epoch after End.
  absl::Status Finish();
  // Ends the epoch. `evaluated` is its validation, if that was made outside.
  absl::Status EndEpoch(Session& session, const EvalResult* evaluated = nullptr);
  bool stopped() const { return context_.stop_training(); }
  bool keeps_history() const { return options_.kind == EpochLoopOptions::Kind::kTrainEpochs; }
  // For a checkpoint; empty if another process cannot continue the epochs.
  absl::StatusOr<std::string> SaveState() const;
  // Of the epochs since initial_epoch.
  History history() const;

 private:
  absl::Status BeginEpoch();
  absl::Status Validate(Session& session, Logs& logs, bool& interrupted);
  void LogEpoch(const EpochRecord& record) const;
  absl::Status ForEach(const std::function<absl::Status(callbacks::Callback&)>& call);
  double SecondsSinceStart() const;

  const EpochLoopOptions options_;
  std::vector<std::shared_ptr<callbacks::Callback>> callbacks_;
  std::unique_ptr<TrainMetrics> metrics_;
  std::string model_dir_;
  int64_t start_step_ = 0;  // the global step before the first run of this process
  EpochState state_;        // without the totals, which metrics_ has once it has started
  bool started_ = false;
  bool bad_loss_ = false;
  int64_t steps_per_epoch_ = 0;
  std::chrono::steady_clock::time_point clock_start_;  // of the seconds that state_ lacks
  History history_;                                    // what model_dir has
  callbacks::Context context_;
  absl::Status error_;  // of a callback in BeforeRun, which cannot return it
};

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_LOOP_EPOCH_LOOP_H_
