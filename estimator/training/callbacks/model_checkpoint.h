// ModelCheckpoint: writes the model to a file of its own after epochs, or every n batches.
#ifndef ESTIMATOR_TRAINING_CALLBACKS_MODEL_CHECKPOINT_H_
#define ESTIMATOR_TRAINING_CALLBACKS_MODEL_CHECKPOINT_H_

#include <cstdint>
#include <optional>
#include <string>

#include "estimator/training/callbacks/monitor.h"
#include "estimator/training/hooks/hook.h"

namespace estimator::callbacks {

// These files are for people and other programs. Checkpoints that a killed run continues from are
// RunConfig's (save_checkpoints_steps).
struct ModelCheckpointOptions {
  std::string monitor = "val_loss";
  int verbose = 0;              // 1: logs what is written
  bool save_best_only = false;  // writes only if the number is the best so far
  // true: the weights. false: all variables, with those of the optimizer.
  bool save_weights_only = false;
  // kAuto: up for names with "acc" or that begin with "fmeasure", else down.
  MonitorMode mode = MonitorMode::kAuto;
  std::optional<int64_t> save_freq = std::nullopt;  // in batches; nullopt: after each epoch
  // save_best_only writes only if the number is better than this.
  std::optional<double> initial_value_threshold = std::nullopt;
  // Not in Keras: keeps the files of the k best epochs, and deletes the others that it has written.
  // The names must differ.
  std::optional<int64_t> keep_best = std::nullopt;
};

// Writes a checkpoint for warm_start_from and EvaluateOptions.checkpoint_path, or for a name that
// ends with ".h5" the weights as Keras' load_weights reads them: with RunConfig.average_weights the
// averages, as in the evaluation that `monitor` is of.
//   filepath: a prefix, with {epoch}, from 1, and numbers of the epoch in it (file_pattern.h):
//     "best/ep{epoch:03d}_loss{loss:.4f}_val-loss{val_loss:.4f}". Its folder is created.
// Errors: Train returns INVALID_ARGUMENT for a wrong pattern; those of the file system. A folder
// that cannot be made or written is an error before the first step.
// Source: TF 2.15 tf.keras.callbacks.ModelCheckpoint.
HookPtr ModelCheckpoint(const std::string& filepath, const ModelCheckpointOptions& options = {});

}  // namespace estimator::callbacks

#endif  // ESTIMATOR_TRAINING_CALLBACKS_MODEL_CHECKPOINT_H_
