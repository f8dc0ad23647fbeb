// Waits for the checkpoints that another process writes, for an evaluator beside a training run.
#ifndef ESTIMATOR_CHECKPOINT_CHECKPOINTS_ITERATOR_H_
#define ESTIMATOR_CHECKPOINT_CHECKPOINTS_ITERATOR_H_

#include <functional>
#include <optional>
#include <string>

#include "estimator/base/string_arg.h"

namespace estimator {

struct CheckpointsIteratorOptions {
  double min_interval_secs = 0;  // the least time between two returned checkpoints
  // The longest wait for a new checkpoint; nullopt waits without a limit.
  std::optional<double> timeout_secs = std::nullopt;
  // Called at a timeout: true ends the iteration, false continues to wait. By default a timeout
  // ends the iteration.
  std::function<bool()> timeout_fn = nullptr;
  // Whether no checkpoints come any more. The iteration then ends after the newest one.
  std::function<bool()> has_ended = nullptr;
  double poll_secs = 1;  // time between two checks of the directory
  // Clock and sleep, for tests. If empty, the system's are used.
  std::function<double()> now_secs = nullptr;
  std::function<void(double seconds)> sleep = nullptr;
};

// Not thread-safe. If several checkpoints appear between two calls of Next, only the newest is
// returned. Source: TF 2.15 tf.train.checkpoints_iterator.
class CheckpointsIterator {
 public:
  explicit CheckpointsIterator(StringArg directory, CheckpointsIteratorOptions options = {});

  // Waits for a checkpoint other than the last one returned, and returns its prefix. Returns
  // nullopt at the timeout, or if the process is asked to stop (base/interrupt.h). The directory
  // need not exist yet. A damaged checkpoint is logged, and the wait continues.
  std::optional<std::string> Next();

 private:
  std::optional<std::string> WaitForNew();

  const std::string directory_;
  CheckpointsIteratorOptions options_;
  std::string last_;
  std::optional<double> last_secs_;
  std::string last_problem_;
  bool ended_ = false;
};

}  // namespace estimator

#endif  // ESTIMATOR_CHECKPOINT_CHECKPOINTS_ITERATOR_H_
