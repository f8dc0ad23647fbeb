// GlobalStepWaiterHook: delays the first run until global_step has reached a given step.
#ifndef ESTIMATOR_TRAINING_HOOKS_GLOBAL_STEP_WAITER_HOOK_H_
#define ESTIMATOR_TRAINING_HOOKS_GLOBAL_STEP_WAITER_HOOK_H_

#include <chrono>
#include <functional>
#include <thread>

#include "estimator/training/hooks/hook.h"

namespace estimator {

// Checks every half second. A step of 0 or less does not wait.
// Source: TF 2.15 tf.estimator.GlobalStepWaiterHook.
class GlobalStepWaiterHook : public SessionRunHook {
 public:
  // sleep: waits for the given seconds. For tests.
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
