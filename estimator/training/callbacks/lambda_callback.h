// LambdaCallback: a callback out of functions.
#ifndef ESTIMATOR_TRAINING_CALLBACKS_LAMBDA_CALLBACK_H_
#define ESTIMATOR_TRAINING_CALLBACKS_LAMBDA_CALLBACK_H_

#include <cstdint>
#include <functional>

#include "estimator/training/callbacks/callback.h"
#include "estimator/training/hooks/hook.h"

namespace estimator::callbacks {

//   callbacks::LambdaCallback({.on_epoch_end = [](Context& context, int64_t epoch, Logs& logs) {
//     std::cout << epoch << ": " << logs["loss"] << "\n";
//   }})
struct LambdaCallbackOptions {
  std::function<void(Context& context, int64_t epoch)> on_epoch_begin = nullptr;
  std::function<void(Context& context, int64_t epoch, Logs& logs)> on_epoch_end = nullptr;
  std::function<void(Context& context, int64_t batch)> on_batch_begin = nullptr;
  // `logs` are the means over the epoch so far, which are computed for each call.
  std::function<void(Context& context, int64_t batch, const Logs& logs)> on_batch_end = nullptr;
  std::function<void(Context& context)> on_train_begin = nullptr;
  std::function<void(Context& context)> on_train_end = nullptr;
};

// Source: TF 2.15 tf.keras.callbacks.LambdaCallback.
HookPtr LambdaCallback(const LambdaCallbackOptions& options);

}  // namespace estimator::callbacks

#endif  // ESTIMATOR_TRAINING_CALLBACKS_LAMBDA_CALLBACK_H_
