#include "estimator/runtime/compile_that_fits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/runtime/testing/testing_ops.h"

namespace estimator {
namespace {

using testing::Add;
using testing::F32;
using testing::MakeVariable;
using testing::Mul;
using testing::Placeholder;

// y = x * (w + w), where the sum is derived from w.
class CompileThatFitsTest : public GraphTest {
 protected:
  absl::StatusOr<std::shared_ptr<const Program>> Compile(
      const std::optional<AvailableMemory>& available) {
    const Variable w = MakeVariable("w", F32({1}, {3}));
    const Tensor x = Placeholder({1});
    return CompileThatFits(graph_, {.feeds = {x}, .fetches = {Mul(x, Add(w, w))}, .updates = {}},
                           {.single_replica = true}, arenas_, available);
  }
  const Arenas arenas_{1};
};

TEST_F(CompileThatFitsTest, KeepsDerivedValuesThatFit) {
  const auto program = Compile(AvailableMemory{.bytes = 1 << 20});
  EST_ASSERT_OK(program);
  EXPECT_GT((*program)->info().planned_derived_bytes, 0);
  EXPECT_GE(arenas_.own[0]->bytes(), (*program)->info().planned_peak_bytes);
}

TEST_F(CompileThatFitsTest, KeepsThemIfTheFreeMemoryIsNotKnown) {
  const auto program = Compile(std::nullopt);
  EST_ASSERT_OK(program);
  EXPECT_GT((*program)->info().planned_derived_bytes, 0);
}

TEST_F(CompileThatFitsTest, ComputesThemInEveryStepIfTheyDoNotFitWithoutSwapping) {
  const auto program = Compile(AvailableMemory{.bytes = 1, .swap_bytes = 1 << 20});
  EST_ASSERT_OK(program);
  EXPECT_EQ((*program)->info().planned_derived_bytes, 0);
  EXPECT_GE(arenas_.own[0]->bytes(), (*program)->info().planned_peak_bytes);
}

}  // namespace
}  // namespace estimator
