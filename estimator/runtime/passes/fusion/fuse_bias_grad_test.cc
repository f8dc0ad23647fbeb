#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "estimator/runtime/passes/fusion/fuse.h"
#include "estimator/runtime/passes/testing/pass_module.h"

namespace estimator::ir {
namespace {

const Shape kRows{64, 24}, kImages{2, 4, 8, 24};

class FuseBiasGradTest : public testing::Test {
 protected:
  Value BiasGrad(Value x) {
    return b_.Op("BiasAddGrad", {x}, {24}, {{"data_format", std::string("NHWC")}});
  }
  // A product, which is no part of a chain.
  Value Product(Value x) {
    return b_.Op("MatMul", {x, weights_}, kRows, {{"transpose_a", false}, {"transpose_b", false}});
  }
  Value Chain(Value x, const Shape& shape) {
    return b_.Op("Tanh", {b_.Op("Mul", {x, b_.Scalar(0.5f)}, shape)}, shape);
  }
  void Fuse() {
    Module before = b_.module;
    FuseElementwise(b_.module, KernelTier::kFused);
    FuseBiasGrad(b_.module, KernelTier::kFused);
    std::vector<Array> feeds;
    for (const TensorSpec& spec : b_.module.feeds) feeds.push_back(Numbers(spec.shape));
    EXPECT_EQ(DifferenceOf(before, b_.module, feeds), "");
  }

  ModuleBuilder b_;
  const Value x_ = b_.Feed(kRows), weights_ = b_.Feed({24, 24});
};

TEST_F(FuseBiasGradTest, AResultThatOthersReadIsSummedByItsOwnOp) {
  const Value dx = Chain(x_, kRows);
  b_.Fetch(Product(dx));
  b_.Fetch(BiasGrad(dx));
  Fuse();
  EXPECT_EQ(Count(b_.module, "_FusedElementwiseSum"), 0);
  EXPECT_EQ(Count(b_.module, "BiasAddGrad"), 1);
}

TEST_F(FuseBiasGradTest, AValueThatOnlyTheBiasNeedsIsNotWritten) {
  const Value dx = Chain(x_, kRows);
  const Value narrow = b_.Op("Cast", {dx}, kRows, {{"DstT", DType::kBfloat16}}, DType::kBfloat16);
  b_.Fetch(narrow);
  b_.Fetch(BiasGrad(b_.Op("Reshape", {dx, b_.Constant(Array::Of<int32_t>({2}, {64, 24}))}, kRows)));
  Fuse();
  const Node& fused = Only(b_.module, "_FusedElementwiseSum");
  ASSERT_EQ(fused.outputs.size(), 2u);
  EXPECT_EQ(fused.outputs[0].dtype, DType::kBfloat16);
  EXPECT_EQ(fused.outputs[1].shape, (Shape{24}));
  ASSERT_NE(fused.origin, nullptr);
  EXPECT_EQ(fused.origin->steps.back().op, "BiasAddGrad");
  EXPECT_EQ(Count(b_.module, "BiasAddGrad") + Count(b_.module, "_FusedElementwise"), 0);
}

TEST_F(FuseBiasGradTest, ACastOfTheSameValueSumsIt) {
  const Shape heads{2, 32, 4, 6};
  const Value product = Product(x_);
  const Value split =
      b_.Op("Reshape", {product, b_.Constant(Array::Of<int32_t>({4}, {2, 32, 4, 6}))}, heads);
  b_.Fetch(b_.Op("Cast", {split}, heads, {{"DstT", DType::kBfloat16}}, DType::kBfloat16));
  b_.Fetch(BiasGrad(product));
  Fuse();
  EXPECT_EQ(Only(b_.module, "_FusedElementwiseSum").outputs.size(), 2u);
  EXPECT_EQ(Count(b_.module, "Cast") + Count(b_.module, "BiasAddGrad"), 0);
}

TEST_F(FuseBiasGradTest, ImagesAreLeftToTheirLayout) {
  const Value images = b_.Feed(kImages);
  const Value dx = Chain(images, kImages);
  b_.Fetch(dx);
  b_.Fetch(BiasGrad(dx));
  Fuse();
  EXPECT_EQ(Count(b_.module, "_FusedElementwiseSum"), 0);
}

TEST_F(FuseBiasGradTest, AChainThatIsOnlySummedStays) {
  b_.Fetch(BiasGrad(Chain(x_, kRows)));
  Fuse();
  EXPECT_EQ(Count(b_.module, "_FusedElementwise"), 1);
  EXPECT_EQ(Count(b_.module, "BiasAddGrad"), 1);
}

TEST_F(FuseBiasGradTest, AChainSumsOneOfItsResults) {
  const Value first = Chain(x_, kRows), second = b_.Op("Square", {first}, kRows);
  const Value third = b_.Op("Neg", {second}, kRows);
  b_.Fetch(BiasGrad(first));
  b_.Fetch(BiasGrad(second));
  b_.Fetch(Product(third));
  Fuse();
  EXPECT_EQ(Only(b_.module, "_FusedElementwiseSum").outputs.size(), 3u) << ToString(b_.module);
  EXPECT_EQ(Count(b_.module, "BiasAddGrad"), 1);
}

}  // namespace
}  // namespace estimator::ir
