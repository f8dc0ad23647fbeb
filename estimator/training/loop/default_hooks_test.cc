#include "estimator/training/loop/default_hooks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/ops/constant.h"
#include "estimator/training/hooks/checkpoint_saver_hook.h"
#include "estimator/training/hooks/graph_writer_hook.h"
#include "estimator/training/hooks/nan_tensor_hook.h"
#include "estimator/training/hooks/progress_hook.h"
#include "estimator/training/hooks/step_counter_hook.h"
#include "estimator/training/hooks/summary_saver_hook.h"

namespace estimator {
namespace {

using ::testing::ElementsAre;

struct ChiefHook : SessionRunHook {};
struct ModelHook : SessionRunHook {};
struct UserHook : SessionRunHook {};

std::string KindOf(const std::shared_ptr<SessionRunHook>& hook) {
  SessionRunHook* const p = hook.get();
  if (dynamic_cast<CheckpointSaverHook*>(p) != nullptr) return "saver";
  if (dynamic_cast<GraphWriterHook*>(p) != nullptr) return "graph";
  if (dynamic_cast<StepCounterHook*>(p) != nullptr) return "counter";
  if (dynamic_cast<SummarySaverHook*>(p) != nullptr) return "summaries";
  if (dynamic_cast<NanTensorHook*>(p) != nullptr) return "nan";
  if (dynamic_cast<ProgressHook*>(p) != nullptr) return "progress";
  if (dynamic_cast<ChiefHook*>(p) != nullptr) return "chief";
  if (dynamic_cast<ModelHook*>(p) != nullptr) return "model";
  if (dynamic_cast<UserHook*>(p) != nullptr) return "user";
  return "unknown";
}

class DefaultHooksTest : public ::testing::Test {
 protected:
  DefaultHooksTest() {
    model_.graph = std::make_unique<Graph>();
    const GraphScope scope(*model_.graph);
    model_.spec.loss = Constant(1.0f);
  }
  absl::StatusOr<Hooks> Make(bool write_graph = true) {
    return MakeTrainHooks({.config = config_,
                           .model = model_,
                           .user_hooks = user_hooks_,
                           .saving_listeners = listeners_,
                           .write_graph = write_graph,
                           .target_step = 10});
  }
  std::vector<std::string> Kinds(bool write_graph = true) {
    std::vector<std::string> kinds;
    const absl::StatusOr<Hooks> hooks = Make(write_graph);
    EST_EXPECT_OK(hooks);
    for (const auto& hook : *hooks) kinds.push_back(KindOf(hook));
    return kinds;
  }
  absl::Status Error() { return Make().status(); }

  RunConfig config_;
  BuiltModel model_;
  Hooks user_hooks_;
  SavingListeners listeners_;
};

TEST_F(DefaultHooksTest, StandInTensorFlowsOrder) {
  user_hooks_ = {std::make_shared<UserHook>()};
  model_.spec.training_chief_hooks = {std::make_shared<ChiefHook>()};
  model_.spec.training_hooks = {std::make_shared<ModelHook>()};
  EXPECT_THAT(Kinds(), ElementsAre("saver", "graph", "chief", "counter", "summaries", "user", "nan",
                                   "progress", "model"));
}

TEST_F(DefaultHooksTest, TheGraphIsWrittenWhereItIsNewAndWanted) {
  EXPECT_THAT(Kinds(/*write_graph=*/false),
              ElementsAre("saver", "counter", "summaries", "nan", "progress"));
  config_.checkpoint_save_graph_def = false;
  EXPECT_THAT(Kinds(/*write_graph=*/true),
              ElementsAre("saver", "counter", "summaries", "nan", "progress"));
}

TEST_F(DefaultHooksTest, WhatTheConfigSwitchesOffIsLeftOut) {
  config_.disable_checkpoints = true;
  config_.save_summary_steps = 0;
  config_.log_step_count_steps = std::nullopt;
  config_.checkpoint_save_graph_def = false;
  EXPECT_THAT(Kinds(), ElementsAre("nan"));
}

TEST_F(DefaultHooksTest, ASaverOfTheUsersTakesThePlaceOfTheDefaultOne) {
  user_hooks_ = {std::make_shared<CheckpointSaverHook>(
      CheckpointSaverHook::Options{.cadence = {.every_steps = 5, .every_secs = std::nullopt}})};
  EXPECT_THAT(Kinds(), ElementsAre("graph", "counter", "summaries", "saver", "nan", "progress"));
}

TEST_F(DefaultHooksTest, HasSaverTellsWhetherAStopSaves) {
  EXPECT_TRUE(HasSaver(*Make()));
  config_.disable_checkpoints = true;
  EXPECT_FALSE(HasSaver(*Make()));
  user_hooks_ = {std::make_shared<CheckpointSaverHook>(CheckpointSaverHook::Options{})};
  EXPECT_TRUE(HasSaver(*Make()));
}

TEST_F(DefaultHooksTest, ANullHookOrListenerIsRefused) {
  user_hooks_ = {nullptr};
  EXPECT_THAT(Error(), ErrorHas("hooks must be SessionRunHook"));
  user_hooks_.clear();
  listeners_ = {nullptr};
  EXPECT_THAT(Error(), ErrorHas("saving_listeners must be CheckpointSaverListener"));
}

TEST_F(DefaultHooksTest, ListenersNeedASaver) {
  config_.disable_checkpoints = true;
  listeners_ = {std::make_shared<CheckpointSaverListener>()};
  EXPECT_THAT(Error(), ErrorHas("There should be a CheckpointSaverHook to use saving_listeners"));
}

}  // namespace
}  // namespace estimator
