#include "estimator/runtime/passes/elementwise/recompute.h"

#include <gtest/gtest.h>

#include "estimator/runtime/passes/fusion/fuse.h"
#include "estimator/runtime/passes/testing/pass_module.h"

namespace estimator::ir {
namespace {

const Shape kShape = {64, 64};

class RecomputeTest : public testing::Test {
 protected:
  Value Op(const std::string& op, std::vector<Value> inputs) {
    return b_.Op(op, std::move(inputs), kShape);
  }
  // A product, which separates the forward chain from its gradient.
  Value Product(Value x) {
    return b_.Op("MatMul", {x, weights_}, kShape, {{"transpose_a", false}, {"transpose_b", false}});
  }
  // Fuses, and compares the values of the fetches with those before.
  void Fuse() {
    Module before = b_.module;
    Compact(before);
    FuseElementwise(b_.module, KernelTier::kOneDnn);
    EXPECT_EQ(DifferenceOf(before, b_.module, {Numbers(kShape, 1), Numbers(kShape, 2)}), "");
  }
  // The outputs of all fused chains: the values that are written.
  size_t NumWritten() const {
    size_t count = 0;
    for (const Node& node : b_.module.nodes) {
      if (node.op == "_FusedElementwise") count += node.outputs.size();
    }
    return count;
  }

  ModuleBuilder b_;
  const Value x_ = b_.Feed(kShape), weights_ = b_.Feed(kShape);
};

TEST_F(RecomputeTest, TheGradientOfAnActivationReadsItsInputAgain) {
  const Value tanh = Op("Tanh", {Op("Mul", {x_, b_.Scalar(0.7f)})});
  const Value square = Op("Square", {x_});
  const Value dy = Product(Op("Mul", {tanh, square}));
  b_.Fetch(Product(Op("Mul", {Op("TanhGrad", {tanh, dy}), square})));
  Fuse();
  EXPECT_EQ(Count(b_.module, "_FusedElementwise"), 2) << ToString(b_.module);
  EXPECT_EQ(NumWritten(), 2u) << ToString(b_.module);
}

TEST_F(RecomputeTest, AValueThatOthersReadIsNotComputedAgain) {
  const Value tanh = Op("Tanh", {Op("Mul", {x_, b_.Scalar(0.7f)})});
  const Value square = Op("Square", {x_});
  const Value dy = Product(Op("Mul", {tanh, square}));
  b_.Fetch(tanh);
  b_.Fetch(square);
  b_.Fetch(Product(Op("Mul", {Op("TanhGrad", {tanh, dy}), square})));
  Fuse();
  EXPECT_EQ(Count(b_.module, "_FusedElementwise"), 2);
  EXPECT_EQ(NumWritten(), 4u) << ToString(b_.module);
}

TEST_F(RecomputeTest, OneValueIsReadRatherThanItsInput) {
  // Both have the same size, so recomputing would save nothing.
  const Value tanh = Op("Tanh", {Op("Mul", {x_, b_.Scalar(0.7f)})});
  const Value dy = Product(Op("Neg", {tanh}));
  b_.Fetch(Product(Op("Neg", {Op("TanhGrad", {tanh, dy})})));
  Fuse();
  EXPECT_EQ(NumWritten(), 3u) << ToString(b_.module);
}

TEST_F(RecomputeTest, PowIsNotComputedTwice) {
  const Value power = Op("Pow", {Op("Square", {x_}), b_.Scalar(1.3f)});
  const Value square = Op("Square", {x_});
  const Value dy = Product(Op("Mul", {power, square}));
  b_.Fetch(Product(Op("Mul", {Op("Mul", {power, dy}), square})));
  Fuse();
  EXPECT_EQ(NumWritten(), 4u) << ToString(b_.module);
}

TEST_F(RecomputeTest, SmallSumsJoinAChain) {
  for (const int size : {2, 3, 4}) {
    b_ = {};
    const Value x = b_.Feed(kShape);
    b_.Feed(kShape);
    std::vector<Value> parts;
    for (int i = 0; i < size; ++i)
      parts.push_back(Op("Mul", {x, b_.Scalar(static_cast<float>(i + 2))}));
    b_.Fetch(Op("AddN", parts));
    Fuse();
    EXPECT_EQ(Count(b_.module, "AddN"), 0);
    EXPECT_EQ(NumWritten(), 1u);
  }
}

TEST_F(RecomputeTest, LargeSumsStay) {
  std::vector<Value> parts(5, x_);
  b_.Fetch(Op("AddN", parts));
  SplitAddN(b_.module);
  EXPECT_EQ(Count(b_.module, "AddN"), 1);
}

}  // namespace
}  // namespace estimator::ir
