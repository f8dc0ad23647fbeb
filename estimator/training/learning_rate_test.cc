// Session::SetLearningRate in trainings.
#include <cmath>
#include <functional>
#include <memory>
#include <utility>

#include "estimator/base/file.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/checkpoint/load.h"
#include "estimator/nn/train/momentum.h"
#include "estimator/nn/train/settable_rate.h"
#include "estimator/proto/meta_graph.pb.h"
#include "estimator/training/testing/tiny_model.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr auto Endless = [](const TinyParams&) { return TinyDataset(4).Repeat(); };

// Calls a function after each run, with the global step.
class AfterRuns : public SessionRunHook {
 public:
  using Fn = std::function<absl::Status(Session&, int64_t step)>;
  explicit AfterRuns(Fn fn, bool declares = false) : fn_(std::move(fn)), declares_(declares) {}
  absl::Status Begin(Graph& graph) override {
    return declares_ ? train::MakeLearningRateSettable(graph) : absl::OkStatus();
  }
  absl::Status AfterRun(RunContext& context, const RunValues& values) override {
    return fn_(context.session(), values.global_step);
  }

 private:
  const Fn fn_;
  const bool declares_;
};

HookPtr SetAt(int64_t step, double rate, bool declares = false) {
  return std::make_shared<AfterRuns>(
      [=](Session& session, int64_t at) {
        return at == step ? session.SetLearningRate(rate) : absl::OkStatus();
      },
      declares);
}

class LearningRateTest : public ::testing::Test {
 protected:
  // Trains `name` to step 10, and returns the kernel's values.
  std::vector<float> Train(const std::string& name, const Hooks& hooks, int64_t max_steps = 10,
                           const Schedule& rate = 0.02) {
    auto options = TinyOptions(dir_.File(name));
    options.model_fn = [rate](const Features& features, const Labels& labels, Mode,
                              const TinyParams&) {
      const Tensor loss = TinyLoss(labels, TinyNetwork(features, true, 0));
      return EstimatorSpec::Train(loss, train::Momentum(rate, 0.9).Minimize(loss));
    };
    Estimator<TinyParams> estimator(options);
    EST_EXPECT_OK(estimator.Train(Endless, MaxSteps(max_steps), {.hooks = hooks}));
    const Array kernel = estimator.GetVariableValue("dense/kernel").value();
    return {kernel.values<float>().begin(), kernel.values<float>().end()};
  }
  std::vector<std::string> Names(const std::string& name, int64_t step) {
    const auto reader = LoadCheckpoint(dir_.File(name + "/model.ckpt-" + std::to_string(step)));
    EST_EXPECT_OK(reader);
    return (*reader)->names();
  }
  TempDir dir_;
};

// Steps are counted from 0: the fourth is the first with the new rate.
Schedule Scheduled() {
  return train::PiecewiseConstant({.boundaries = {2}, .values = {0.02, 0.005}});
}

TEST_F(LearningRateTest, TheNextStepHasTheRateThatAHookSets) {
  const std::vector<float> scheduled = Train("scheduled", {}, 10, Scheduled());
  EXPECT_EQ(Train("set", {SetAt(3, 0.005)}), scheduled);
  EXPECT_EQ(Train("declared", {SetAt(3, 0.005, /*declares=*/true)}), scheduled);
  EXPECT_NE(Train("constant", {}), scheduled);
}

TEST_F(LearningRateTest, ACheckpointHasItOnlyIfAHookUsesIt) {
  Train("none", {});
  EXPECT_THAT(Names("none", 10), Not(::testing::Contains("set_learning_rate")));
  Train("set", {SetAt(7, 0.005)});
  EXPECT_THAT(Names("set", 5), Not(::testing::Contains("set_learning_rate")));
  EXPECT_THAT(Names("set", 10), ::testing::Contains("set_learning_rate"));
}

TEST_F(LearningRateTest, ItSurvivesARestart) {
  const std::vector<float> whole = Train("whole", {SetAt(3, 0.005)});
  Train("killed", {SetAt(3, 0.005)}, 5);
  std::vector<double> rates;
  const auto look = std::make_shared<AfterRuns>([&rates](Session& session, int64_t) {
    rates.push_back(session.LearningRate().value());
    return absl::OkStatus();
  });
  EXPECT_EQ(Train("killed", {look}), whole) << "a run without the hook keeps the rate";
  EXPECT_THAT(rates, ElementsAre(0.005f, 0.005f, 0.005f, 0.005f, 0.005f));
  // The hook's Begin finds a graph that is settable already.
  Train("killed again", {SetAt(3, 0.005)}, 5);
  EXPECT_EQ(Train("killed again", {SetAt(3, 0.005, /*declares=*/true)}), whole);
}

// The saver's AfterRun is called before that of the user's hooks.
TEST_F(LearningRateTest, ARateThatIsSetAfterTheSaveIsSavedToo) {
  Train("m", {SetAt(5, 0.005)}, 5);
  EXPECT_EQ(LoadVariable(dir_.File("m/model.ckpt-5"), "set_learning_rate")->scalar<float>(),
            0.005f);
  EXPECT_EQ(Train("m", {}), Train("whole", {SetAt(5, 0.005)}));
}

// Checkpoints of a run without a hook that sets the rate have no such variable.
TEST_F(LearningRateTest, AHookMayComeLater) {
  Train("m", {}, 5);
  EXPECT_EQ(Train("m", {SetAt(7, 0.005, /*declares=*/true)}), Train("whole", {SetAt(7, 0.005)}));
}

TEST_F(LearningRateTest, AnotherCallOfTrainContinuesWithIt) {
  Estimator<TinyParams> estimator(TinyOptions(dir_.File("m")));
  EST_ASSERT_OK(estimator.Train(Endless, Steps(2), {.hooks = {SetAt(2, 0.5)}}));
  std::vector<double> rates;
  const auto look = std::make_shared<AfterRuns>([&rates](Session& session, int64_t) {
    rates.push_back(session.LearningRate().value());
    return absl::OkStatus();
  });
  // The second one has a model for another batch size.
  for (const int64_t batch : {4, 5}) {
    EST_ASSERT_OK(
        estimator.Train([batch](const TinyParams&) { return TinyDataset(batch).Repeat(); },
                        Steps(1), {.hooks = {look}}));
  }
  EXPECT_THAT(rates, ElementsAre(0.5, 0.5));
}

TEST_F(LearningRateTest, ItIsTheRateOfTheNextStep) {
  std::vector<double> rates;
  const auto look = std::make_shared<AfterRuns>([&rates](Session& session, int64_t) {
    rates.push_back(session.LearningRate().value());
    return absl::OkStatus();
  });
  Train("m", {look}, 4, Scheduled());
  EXPECT_THAT(rates, ElementsAre(0.02f, 0.02f, 0.005f, 0.005f));
}

// TensorFlow's import_meta_graph continues with the rate, too.
TEST_F(LearningRateTest, TheGraphOfACheckpointReadsIt) {
  auto options = TinyOptions(dir_.File("m"));
  options.config.checkpoint_save_graph_def = true;
  EST_ASSERT_OK(
      Estimator<TinyParams>(options).Train(Endless, Steps(8), {.hooks = {SetAt(6, 0.005)}}));
  const auto rate_of = [this](int step) {
    proto::MetaGraphDef meta;
    const std::string path = dir_.File("m/model.ckpt-" + std::to_string(step) + ".meta");
    EXPECT_TRUE(meta.ParseFromString(ReadFile(path).value()));
    for (const proto::NodeDef& node : meta.graph_def().node())
      if (node.op() == "ApplyMomentum") return node.input(2);
    return std::string();
  };
  EXPECT_THAT(rate_of(5), Not(HasSubstr("set_learning_rate")));
  EXPECT_THAT(rate_of(8), HasSubstr("set_learning_rate"));
}

TEST_F(LearningRateTest, WhatIsNoRateIsRefused) {
  std::vector<std::string> messages;
  const auto hook = std::make_shared<AfterRuns>([&messages](Session& session, int64_t) {
    for (const double rate : {-0.1, 1e40, std::nan("")})
      messages.emplace_back(session.SetLearningRate(rate).message());
    return absl::OkStatus();
  });
  const std::vector<float> plain = Train("plain", {}, 1);
  EXPECT_EQ(Train("m", {hook}, 1), plain);
  EXPECT_THAT(messages, ElementsAre(AllOf(HasSubstr("-0.1"), HasSubstr("not negative")),
                                    HasSubstr("1e+40"), HasSubstr("nan")));
}

TEST_F(LearningRateTest, OutsideOfTrainingThereIsNone) {
  Estimator<TinyParams> estimator(TinyOptions(dir_.File("m")));
  EST_ASSERT_OK(estimator.Train(Endless, Steps(1)));
  const auto evaluate = [&estimator](const AfterRuns::Fn& fn) {
    return estimator
        .Evaluate([](const TinyParams&) { return TinyDataset(4); },
                  {.hooks = {std::make_shared<AfterRuns>(fn)}})
        .status();
  };
  EXPECT_THAT(evaluate([](Session& session, int64_t) { return session.SetLearningRate(0.1); }),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("only training")));
  EXPECT_THAT(evaluate([](Session& session, int64_t) { return session.LearningRate().status(); }),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("only training")));
}

}  // namespace
}  // namespace estimator
