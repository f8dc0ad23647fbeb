// Fetches that only some steps compute (ProgramSpec::fetch_groups).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/runtime/cpu_backend.h"
#include "estimator/runtime/initialize_variables.h"
#include "estimator/runtime/testing/testing_ops.h"

namespace estimator {
namespace {

using testing::Add;
using ::testing::ElementsAre;
using testing::F32;
using testing::FailAbove;
using testing::MakeVariable;
using testing::Mul;
using testing::Placeholder;
using testing::Sub;

// The step adds x to w. The fetches: w * w in each step, and two watched tensors, which fail if x
// or the new w is above 100.
class FetchGroupsTest : public GraphTest {
 protected:
  void Compile(std::vector<FetchGroups> groups) {
    const Tensor x = Placeholder({2});
    const Variable w = MakeVariable("w", F32({2}, {1, 1}));
    const Tensor sum = Add(w, x);
    EST_ASSERT_OK(InitializeVariables(graph_, store_));
    backend_ = MakeCpuBackend(store_);
    auto executable = backend_->Compile(
        graph_, {.feeds = {x},
                 .fetches = {Mul(w, w), FailAbove(Mul(x, x), 100), FailAbove(Sub(sum, w), 100)},
                 .updates = {Assign(w, sum)},
                 .fetch_groups = std::move(groups)});
    EST_ASSERT_OK(executable);
    executable_ = *std::move(executable);
  }
  absl::Status Step(const Array& x) {
    return executable_
        ->RunLoop(
            1,
            [&]() -> absl::StatusOr<std::optional<StepFeeds>> {
              return std::optional<StepFeeds>(StepFeeds{{x}});
            },
            [&](int64_t, const StepFetches& fetches) {
              last_.clear();
              for (const Array& fetch : fetches[0]) last_.push_back(fetch.Clone());
              return absl::OkStatus();
            })
        .status();
  }

  VariableStore store_;
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<Executable> executable_;
  std::vector<Array> last_;
};

TEST_F(FetchGroupsTest, AStepComputesTheGroupsThatItWants) {
  Compile({0, 1, 2});
  EST_ASSERT_OK(Step(F32({2}, {2, 3})));  // all, before the first call of WantFetches
  EXPECT_THAT(last_[1].values<float>(), ElementsAre(4, 9));
  EXPECT_THAT(last_[2].values<float>(), ElementsAre(2, 3));
  executable_->WantFetches(0);
  EST_ASSERT_OK(Step(F32({2}, {1000, 1000})));  // neither fails
  EXPECT_THAT(last_[0].values<float>(), ElementsAre(9, 16));
  executable_->WantFetches(2);
  EST_ASSERT_OK(Step(F32({2}, {50, 50})));  // 50 * 50 is above 100
  EXPECT_THAT(last_[2].values<float>(), ElementsAre(50, 50));
  EXPECT_THAT(Step(F32({2}, {200, 200})), ErrorHas("the mean is 200"));
  executable_->WantFetches(1);
  EXPECT_THAT(Step(F32({2}, {50, 50})), ErrorHas("the mean is 2500"));
}

TEST_F(FetchGroupsTest, UpdatesDoNotDependOnWhatIsWanted) {
  Compile({1, 1, 1});
  executable_->WantFetches(0);
  for (int i = 0; i < 3; ++i) EST_ASSERT_OK(Step(F32({2}, {1000, 2000})));
  EXPECT_THAT(store_.Get("w")->values<float>(), ElementsAre(3001, 6001));
  executable_->WantFetches(kAllGroups);
  EXPECT_FALSE(Step(F32({2}, {1000, 2000})).ok());
  EXPECT_THAT(store_.Get("w")->values<float>(), ElementsAre(3001, 6001));
}

TEST_F(FetchGroupsTest, WithoutGroupsEveryStepComputesAll) {
  Compile({});
  executable_->WantFetches(0);
  EXPECT_FALSE(Step(F32({2}, {1000, 1000})).ok());
}

}  // namespace
}  // namespace estimator
