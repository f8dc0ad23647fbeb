// What a program does besides the steps of one call of Train, for the plan that is logged before
// the first step.
//
//   const auto plan = std::make_shared<ProgramPlanHook>(
//       ProgramPlan{.train_steps = 5000, .steps_per_eval = 1000, .afterwards = {"an export"}});
//   for (int64_t step = 1000; step <= 5000; step += 1000) {
//     estimator.Train(input, MaxSteps(step), {.hooks = {plan}});
//     estimator.Evaluate(EvalInput);
//   }
//
// The plan is then "steps 0 to 5000, 10.7 epochs of 60000 examples; an evaluation every 1000 steps
// (5 in all); a checkpoint every 600 seconds; afterwards an export".
#ifndef ESTIMATOR_TRAINING_HOOKS_PLANNED_WORK_H_
#define ESTIMATOR_TRAINING_HOOKS_PLANNED_WORK_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "estimator/training/hooks/hook.h"

namespace estimator {

// A hook with this base class adds a part to the plan.
class PlannedWork {
 public:
  virtual ~PlannedWork() = default;
  // "an evaluation every 500 steps". Empty: not mentioned.
  //   steps_per_run: as Session::steps_per_run.
  virtual std::string DescribePlan(int64_t steps_per_run) const = 0;
};

// What a program does that calls Train several times, or does more after training.
struct ProgramPlan {
  // The global_step at which the last call of Train ends. 0: that of the first call.
  int64_t train_steps = 0;
  // The number of steps between two evaluations by the program. If it is at least the number of
  // steps of the program, the only evaluation is at the end. 0: none.
  int64_t steps_per_eval = 0;
  // What the program does after training, such as "5 predictions" or "an export to /tmp/export".
  std::vector<std::string> afterwards = {};
};

// Adds a ProgramPlan to the plan that Train logs. It does nothing else. Give it to each call of
// Train. Not in TensorFlow, which logs no plan.
class ProgramPlanHook : public SessionRunHook {
 public:
  explicit ProgramPlanHook(ProgramPlan plan) : plan_(std::move(plan)) {}
  const ProgramPlan& plan() const { return plan_; }

 private:
  const ProgramPlan plan_;
};

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_HOOKS_PLANNED_WORK_H_
