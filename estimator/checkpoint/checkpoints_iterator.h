// Follows the checkpoints of another process as they appear: for evaluators beside a training run.
#ifndef ESTIMATOR_CHECKPOINT_CHECKPOINTS_ITERATOR_H_
#define ESTIMATOR_CHECKPOINT_CHECKPOINTS_ITERATOR_H_

#include <functional>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace estimator {

struct CheckpointsIteratorOptions {
  double min_interval_secs = 0;  // at least so long between two checkpoints
  std::optional<double> timeout_secs =
      std::nullopt;  // for one new checkpoint; nullopt waits for ever
  // Asked at a timeout: true ends the iteration, false waits on. Empty: a timeout ends it.
  std::function<bool()> timeout_fn = nullptr;
  double poll_secs = 1;  // between two looks
  // The system's if empty. For tests.
  std::function<double()> now_secs = nullptr;
  std::function<void(double seconds)> sleep = nullptr;
};

// Not thread-safe. A checkpoint that is replaced by a newer one before Next is called is passed
// over. Source: TF 2.15 tf.train.checkpoints_iterator.
class CheckpointsIterator {
 public:
  explicit CheckpointsIterator(absl::string_view directory,
                               CheckpointsIteratorOptions options = {});

  // Waits for a checkpoint that is not the last one returned; its prefix. nullopt at the timeout,
  // or once the process is asked to stop (base/interrupt.h). A directory that is not there yet is
  // waited for; damaged checkpoints are logged and waited out.
  std::optional<std::string> Next();

 private:
  std::optional<std::string> WaitForNew();

  const std::string directory_;
  CheckpointsIteratorOptions options_;
  std::string last_;
  std::optional<double> last_secs_;
  std::string last_problem_;
};

}  // namespace estimator

#endif  // ESTIMATOR_CHECKPOINT_CHECKPOINTS_ITERATOR_H_
