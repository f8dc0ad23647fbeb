// ProgbarLogger: shows the progress of each epoch.
#ifndef ESTIMATOR_TRAINING_CALLBACKS_PROGBAR_LOGGER_H_
#define ESTIMATOR_TRAINING_CALLBACKS_PROGBAR_LOGGER_H_

#include <functional>
#include <optional>

#include "absl/strings/string_view.h"
#include "estimator/training/hooks/hook.h"
#include "estimator/training/hooks/timer.h"

namespace estimator::callbacks {

enum class CountMode { kSamples, kSteps };

struct ProgbarLoggerOptions {
  CountMode count_mode = CountMode::kSamples;              // what the bar counts
  std::optional<bool> terminal = std::nullopt;             // none: whether stderr is a terminal
  Clock clock = SteadyClock();                             // for tests
  std::function<void(absl::string_view)> write = nullptr;  // null: to stderr
};

// In a terminal a bar with the time left and the means so far, rewritten up to 20 times a second:
//   Epoch 2/10
//   320/1000 [========>.....................] - ETA: 12s - accuracy: 0.9123 - loss: 0.2711
// At the end of an epoch, and elsewhere only then, a line with all its numbers:
//   1000/1000 [==============================] - 18s 18ms/sample - accuracy: ... - val_loss: ...
// It replaces the usual lines of progress.
// Source: TF 2.15 tf.keras.callbacks.ProgbarLogger.
HookPtr ProgbarLogger(const ProgbarLoggerOptions& options = {});

}  // namespace estimator::callbacks

#endif  // ESTIMATOR_TRAINING_CALLBACKS_PROGBAR_LOGGER_H_
