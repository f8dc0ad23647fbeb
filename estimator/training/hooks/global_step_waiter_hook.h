// GlobalStepWaiterHook: holds the first run back until training has come to a step.
#ifndef ESTIMATOR_TRAINING_HOOKS_GLOBAL_STEP_WAITER_HOOK_H_
#define ESTIMATOR_TRAINING_HOOKS_GLOBAL_STEP_WAITER_HOOK_H_

#include <chrono>
#include <functional>
#include <thread>

#include "estimator/training/hooks/hook.h"

namespace estimator {

// Looks every half second; a step of 0 or less waits for nothing.
// Source: TF 2.15 tf.estimator.GlobalStepWaiterHook.
class GlobalStepWaiterHook : public SessionRunHook {
 public:
  // `sleep` (seconds) is a test's way in.
  explicit GlobalStepWaiterHook(int64_t wait_until_step,
                                std::function<void(double)> sleep = nullptr)
      : wait_until_step_(wait_until_step), sleep_(std::move(sleep)) {
    if (!sleep_)
      sleep_ = [](double secs) {
        std::this_thread::sleep_for(std::chrono::duration<double>(secs));
      };
  }

  std::vector<Tensor> BeforeRun(RunContext& context) override {
    while (!waited_ && context.session().global_step() < wait_until_step_) sleep_(0.5);
    waited_ = true;
    return {};
  }

 private:
  const int64_t wait_until_step_;
  std::function<void(double)> sleep_;
  bool waited_ = false;
};

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_HOOKS_GLOBAL_STEP_WAITER_HOOK_H_
