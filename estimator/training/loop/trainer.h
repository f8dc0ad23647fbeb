// Trainer: the training loop. It keeps the built models, their compiled steps, the variables and
// the open input between calls, so that another call costs no more than its steps.
#ifndef ESTIMATOR_TRAINING_LOOP_TRAINER_H_
#define ESTIMATOR_TRAINING_LOOP_TRAINER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "estimator/training/hooks/hook.h"
#include "estimator/training/input/feeder.h"
#include "estimator/training/input/input_fn.h"
#include "estimator/training/loop/run_config.h"
#include "estimator/training/loop/train_checkpoints.h"
#include "estimator/training/loop/train_input.h"
#include "estimator/training/loop/train_length.h"
#include "estimator/training/model/built_model.h"
#include "estimator/training/model/compiled_shapes.h"
#include "estimator/training/model/model_state.h"
#include "estimator/training/model/start_checkpoint.h"
#include "estimator/training/model/strategy.h"
#include "estimator/training/peers/peers.h"

namespace estimator {

class EpochLoop;  // training/loop/epoch_loop.h

struct TrainOptions {
  Hooks hooks = {};
  SavingListeners saving_listeners = {};
  // Of TrainEpochs and TrainAndEvaluate, which set it. Null: if a hook is a callbacks::Callback, an
  // epoch is a pass over the data.
  std::shared_ptr<EpochLoop> epochs = nullptr;
};

// Not thread-safe.
class Trainer {
 public:
  // `strategy` and `peers` outlive the trainer; `config` is valid and has a model_dir. `warm_start`
  // gives the first values if model_dir has no checkpoint. All peers train; the chief of them
  // decides how long a run is, saves, writes events and evaluates.
  Trainer(Strategy& strategy, RunConfig config, Peers& peers,
          std::optional<WarmStartSettings> warm_start = std::nullopt);
  ~Trainer();

  // Trains from the newest checkpoint that can be read. Without checkpoints, another call continues
  // with the variables in memory. An input that an earlier call read to its end begins again.
  // If global_step is max_steps already, checks that the checkpoint is whole and of this model.
  // The checkpoints are whole when this returns.
  // Errors: FAILED_PRECONDITION if another run trains in model_dir (train_lock.h); CANCELLED after
  // an interrupt, when everything is saved; those of the input, of hooks, event files and
  // host_call, after a save; those of the model; INVALID_ARGUMENT for a loss that is not finite,
  // naming the step and the first tensor that is not.
  // Source: TF 2.15 Estimator.train. Unlike it, this saves before it returns an error that leaves
  // the variables whole, writes the input's position into each checkpoint, does not save a restored
  // step again, and stops at a loss of Inf as it does at NaN.
  absl::Status Train(const InputFn& input_fn, const TrainLength& length,
                     const TrainOptions& options);

  // Whether a call of Train is running: its hooks may evaluate.
  bool in_call() const { return in_call_; }
  // The variables in memory, which an evaluation copies instead of reading them from disk.
  const ModelState& state() const { return state_; }
  // Of the input that was opened last; nothing is known before Train.
  const InputSizes& sizes() const { return sizes_; }
  // Waits for the checkpoint that is being written, for readers of model_dir. Thread-safe.
  void WaitForCheckpoint() { checkpoints_.Wait(); }

 private:
  class TrainSession;
  struct Loop;

  // How a call of Train starts.
  struct Start {
    enum class Action {
      kTrain,
      kSkip,        // global_step is max_steps already
      kInputEmpty,  // there is no step to run
    };
    Action action = Action::kTrain;
    std::string checkpoint;                    // the newest; empty: none
    MemoryState memory = MemoryState::kOther;  // before the checkpoint is restored
    int64_t step = 0;                          // the global step
    int64_t examples_per_step = 0;
  };

  // The length in steps. One in epochs or examples needs the sizes of the input.
  absl::StatusOr<TrainLength> InSteps(const InputFn& input_fn, const TrainLength& length);
  InputSizes SizesOf(const StepInput& first);
  absl::Status TrainOnce(const InputFn& input_fn, const TrainLength& length,
                         const TrainOptions& options);
  // TrainOnce without the wait for the last checkpoint. `may_train` is as in PrepareStart.
  absl::Status TrainLocked(const InputFn& input_fn, const TrainLength& length,
                           const TrainOptions& options, const absl::Status& may_train);
  // Makes input, model and variables match the newest checkpoint that can be read. If there is
  // anything to train, `may_train` is returned if it is not OK.
  absl::StatusOr<Start> PrepareStart(const InputFn& input_fn, const TrainLength& length,
                                     const absl::Status& may_train);
  // Makes options.epochs, or that of its callbacks, the epochs of this call, and says how far they
  // go: the global step.
  absl::StatusOr<int64_t> PrepareEpochs(const Start& start, const TrainOptions& options);
  absl::StatusOr<Start> PrepareFrom(CheckpointAttempt& attempt, const InputFn& input_fn,
                                    const TrainLength& length, const absl::Status& may_train);
  absl::Status CheckIsOfModel(CheckpointAttempt& attempt, const InputFn& input_fn);
  // Makes the model for batches as `first` the main one of this call.
  absl::Status EnsureModel(const StepInput& first);
  absl::StatusOr<CompiledShapePtr> BuildShape(const StepInput& input);
  // The model for batches as `input`, with what was added to the main one since it was built.
  absl::StatusOr<CompiledShapePtr> ShapeFor(const StepInput& input);
  absl::Status EnsureVariables(const Start& start, CheckpointAttempt& attempt);
  // The same for variables that a hook's Begin added.
  absl::Status EnsureVariablesOfHooks(const Start& start);
  // Restores the variables, among them a learning rate that a hook set.
  absl::Status RestoreVariables(const std::string& prefix);
  // As the methods of Session. The second one returns whether the rate that is set has changed.
  absl::StatusOr<double> LearningRate(Session& session);
  absl::StatusOr<bool> SetLearningRate(double rate);
  absl::Status MakeRateSettable();
  // The factor of RunConfig.scale_learning_rate.
  double RateScale() const;
  // After train::MakeLearningRateSettable of the main model.
  absl::Status RateBecameSettable();
  // Saves the steps before an error that ends training, if the variables are whole, and returns the
  // error. TensorFlow's Estimator loses the steps since its last checkpoint.
  absl::Status SaveBeforeError(const absl::Status& status, const Loop& loop);
  absl::Status RunSteps(Loop& loop);
  // The steps of the next run, as this process sees it; 0: the training ends.
  absl::StatusOr<int64_t> StepsOfNextRun(const Loop& loop);
  absl::Status RunOnce(Loop& loop, int64_t num_steps);
  // Whether a step also computes the metrics of an epoch.
  bool by_epochs() const { return epochs_ != nullptr || follows_epochs_; }
  // What RunOnce needs of each step: the loss, and the tensors of the epochs' metrics.
  std::vector<Tensor> StepFetches(const ModelSpec& spec) const;
  absl::StatusOr<std::string> SaveCheckpoint(
      TrainCheckpoints::When when,
      const std::function<absl::Status(const std::string&)>& committed = nullptr);
  absl::Status FinishCheckpoint();
  // What the peers agree on (trainer_peers.cc). Without peers, nothing changes.
  // How the call starts, as the chief does it, with the sizes of the whole input.
  absl::StatusOr<Start> AgreeOnStart(absl::StatusOr<Start> prepared);
  absl::StatusOr<InputSizes> SumSizes(const absl::StatusOr<const StepInput*>& first);
  // The chief's target step; 0: there is nothing to train.
  absl::StatusOr<int64_t> AgreeOnTarget(const absl::StatusOr<int64_t>& target);
  // That all compute the same from the same values.
  absl::Status AgreeOnProgram(int64_t target_step);
  absl::StatusOr<int64_t> AgreeOnNextRun(Loop& loop, const absl::StatusOr<int64_t>& mine);
  // The learning rate that a hook of one of them has set.
  absl::Status AgreeOnRate(Loop& loop, const std::vector<float>& rates);
  // The variables, if a hook has set some (VariablesWereSet): those of the first such rank.
  //   set: whether one did, by rank.
  absl::Status AgreeOnVariables(TrainSession& session, const std::vector<bool>& set);
  // After the last checkpoint.
  absl::Status AgreeOnEnd(TrainSession& session, const absl::Status& mine);
  // An error of a lost peer, with what there is to do.
  absl::Status ExplainLostPeer(const absl::Status& status) const;
  // The rate that a hook has set; negative: none.
  float RateInStore() const;
  // The result of a checkpoint in the background. After an error the variables are at none.
  absl::Status CheckSaved(const absl::Status& saved);

  Strategy& strategy_;
  const RunConfig config_;
  Peers& peers_;
  const std::optional<WarmStartSettings> warm_start_;
  const std::string model_dir_;
  StartCheckpoint start_checkpoint_;
  ModelState state_;
  std::unique_ptr<Backend> backend_;
  CompiledShapes shapes_;
  // That of the call's first batch, whose graph hooks see and checkpoints have; null before Train.
  CompiledShapePtr main_;
  TrainInput input_;
  std::string input_position_;         // of the first step whose updates the variables do not have
  std::shared_ptr<EpochLoop> epochs_;  // of this call of Train; null: it has none
  std::string epoch_state_;            // of the variables in memory; empty: not by epochs
  InputSizes sizes_;                   // of the input that was opened last
  int64_t restored_step_ = -1;         // as Session::restored_step
  TrainCheckpoints checkpoints_;
  std::string known_to_be_of_model_;  // a checkpoint that was checked when training was skipped
  bool in_call_ = false;
  bool failed_in_step_ = false;  // the peers may wait in a step for this process
  // A call by epochs, whose EpochLoop is the chief's: this process computes what that one needs.
  bool follows_epochs_ = false;
  int64_t local_examples_ = 0;                // of a step, from this process's input
  float agreed_rate_ = 0;                     // RateInStore of all peers
  bool variables_set_ = false;                // by a hook, since the peers last agreed
  std::vector<std::string> input_positions_;  // of all peers, where a call starts
};

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_LOOP_TRAINER_H_
