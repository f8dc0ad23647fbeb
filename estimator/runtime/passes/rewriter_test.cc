#include "estimator/runtime/passes/rewriter.h"

#include <gtest/gtest.h>

#include "estimator/runtime/passes/testing/pass_module.h"

namespace estimator::ir {
namespace {

// x -> Neg -> Square, which a test fuses to an op of its choice.
class RewriterTest : public testing::Test {
 protected:
  bool Fuse(const std::string& op, int place = -1) {
    Rewriter rewriter(b_.module, KernelTier::kNative);
    const bool fused =
        rewriter.Fuse({a_.node, y_.node},
                      {{.node = {.op = op, .inputs = {x_}}, .outputs = {y_}, .place = place}});
    rewriter.Finish();
    return fused;
  }

  ModuleBuilder b_;
  const Value x_ = b_.Feed({4}), a_ = b_.Op("Neg", {x_}, {4}), y_ = b_.Op("Square", {a_}, {4});
};

TEST_F(RewriterTest, AFusedNodeHasTheNodesThatItReplacesAsItsOrigin) {
  b_.Fetch(y_);
  EXPECT_TRUE(Fuse("Abs", y_.node));
  const Node& node = Only(b_.module, "Abs");
  ASSERT_EQ(node.origin->steps.size(), 2u);
  EXPECT_EQ(node.origin->steps[1].op, "Square");
  EXPECT_EQ(node.name, "Square_2");
  EXPECT_EQ(b_.module.num_fused_nodes, 2);
}

TEST_F(RewriterTest, NothingChangesWithoutAKernelOrIfOthersReadAValueInBetween) {
  b_.Fetch(y_);
  EXPECT_FALSE(Fuse("NoSuchOp"));
  b_.Fetch(a_);
  EXPECT_FALSE(Fuse("Abs"));
  EXPECT_EQ(b_.module.nodes.size(), 3u);
}

}  // namespace
}  // namespace estimator::ir
