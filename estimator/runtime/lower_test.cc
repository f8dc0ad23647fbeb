#include "estimator/runtime/lower.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/runtime/testing/testing_ops.h"

namespace estimator::ir {
namespace {

using ::estimator::testing::Add;
using ::estimator::testing::F32;
using ::estimator::testing::MakeVariable;
using ::estimator::testing::Mul;
using ::estimator::testing::Placeholder;

class ImportTest : public GraphTest {
 protected:
  absl::Status Error(const ProgramSpec& spec) { return Lower(graph_, spec).status(); }
};

TEST_F(ImportTest, OnlyWhatIsNeededComesAlong) {
  const Tensor x = Placeholder({2});
  const auto w = MakeVariable("w", F32({2}, {1, 2}));  // with its initializer
  Mul(x, x);
  const auto module = Lower(graph_, {.feeds = {x}, .fetches = {Add(x, w)}, .updates = {}});
  EST_ASSERT_OK(module);
  EXPECT_EQ(
      ToString(*module),
      "%0 = Placeholder() : f32 [2]  # Placeholder\n%1 = VariableV2() : f32 [2]  # w\n"
      "%2 = Identity(%1) : f32 [2]  # w/read\n%3 = AddV2(%0, %2) : f32 [2]  # AddV2\nfetch %3\n");
}

TEST_F(ImportTest, AFedTensorCutsItsOrigin) {
  const Tensor x = Placeholder({2});
  const Tensor y = Mul(x, x);
  const auto module = Lower(graph_, {.feeds = {y}, .fetches = {Add(y, y)}, .updates = {}});
  EST_ASSERT_OK(module);
  EXPECT_EQ(module->nodes.size(), 2u);
  EXPECT_EQ(module->nodes[0].kind, ir::Node::Kind::kFeed);
}

TEST_F(ImportTest, AssignAddBecomesASum) {
  const auto w = MakeVariable("w", F32({2}, {1, 2}));
  const Tensor x = Placeholder({2});
  const auto module =
      Lower(graph_,
            {.feeds = {x}, .fetches = {}, .updates = {Group({AssignAdd(w, x), AssignAdd(w, x)})}});
  EST_ASSERT_OK(module);
  ASSERT_EQ(module->updates.size(), 1u);
  EXPECT_EQ(module->node(module->updates[0].value).op, "AddV2");
  EXPECT_EQ(module->nodes.size(), 4u);  // x, w and two sums
}

TEST_F(ImportTest, InvalidAndForeignHandlesAreErrors) {
  EXPECT_THAT(Error({.feeds = {}, .fetches = {Tensor()}, .updates = {}}),
              ErrorIs("a fetch of the step is not a valid tensor"));
  Tensor foreign;
  Graph other;
  {
    const GraphScope scope(other);
    foreign = Placeholder({2});
  }
  EXPECT_THAT(Error({.feeds = {foreign}, .fetches = {}, .updates = {}}),
              ErrorHas("belongs to another graph"));
}

}  // namespace
}  // namespace estimator::ir
