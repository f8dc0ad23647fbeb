#include "estimator/training/loop/banner.h"

#include <limits>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "estimator/training/hooks/planned_work.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

class ListenerThatEvaluates : public CheckpointSaverListener {
 public:
  std::string Describe() const override { return "an evaluation"; }
};

struct Plan {
  InputSizes sizes = {.examples_per_step = 100, .examples_per_epoch = 6000};
  TrainIntervals intervals;
  SavingListeners listeners;
  Hooks hooks;
  int64_t start = 0;
  int64_t target = 120;
};

TEST(FormatPlan, HasStepsEpochsCheckpointsEvaluationsAndSummaries) {
  Plan plan;
  plan.intervals.checkpoints = {.every_steps = std::nullopt, .every_secs = 600};
  plan.intervals.summaries = {.every_steps = 1, .every_secs = std::nullopt};
  plan.listeners = {std::make_shared<CheckpointSaverListener>(),
                    std::make_shared<ListenerThatEvaluates>()};
  EXPECT_EQ(FormatPlan(plan.sizes, plan.intervals, plan.listeners, plan.hooks, 1, plan.start,
                       plan.target),
            "steps 0 to 120, 2 epochs of 6000 examples; a checkpoint every 600 seconds, then an "
            "evaluation; summaries every 1 step");
}

TEST(FormatPlan, LeavesOutWhatIsNotKnown) {
  Plan plan;
  plan.sizes.examples_per_epoch = -1;
  EXPECT_EQ(FormatPlan(plan.sizes, plan.intervals, plan.listeners, plan.hooks, 1, 30, plan.target),
            "steps 30 to 120; no checkpoints");
  EXPECT_EQ(FormatPlan(plan.sizes, plan.intervals, plan.listeners, plan.hooks, 1, 30,
                       std::numeric_limits<int64_t>::max()),
            "steps 30 to the end of the input; no checkpoints");
}

class HookThatEvaluates : public SessionRunHook, public PlannedWork {
 public:
  std::string DescribePlan(int64_t steps_per_run) const override {
    return absl::StrCat("an evaluation in memory every ", 3 * steps_per_run, " steps");
  }
};

TEST(FormatPlan, IsThatOfAllCallsOfTheProgram) {
  Plan plan;
  plan.intervals.checkpoints = {.every_steps = std::nullopt, .every_secs = 600};
  const auto text = [&plan](const ProgramPlan& program) {
    plan.hooks = {std::make_shared<SessionRunHook>(), std::make_shared<ProgramPlanHook>(program)};
    return FormatPlan(plan.sizes, plan.intervals, plan.listeners, plan.hooks, 1, plan.start,
                      plan.target);
  };
  const ProgramPlan program = {.train_steps = 300,
                               .steps_per_eval = 120,
                               .afterwards = {"5 predictions", "a CSV file", "an export"}};
  EXPECT_EQ(text(program),
            "steps 0 to 300, 5 epochs of 6000 examples; an evaluation every 120 steps (3 in all); "
            "a checkpoint every 600 seconds; afterwards 5 predictions, a CSV file and an export");
  plan.start = 60;  // a resumed run evaluates less often
  EXPECT_EQ(text(program),
            "steps 60 to 300, 4 epochs of 6000 examples; an evaluation every 120 steps (2 in all); "
            "a checkpoint every 600 seconds; afterwards 5 predictions, a CSV file and an export");
  EXPECT_EQ(text({.steps_per_eval = 1000, .afterwards = {"an export"}}),
            "steps 60 to 120, 1 epoch of 6000 examples; an evaluation at step 120; a checkpoint "
            "every 600 seconds; afterwards an export");
  plan.target = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(text({.steps_per_eval = 1000}),
            "steps 60 to the end of the input; an evaluation at the end; a checkpoint every 600 "
            "seconds");
}

TEST(FormatPlan, NamesTheWorkOfHooks) {
  Plan plan;
  plan.hooks = {std::make_shared<HookThatEvaluates>()};
  EXPECT_EQ(FormatPlan(plan.sizes, plan.intervals, plan.listeners, plan.hooks, 10, plan.start,
                       plan.target),
            "steps 0 to 120, 2 epochs of 6000 examples; an evaluation in memory every 30 steps; no "
            "checkpoints");
}

}  // namespace
}  // namespace estimator
