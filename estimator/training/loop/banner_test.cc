#include "estimator/training/loop/banner.h"

#include <limits>
#include <memory>
#include <string>

#include "gtest/gtest.h"

namespace estimator {
namespace {

class ListenerThatEvaluates : public CheckpointSaverListener {
 public:
  std::string Describe() const override { return "an evaluation"; }
};

struct Plan {
  InputSizes sizes = {.examples_per_step = 100, .examples_per_epoch = 6000};
  TrainCadences cadences;
  SavingListeners listeners;
  int64_t start = 0;
  int64_t target = 120;
};

TEST(FormatPlan, HasStepsEpochsCheckpointsEvaluationsAndSummaries) {
  Plan plan;
  plan.cadences.checkpoints = {.every_steps = std::nullopt, .every_secs = 600};
  plan.cadences.summaries = {.every_steps = 1, .every_secs = std::nullopt};
  plan.listeners = {std::make_shared<CheckpointSaverListener>(),
                    std::make_shared<ListenerThatEvaluates>()};
  EXPECT_EQ(FormatPlan(plan.sizes, plan.cadences, plan.listeners, plan.start, plan.target),
            "steps 0 to 120, 2 epochs of 6000 examples; a checkpoint every 600 seconds, then an "
            "evaluation; summaries every 1 step");
}

TEST(FormatPlan, LeavesOutWhatIsNotKnown) {
  Plan plan;
  plan.sizes.examples_per_epoch = -1;
  EXPECT_EQ(FormatPlan(plan.sizes, plan.cadences, plan.listeners, 30, plan.target),
            "steps 30 to 120; no checkpoints");
  EXPECT_EQ(FormatPlan(plan.sizes, plan.cadences, plan.listeners, 30,
                       std::numeric_limits<int64_t>::max()),
            "steps 30 to the end of the input; no checkpoints");
}

}  // namespace
}  // namespace estimator
