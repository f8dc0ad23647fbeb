// EpochOptions: how long TrainEpochs trains, and what happens between the epochs.
#ifndef ESTIMATOR_TRAINING_EPOCHS_EPOCH_OPTIONS_H_
#define ESTIMATOR_TRAINING_EPOCHS_EPOCH_OPTIONS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/data/pipeline/dataset.h"
#include "estimator/training/hooks/hook.h"

namespace estimator {

// The part of EpochOptions that does not depend on Params.
struct EpochSettings {
  // Epochs count from 0; training ends when epoch `epochs` - 1 is trained. A model_dir that has
  // some of them continues with the next one.
  int64_t epochs = 1;
  // The number of the first epoch of this training: its callbacks and the returned history begin
  // there. If model_dir has trained further, training continues from there.
  int64_t initial_epoch = 0;
  // Batches of an epoch. nullopt: one pass over the data. The input is repeated in any case.
  std::optional<int64_t> steps_per_epoch = std::nullopt;
  // Batches of a validation; nullopt: to the end of its input.
  std::optional<int64_t> validation_steps = std::nullopt;
  int64_t validation_freq = 1;  // validates at the end of every n-th epoch
  // Results of validations are also written to <model_dir>/eval, or to <model_dir>/eval_<name>.
  std::string validation_name = "";
  Hooks hooks = {};  // of the training; callbacks (training/callbacks/) among them
  Hooks validation_hooks = {};
  SavingListeners saving_listeners = {};

  // Errors: INVALID_ARGUMENT listing every field that is out of range.
  absl::Status Validate() const;
};

// Source: TF 2.15 tf.keras.Model.fit.
template <typename Params = struct EstimatorParams>
struct EpochOptions {
  // As in EpochSettings.
  int64_t epochs = 1;
  int64_t initial_epoch = 0;
  std::optional<int64_t> steps_per_epoch = std::nullopt;
  // Null: no validation.
  std::function<absl::StatusOr<Dataset>(const Params&)> validation_input_fn = nullptr;
  std::optional<int64_t> validation_steps = std::nullopt;
  int64_t validation_freq = 1;
  std::string validation_name = "";
  Hooks hooks = {};
  Hooks validation_hooks = {};
  SavingListeners saving_listeners = {};

  EpochSettings settings() const {
    return {.epochs = epochs,
            .initial_epoch = initial_epoch,
            .steps_per_epoch = steps_per_epoch,
            .validation_steps = validation_steps,
            .validation_freq = validation_freq,
            .validation_name = validation_name,
            .hooks = hooks,
            .validation_hooks = validation_hooks,
            .saving_listeners = saving_listeners};
  }
};

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_EPOCHS_EPOCH_OPTIONS_H_
