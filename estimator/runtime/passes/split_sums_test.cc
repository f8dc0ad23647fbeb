#include "estimator/runtime/passes/split_sums.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/runtime/passes/plan_memory.h"
#include "estimator/runtime/passes/schedule.h"
#include "estimator/runtime/passes/select_kernels.h"
#include "estimator/runtime/passes/testing/pass_module.h"

namespace estimator::ir {
namespace {

EST_REGISTER_KERNEL("Part", KernelTier::kReference, Inert());
EST_REGISTER_KERNEL("AddN", KernelTier::kReference, Inert());
EST_REGISTER_KERNEL("AddV2", KernelTier::kReference, Inert());

class SplitSumsTest : public ::testing::Test {
 protected:
  // A sum of `n` values, each of which is computed from the one before it.
  void Sum(int n) {
    Value x = b_.Feed(kShape);
    for (int i = 0; i < n; ++i) parts_.push_back(x = b_.Op("Part", {x}, kShape));
    b_.Fetch(b_.Op("AddN", parts_, kShape));
  }
  // The values that are added, in order.
  std::vector<Value> Parts(Value sum) {
    const Node& node = b_.node(sum);
    if (node.op != "AddN" && node.op != "AddV2") return {sum};
    std::vector<Value> parts = Parts(node.inputs[0]);
    parts.insert(parts.end(), node.inputs.begin() + 1, node.inputs.end());
    return parts;
  }
  int64_t PlannedBytes() {
    EST_EXPECT_OK(SelectKernels(b_.module, KernelTier::kReference));
    return PlanMemory(b_.module, MakeSchedule(b_.module)).arena_bytes;
  }

  const Shape kShape{256};
  std::vector<Value> parts_;
  ModuleBuilder b_;
};

TEST_F(SplitSumsTest, ManyPartsAreAddedInTheirOrderAndFewAreInMemory) {
  Sum(100);
  SplitSums(b_.module);
  int last = -1, num_parts = 0;
  for (const Value& part : Parts(b_.module.fetches[0])) {
    EXPECT_EQ(b_.node(part).op, "Part");
    EXPECT_GT(part.node, last);
    last = part.node;
    ++num_parts;
  }
  EXPECT_EQ(num_parts, 100);
  for (size_t n = 0; n < b_.module.nodes.size(); ++n) {
    EXPECT_LE(b_.module.nodes[n].inputs.size(), 8u);
    for (const Value& input : b_.module.nodes[n].inputs) EXPECT_LT(input.node, static_cast<int>(n));
  }
  Compact(b_.module);
  EXPECT_LE(PlannedBytes(), 11 * 1024);  // 100 parts take 100 KiB
}

TEST_F(SplitSumsTest, ASumOfNineEndsInAnAddOfTwo) {
  Sum(9);
  SplitSums(b_.module);
  EXPECT_EQ(b_.node(b_.module.fetches[0]).op, "AddV2");
  EXPECT_EQ(Parts(b_.module.fetches[0]).size(), 9u);
}

TEST_F(SplitSumsTest, ShortSumsAndSumsThatWouldRoundMoreOftenStay) {
  Sum(8);
  const Value half = b_.Op("Half", {b_.Feed(kShape)}, kShape);
  b_.node(half).outputs[0].dtype = DType::kBfloat16;
  const Value sum = b_.Op("AddN", std::vector<Value>(20, half), kShape);
  b_.node(sum).outputs[0].dtype = DType::kBfloat16;
  b_.Fetch(sum);
  SplitSums(b_.module);
  EXPECT_EQ(Count(b_.module, "AddN"), 2);
}

}  // namespace
}  // namespace estimator::ir
