// Values that a program derives from variables: computed when a variable has changed, and only
// then.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/runtime/arena.h"
#include "estimator/runtime/cpu_backend.h"
#include "estimator/runtime/initialize_variables.h"
#include "estimator/runtime/program.h"
#include "estimator/runtime/testing/testing_ops.h"
#include "estimator/runtime/trace.h"

namespace estimator {
namespace {

using testing::Add;
using testing::F32;
using ::testing::HasSubstr;
using testing::MakeVariable;
using testing::Mul;
using testing::Placeholder;
using testing::Sub;

// The model is y = x * (w + w). AddV2 computes what is derived from w; nothing else adds.
class DerivedValuesTest : public GraphTest {
 protected:
  void SetUp() override { EST_ASSERT_OK(InitializeVariables(graph_, store_)); }
  void TearDown() override { SetThreadTrace(nullptr); }

  std::unique_ptr<Executable> Compile(const ProgramSpec& spec, CompileOptions options = {}) {
    auto executable = MakeCpuBackend(store_, options, arenas_)->Compile(graph_, spec);
    EST_EXPECT_OK(executable);
    return executable.ok() ? *std::move(executable) : nullptr;
  }
  std::unique_ptr<Executable> CompileModel(CompileOptions options = {}) {
    return Compile({.feeds = {x_}, .fetches = {y_}, .updates = {}}, options);
  }

  // Runs one step with x = 1 and returns the status. Sets value_ and num_adds_.
  absl::Status Step(Executable& executable) {
    const auto trace = std::make_shared<Trace>();
    SetThreadTrace(trace);
    const absl::Status status = executable
                                    .RunLoop(
                                        1,
                                        []() -> absl::StatusOr<std::optional<StepFeeds>> {
                                          return StepFeeds{{F32({1}, {1})}};
                                        },
                                        [this](int64_t, const StepFetches& fetches) {
                                          if (!fetches[0].empty())
                                            value_ = *fetches[0][0].data<float>();
                                          return outfeed_status_;
                                        })
                                    .status();
    SetThreadTrace(nullptr);
    num_adds_ = std::count_if(trace->events.begin(), trace->events.end(),
                              [](const TraceEvent& event) { return event.op == "AddV2"; });
    return status;
  }

  VariableStore store_;
  const std::shared_ptr<const Arenas> arenas_ = std::make_shared<const Arenas>(1);
  const Variable w_ = MakeVariable("w", F32({1}, {3})),
                 other_ = MakeVariable("other", F32({1}, {1}));
  const Tensor x_ = Placeholder({1});
  const Tensor y_ = Mul(x_, Add(w_, w_));
  absl::Status outfeed_status_;
  float value_ = 0;
  int64_t num_adds_ = 0;
};

TEST_F(DerivedValuesTest, AreComputedOnce) {
  const auto model = CompileModel();
  EXPECT_GT(model->info().planned_derived_bytes, 0);
  for (int step = 0; step < 3; ++step) {
    EST_ASSERT_OK(Step(*model));
    EXPECT_EQ(value_, 6);
    EXPECT_EQ(num_adds_, step == 0 ? 1 : 0);
  }
}

TEST_F(DerivedValuesTest, AreComputedInEveryStepIfThePassIsDisabled) {
  const auto model = CompileModel({.disable_passes = {"derive_values"}});
  EXPECT_EQ(model->info().planned_derived_bytes, 0);
  for (int step = 0; step < 2; ++step) {
    EST_ASSERT_OK(Step(*model));
    EXPECT_EQ(value_, 6);
    EXPECT_EQ(num_adds_, 1);
  }
}

TEST_F(DerivedValuesTest, FollowAVariableThatIsSet) {
  const auto model = CompileModel();
  EST_ASSERT_OK(Step(*model));
  EST_ASSERT_OK(store_.Set("w", F32({1}, {5})));
  EST_ASSERT_OK(Step(*model));
  EXPECT_EQ(value_, 10);
  EST_ASSERT_OK(store_.Set("other", F32({1}, {2})));
  EST_ASSERT_OK(Step(*model));
  EXPECT_EQ(num_adds_, 0) << "it does not depend on the other variable";
}

// As warm starts and restores do.
TEST_F(DerivedValuesTest, FollowAVariableThatIsWrittenInItsStorage) {
  const auto model = CompileModel();
  EST_ASSERT_OK(Step(*model));
  const auto storage = store_.Allocate("w", {DType::kFloat32, {1}});
  EST_ASSERT_OK(storage);
  *(*storage)->data<float>() = 7;
  store_.MarkInitialized("w");
  EST_ASSERT_OK(Step(*model));
  EXPECT_EQ(value_, 14);
}

// A fixed device value of 9.
class Nine final : public DeviceValues {
 public:
  absl::Status Download(absl::string_view, uint64_t, Array& storage) override {
    *storage.data<float>() = 9;
    return absl::OkStatus();
  }
};

TEST_F(DerivedValuesTest, FollowAVariableThatADeviceHasComputed) {
  const auto model = CompileModel();
  EST_ASSERT_OK(Step(*model));
  store_.MarkNewerOnDevice("w", std::make_shared<Nine>());
  EST_ASSERT_OK(Step(*model));
  EXPECT_EQ(value_, 18);
}

// Training and evaluation take turns in one arena.
TEST_F(DerivedValuesTest, FollowTheStepsOfAnotherProgram) {
  const auto model = CompileModel();
  const auto training =
      Compile({.feeds = {x_}, .fetches = {}, .updates = {Assign(w_, Sub(w_, Mul(x_, w_)))}});
  const auto counting =
      Compile({.feeds = {x_}, .fetches = {}, .updates = {Assign(other_, Mul(x_, x_))}});
  EST_ASSERT_OK(Step(*model));
  EXPECT_EQ(value_, 6);
  EST_ASSERT_OK(Step(*counting));
  EST_ASSERT_OK(Step(*model));
  EXPECT_EQ(num_adds_, 0);
  for (int round = 0; round < 2; ++round) {
    EST_ASSERT_OK(store_.Set("w", F32({1}, {3})));
    EST_ASSERT_OK(Step(*model));
    EXPECT_EQ(value_, 6);
    EST_ASSERT_OK(Step(*training));
    EST_ASSERT_OK(Step(*model));
    EXPECT_EQ(value_, 0) << "w - x * w is 0";
  }
}

TEST_F(DerivedValuesTest, StayAfterAStepThatChangesNothing) {
  const auto model = CompileModel();
  const auto training =
      Compile({.feeds = {x_}, .fetches = {}, .updates = {Assign(w_, Mul(x_, w_))}});
  EST_ASSERT_OK(Step(*model));
  outfeed_status_ = absl::InternalError("the loss is not finite");
  EXPECT_FALSE(Step(*training).ok());
  outfeed_status_ = absl::OkStatus();
  EST_ASSERT_OK(Step(*model));
  EXPECT_EQ(num_adds_, 0);
}

TEST_F(DerivedValuesTest, OfAnUpdatedVariableDoNotExist) {
  const auto training =
      Compile({.feeds = {x_}, .fetches = {y_}, .updates = {Assign(w_, Mul(y_, w_))}});
  EXPECT_EQ(training->info().planned_derived_bytes, 0);
  EST_ASSERT_OK(Step(*training));
  EXPECT_EQ(value_, 6);
  EST_ASSERT_OK(Step(*training));
  EXPECT_EQ(value_, 36);
}

TEST_F(DerivedValuesTest, OfAFrozenVariableAreKeptInTraining) {
  const auto training =
      Compile({.feeds = {x_}, .fetches = {y_}, .updates = {Assign(other_, Mul(y_, x_))}});
  for (int step = 0; step < 2; ++step) {
    EST_ASSERT_OK(Step(*training));
    EXPECT_EQ(value_, 6);
    EXPECT_EQ(num_adds_, step == 0 ? 1 : 0);
    EXPECT_EQ(store_.Get("other")->AsDouble(0), 6);
  }
}

TEST_F(DerivedValuesTest, AreComputedOnlyForFetchesThatAreWanted) {
  const Tensor rare = Mul(x_, Add(Sub(other_, w_), w_));
  const auto model =
      Compile({.feeds = {x_}, .fetches = {rare}, .updates = {}, .fetch_groups = {2}});
  model->WantFetches(1);
  EST_ASSERT_OK(Step(*model));
  EXPECT_EQ(num_adds_, 0);
  model->WantFetches(2);
  for (int step = 0; step < 2; ++step) {
    EST_ASSERT_OK(Step(*model));
    EXPECT_EQ(value_, 1);
    EXPECT_EQ(num_adds_, step == 0 ? 1 : 0);
  }
  EST_ASSERT_OK(store_.Set("other", F32({1}, {4})));
  model->WantFetches(1);
  EST_ASSERT_OK(Step(*model));
  EXPECT_EQ(num_adds_, 0);
  model->WantFetches(2);
  EST_ASSERT_OK(Step(*model));
  EXPECT_EQ(value_, 4);
}

TEST_F(DerivedValuesTest, AreComputedAgainAfterAnError) {
  const Tensor checked = Mul(x_, testing::FailAbove(Add(w_, w_), 8));
  const auto model = Compile({.feeds = {x_}, .fetches = {checked}, .updates = {}});
  EST_ASSERT_OK(store_.Set("w", F32({1}, {5})));
  for (int step = 0; step < 2; ++step)
    EXPECT_THAT(Step(*model), ErrorHas("FailAbove: the mean is 10"));
  EST_ASSERT_OK(store_.Set("w", F32({1}, {2})));
  EST_ASSERT_OK(Step(*model));
  EXPECT_EQ(value_, 4);
}

TEST_F(DerivedValuesTest, OfReplicasAreShared) {
  const auto program = Program::Compile(graph_, {.feeds = {x_}, .fetches = {y_}, .updates = {}});
  EST_ASSERT_OK(program);
  std::vector<std::unique_ptr<ProgramRun>> runs;
  for (int replica = 0; replica < 2; ++replica) {
    auto run = ProgramRun::Create(*program, store_, replica, 2, nullptr, nullptr,
                                  runs.empty() ? nullptr : runs[0]->derived_values());
    EST_ASSERT_OK(run);
    runs.push_back(*std::move(run));
  }
  for (const float w : {3.0f, 4.0f}) {
    EST_ASSERT_OK(store_.Set("w", F32({1}, {w})));
    const auto trace = std::make_shared<Trace>();
    SetThreadTrace(trace);
    for (auto& run : runs) {
      EST_ASSERT_OK(run->SetFeeds({F32({1}, {1})}));
      EST_ASSERT_OK(run->RunSegment(0, 0));
      EXPECT_EQ(*run->fetches()[0].data<float>(), 2 * w);
    }
    EXPECT_EQ(trace->events.size(), 3u) << "one sum and two products";
  }
}

TEST_F(DerivedValuesTest, AreListedInThePlan) {
  const auto program = Program::Compile(graph_, {.feeds = {x_}, .fetches = {y_}, .updates = {}});
  EST_ASSERT_OK(program);
  EXPECT_THAT((*program)->Plan(), HasSubstr("derived from variables: runs when one of them"));
  EXPECT_THAT((*program)->Plan(), HasSubstr("kept between steps"));
  EXPECT_THAT((*program)->Plan(), HasSubstr("derived@0 = AddV2(var0, var0)"));
}

TEST_F(DerivedValuesTest, AreCheckedAgainstReferenceKernels) {
  const auto model = CompileModel({.check_kernels = true});
  for (int step = 0; step < 2; ++step) {
    EST_ASSERT_OK(Step(*model));
    EXPECT_EQ(value_, 6);
  }
}

}  // namespace
}  // namespace estimator
