// Callback: a hook that is also called around the epochs of a training, as Keras' are.
//
//   class Report : public callbacks::Callback {
//     absl::Status OnEpochEnd(Context& context, int64_t epoch, Logs& logs) override {
//       LOG(INFO) << epoch << ": " << logs["val_loss"];
//       if (logs["val_loss"] < 0.1) context.StopTraining();
//       return absl::OkStatus();
//     }
//   };
//
// An epoch is
//   in TrainEpochs          steps_per_epoch steps
//   in TrainAndEvaluate     the steps between two evaluations
//   in Train                the steps of one pass over the data; if its size is not known: all
#ifndef ESTIMATOR_TRAINING_CALLBACKS_CALLBACK_H_
#define ESTIMATOR_TRAINING_CALLBACKS_CALLBACK_H_

#include <cstdint>
#include <functional>
#include <limits>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/training/epochs/history.h"
#include "estimator/training/hooks/hook.h"

namespace estimator {

class EpochLoop;  // training/loop/epoch_loop.h

namespace callbacks {

// What a callback can ask for. It lives as long as the training.
class Context {
 public:
  static constexpr int64_t kUnknown = std::numeric_limits<int64_t>::max();

  Context() = default;
  explicit Context(Session& session) : session_(&session) {}  // for tests of callbacks

  // The training, with its variables and the learning rate.
  Session& session() const { return *session_; }
  int64_t epochs() const { return epochs_; }  // where the training ends
  int64_t steps_per_epoch() const { return steps_per_epoch_; }
  int64_t first_epoch() const { return first_epoch_; }  // that this process trains
  int64_t steps_done() const { return steps_done_; }    // of the current epoch
  // Whether this process continues a training that another one began.
  bool resumed() const { return resumed_; }
  // The means over the steps of the current epoch so far. They are computed by this call.
  absl::StatusOr<Logs> RunningLogs() const { return running_logs_(); }
  // Ends the training after this epoch or run. Source: Keras' model.stop_training.
  void StopTraining() { stop_training_ = true; }
  bool stop_training() const { return stop_training_; }

 private:
  friend class estimator::EpochLoop;
  Session* session_ = nullptr;
  int64_t epochs_ = kUnknown;
  int64_t steps_per_epoch_ = kUnknown;
  int64_t first_epoch_ = 0;
  int64_t steps_done_ = 0;
  bool resumed_ = false;
  bool stop_training_ = false;
  std::function<absl::StatusOr<Logs>()> running_logs_;
};

// A method that returns an error ends the training with it. Epochs and batches count from 0, as in
// Keras. Source: TF 2.15 tf.keras.callbacks.Callback.
class Callback : public SessionRunHook {
 public:
  using Context = callbacks::Context;

  virtual absl::Status OnTrainBegin(Context& /*context*/) { return absl::OkStatus(); }
  virtual absl::Status OnTrainEnd(Context& /*context*/) { return absl::OkStatus(); }
  // Not called for an epoch that another process has begun.
  virtual absl::Status OnEpochBegin(Context& /*context*/, int64_t /*epoch*/) {
    return absl::OkStatus();
  }
  // What it adds to `logs` is seen by the callbacks after it, and is in the history.
  virtual absl::Status OnEpochEnd(Context& /*context*/, int64_t /*epoch*/, Logs& /*logs*/) {
    return absl::OkStatus();
  }
  // Around each run: one step, or iterations_per_loop steps on replicas. `batch` is its first one
  // in OnTrainBatchBegin, and its last one in OnTrainBatchEnd.
  virtual absl::Status OnTrainBatchBegin(Context& /*context*/, int64_t /*batch*/) {
    return absl::OkStatus();
  }
  virtual absl::Status OnTrainBatchEnd(Context& /*context*/, int64_t /*batch*/) {
    return absl::OkStatus();
  }
  // After OnTrainBegin, for each epoch of this training that an earlier process has trained, with
  // the numbers of the history. A callback that counts epochs does so here too. What OnEpochEnd
  // did to the model then is in the checkpoint. Not in Keras, which does not continue.
  virtual absl::Status OnEpochReplayed(Context& /*context*/, int64_t /*epoch*/,
                                       const Logs& /*logs*/) {
    return absl::OkStatus();
  }

  // Whether it says what to do if a loss is not finite. Otherwise the training ends with an error.
  virtual bool HandlesBadLoss() const { return false; }
  // Whether it shows the progress, in place of the usual lines.
  virtual bool ShowsProgress() const { return false; }
  bool IsForChief() const override { return true; }
};

}  // namespace callbacks
}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_CALLBACKS_CALLBACK_H_
