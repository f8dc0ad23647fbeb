// Programs and replicas that share arenas.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/runtime/cpu_backend.h"
#include "estimator/runtime/initialize_variables.h"
#include "estimator/runtime/testing/testing_ops.h"

namespace estimator {
namespace {

using testing::Add;
using testing::CrossReplicaSum;
using ::testing::ElementsAre;
using testing::F32;
using testing::MakeVariable;
using testing::Mul;
using testing::Placeholder;
using testing::Sub;

class ArenaSharingTest : public GraphTest {
 protected:
  VariableStore store_;
};

TEST_F(ArenaSharingTest, ReplicasShareTheValuesOfASegment) {
  const Variable w = MakeVariable("w", F32({2}, {1, 1}));
  const Tensor x = Placeholder({2});
  // doubled lives within the first segment; far crosses into the second.
  const Tensor doubled = Add(x, x), far = Mul(doubled, doubled);
  const Tensor sum = CrossReplicaSum(Sub(doubled, w));
  const Tensor result = Add(Mul(sum, sum), far);
  EST_ASSERT_OK(InitializeVariables(graph_, store_));
  const auto program = Program::Compile(
      graph_, {.feeds = {x}, .fetches = {result}, .updates = {Assign(w, Sub(w, sum))}});
  EST_ASSERT_OK(program);
  EXPECT_GT((*program)->info().planned_shared_bytes, 0) << (*program)->Plan();
  const Arenas arenas(2);
  EST_ASSERT_OK(ReserveArenas(arenas, (*program)->info().planned_peak_bytes,
                              (*program)->info().planned_shared_bytes));
  std::vector<std::unique_ptr<ProgramRun>> runs;
  for (size_t replica = 0; replica < 2; ++replica) {
    auto run = ProgramRun::Create(*program, store_, static_cast<int>(replica), 2,
                                  arenas.own[replica], arenas.shared);
    EST_ASSERT_OK(run);
    EST_ASSERT_OK((*run)->SetFeeds({replica == 0 ? F32({2}, {1, 2}) : F32({2}, {10, 20})}));
    runs.push_back(*std::move(run));
  }
  ASSERT_EQ((*program)->num_segments(), 2);
  for (auto& run : runs) EST_ASSERT_OK(run->RunSegment(0, 0));
  for (const Collective& collective : (*program)->collectives(0)) {
    const float* const a = static_cast<float*>(runs[0]->buffer(collective.input));
    const float* const b = static_cast<float*>(runs[1]->buffer(collective.input));
    const std::vector<float> total = {a[0] + b[0], a[1] + b[1]};
    for (auto& run : runs)
      std::copy(total.begin(), total.end(), static_cast<float*>(run->buffer(collective.output)));
  }
  for (auto& run : runs) EST_ASSERT_OK(run->RunSegment(1, 0));
  // The sum of 2 x - 1 over the replicas is {20, 42}.
  EXPECT_THAT(runs[0]->fetches()[0].values<float>(), ElementsAre(404, 1780));
  EXPECT_THAT(runs[1]->fetches()[0].values<float>(), ElementsAre(800, 3364));
  EST_ASSERT_OK(runs[0]->ApplyUpdates());
  EXPECT_THAT(store_.Get("w")->values<float>(), ElementsAre(-19, -41));
}

TEST_F(ArenaSharingTest, AStepWhoseArenaWasUsedByAnotherOneDoesNotUpdate) {
  const Variable w = MakeVariable("w", F32({2}, {1, 1}));
  const Tensor x = Placeholder({2});
  EST_ASSERT_OK(InitializeVariables(graph_, store_));
  const auto arenas = std::make_shared<const Arenas>(1);
  const std::unique_ptr<Backend> training = MakeCpuBackend(store_, {}, arenas),
                                 evaluation = MakeCpuBackend(store_, {}, arenas);
  const auto train = training->Compile(
      graph_, {.feeds = {x}, .fetches = {}, .updates = {Assign(w, Add(w, Mul(x, x)))}});
  const auto eval =
      evaluation->Compile(graph_, {.feeds = {x}, .fetches = {Mul(w, x)}, .updates = {}});
  EST_ASSERT_OK(train);
  EST_ASSERT_OK(eval);
  const Infeed infeed = [] { return StepFeeds{{F32({2}, {2, 3})}}; };
  const auto evaluate = [&] { return (*eval)->RunLoop(1, infeed, nullptr).status(); };
  EST_ASSERT_OK((*train)->RunLoop(1, infeed, nullptr).status());
  EST_ASSERT_OK(evaluate());
  EST_ASSERT_OK((*train)->RunLoop(1, infeed, nullptr).status());
  EXPECT_THAT(store_.Get("w")->values<float>(), ElementsAre(9, 19));
  const Outfeed outfeed = [&](int64_t, const StepFetches&) { return evaluate(); };
  EXPECT_THAT((*train)->RunLoop(1, infeed, outfeed).status(),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       ::testing::HasSubstr("ran in the middle of this one")));
  EXPECT_THAT(store_.Get("w")->values<float>(), ElementsAre(9, 19));
}

}  // namespace
}  // namespace estimator
