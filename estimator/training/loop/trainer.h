// Trainer: the training loop. Keeps the built model, its compiled step, the variables and the open
// input between calls, so that calling it again costs no more than the steps.
#ifndef ESTIMATOR_TRAINING_LOOP_TRAINER_H_
#define ESTIMATOR_TRAINING_LOOP_TRAINER_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "estimator/checkpoint/latest_checkpoint.h"
#include "estimator/checkpoint/saver.h"
#include "estimator/training/hooks/hook.h"
#include "estimator/training/loop/run_config.h"
#include "estimator/training/loop/train_input.h"
#include "estimator/training/loop/train_length.h"
#include "estimator/training/loop/train_meta_graph.h"
#include "estimator/training/model/built_model.h"
#include "estimator/training/model/compiled_step.h"
#include "estimator/training/model/model_state.h"
#include "estimator/training/model/strategy.h"

namespace estimator {

struct TrainOptions {
  Hooks hooks = {};
  SavingListeners saving_listeners = {};
};

// Not thread-safe.
class Trainer {
 public:
  // `strategy` outlives it; `config` is valid and has a model_dir. `warm_start`: where first values
  // come from, if it is given.
  Trainer(Strategy& strategy, RunConfig config,
          std::optional<WarmStartSettings> warm_start = std::nullopt);
  ~Trainer();

  // Source: TF 2.15 Estimator.train; upstream defects 16, 17, 21 and 22 of that code are not
  // copied: an error of the input saves first, the input position is part of a checkpoint, a
  // restored step is not saved again, and the NaN guard stops at Inf as well. Where the newest
  // checkpoint turns out damaged while it is read, the one before is taken. Without checkpoints,
  // a second call goes on with the variables in memory. An input that was read to its end before
  // begins anew. Errors: CANCELLED after an interrupt, when all is saved; those of the input (after
  // a save), of the model, of hooks; INVALID_ARGUMENT naming step and first tensor for a loss that
  // is not finite.
  absl::Status Train(const InputFn& input_fn, const TrainLength& length,
                     const TrainOptions& options);

  // What evaluation may copy instead of reading it back from disk.
  const ModelState& state() const { return state_; }

 private:
  class TrainSession;
  struct Loop;

  // Where training goes on.
  struct Start {
    std::string checkpoint;  // empty: none
    bool ahead = false;      // the variables in memory have learnt more than it
    int64_t step = 0;
    const StepInput* first = nullptr;  // null: the input is empty
    bool reached = false;              // max_steps, already: nothing is opened then
  };

  absl::Status TrainOnce(const InputFn& input_fn, const TrainLength& length,
                         const TrainOptions& options);
  absl::StatusOr<Start> PrepareStart(const InputFn& input_fn, const TrainLength& length);
  absl::Status EnsureModel(const StepInput& first);
  absl::Status EnsureVariables(const std::string& checkpoint);
  absl::Status EnsureVariablesOfHooks(const std::string& checkpoint);
  absl::Status RunSteps(Loop& loop);
  absl::Status RunOnce(Loop& loop, int64_t num_steps);
  absl::StatusOr<std::string> SaveCheckpoint();

  Strategy& strategy_;
  const RunConfig config_;
  const std::optional<WarmStartSettings> warm_start_;
  const std::string model_dir_;
  NewestCheckpoint newest_;
  ModelState state_;
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<BuiltModel> model_;
  TrainMetaGraph meta_graph_;
  std::unique_ptr<CompiledStep> step_;
  TrainInput input_;
  int64_t restored_step_ = -1;
  Saver saver_;
  bool warned_of_nan_ = false;
};

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_LOOP_TRAINER_H_
