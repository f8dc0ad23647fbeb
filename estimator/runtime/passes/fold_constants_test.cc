#include "estimator/runtime/passes/fold_constants.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/runtime/passes/testing/pass_module.h"

namespace estimator::ir {
namespace {

using ::testing::ElementsAre;

// Both halves of a vector; fails on data where the first element is negative.
EST_REGISTER_KERNEL("TestHalves", KernelTier::kReference, [](const KernelSpec& spec) {
  const int64_t n = spec.outputs[0].shape.num_elements();
  return MakeKernel([n](const KernelArgs& args) -> absl::Status {
    if (args.in<float>(0)[0] < 0) return absl::InvalidArgumentError("element 0 is negative");
    for (int64_t i = 0; i < n; ++i) args.out<float>(0)[i] = args.in<float>(0)[i];
    for (int64_t i = 0; i < n; ++i) args.out<float>(1)[i] = args.in<float>(0)[n + i];
    return absl::OkStatus();
  });
});

Value Halves(ModuleBuilder& b, Value x, int64_t n) {
  const Value value = b.Op("TestHalves", {x}, {n});
  b.node(value).outputs.push_back({DType::kFloat32, {n}});
  return value;
}

TEST(FoldConstants, ChainsOfConstantsAreComputedOnce) {
  ModuleBuilder b;
  const Value halves = Halves(b, b.Constant(Array::Of<float>({4}, {1, 2, 3, 4})), 2);
  b.Fetch(Halves(b, {halves.node, 1}, 1));
  EST_ASSERT_OK(FoldConstants(b.module));
  ASSERT_EQ(b.module.nodes.size(), 1u) << ToString(b.module);
  EXPECT_THAT(b.module.nodes[0].constant.values<float>(), ElementsAre(3));
}

TEST(FoldConstants, ShapesAreKnownWithoutValues) {
  ModuleBuilder b;
  const Value x = b.Feed({2, 3, 5});
  b.Fetch(b.Op("Shape", {x}, {3}, {}, DType::kInt32));
  b.Fetch(b.Op("Size", {x}, {}, {}, DType::kInt64));
  b.Fetch(b.Op("Rank", {x}, {}, {}, DType::kInt32));
  EST_ASSERT_OK(FoldConstants(b.module));
  EXPECT_THAT(b.module.constant(b.module.fetches[0])->values<int32_t>(), ElementsAre(2, 3, 5));
  EXPECT_EQ(b.module.constant(b.module.fetches[1])->scalar<int64_t>(), 30);
  EXPECT_EQ(b.module.constant(b.module.fetches[2])->scalar<int32_t>(), 3);
}

TEST(FoldConstants, LargeValuesMadeFromSmallOnesStay) {
  ModuleBuilder b;
  const Value x = b.Constant(Array::Of<float>({4}, {1, 2, 3, 4}));
  b.Fetch(Halves(b, x, 2));
  EST_ASSERT_OK(FoldConstants(b.module, /*max_elements=*/3));  // 4 elements come of 4
  EXPECT_EQ(Count(b.module, "TestHalves"), 0);
  ModuleBuilder c;
  const Value one = c.Constant(Array::Of<float>({1}, {1}));
  c.Fetch(Halves(c, one, 1000));
  EST_ASSERT_OK(FoldConstants(c.module, /*max_elements=*/100));
  EXPECT_EQ(Count(c.module, "TestHalves"), 1);
}

TEST(FoldConstants, StatefulNodesStay) {
  ModuleBuilder b;
  const Value halves = Halves(b, b.Constant(Array::Of<float>({2}, {1, 2})), 1);
  b.node(halves).stateful = true;
  b.Fetch(halves);
  EST_ASSERT_OK(FoldConstants(b.module));
  EXPECT_EQ(Count(b.module, "TestHalves"), 1);
}

TEST(FoldConstants, AnErrorOfTheDataNamesTheNode) {
  ModuleBuilder b;
  b.Fetch(Halves(b, b.Constant(Array::Of<float>({2}, {-1, 2})), 1));
  EXPECT_THAT(FoldConstants(b.module), ErrorIs("TestHalves_1: element 0 is negative"));
}

}  // namespace
}  // namespace estimator::ir
