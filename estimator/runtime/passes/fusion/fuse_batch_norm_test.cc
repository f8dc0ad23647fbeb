#include <gtest/gtest.h>

#include "estimator/runtime/passes/fusion/fuse.h"
#include "estimator/runtime/passes/testing/pass_module.h"

namespace estimator::ir {
namespace {

const Shape kImages{2, 3, 4, 8}, kChannels{8};

class FuseBatchNormTest : public ::testing::Test {
 protected:
  FuseBatchNormTest() {
    for (int i = 0; i < 3; ++i) Feed(kImages);    // x, dy, side
    for (int i = 0; i < 4; ++i) Feed(kChannels);  // scale, offset, mean, variance
  }
  Value Feed(const Shape& shape) {
    const Value value = b_.Feed(shape);
    Array numbers = Numbers(shape, 1 + static_cast<int>(feeds_.size()));
    // Variances are positive, and some results are above 6.
    for (float& number : numbers.values<float>()) number = 1.5f + number;
    feeds_.push_back(numbers);
    inputs_.push_back(value);
    return value;
  }
  Value x() const { return inputs_[0]; }
  Value dy() const { return inputs_[1]; }
  Value side() const { return inputs_[2]; }

  static Attrs NormAttrs(bool is_training) {
    return {{"epsilon", 1e-3f},
            {"is_training", is_training},
            {"exponential_avg_factor", 1.0f},
            {"data_format", std::string("NHWC")}};
  }
  Value Norm(bool is_training) {
    const Value norm =
        b_.Op("FusedBatchNormV3", {x(), inputs_[3], inputs_[4], inputs_[5], inputs_[6]}, kImages,
              NormAttrs(is_training));
    for (const Shape& shape : {kChannels, kChannels, kChannels, kChannels, Shape{0}})
      b_.node(norm).outputs.push_back({DType::kFloat32, shape});
    return norm;
  }
  // dx, and the gradients of scale and offset.
  void FetchGradient(Value gradient, Value norm) {
    const Value dx =
        b_.Op("FusedBatchNormGradV3",
              {gradient, x(), inputs_[3], {norm.node, 3}, {norm.node, 4}, {norm.node, 5}}, kImages,
              NormAttrs(true));
    for (const Shape& shape : {kChannels, kChannels, Shape{0}, Shape{0}})
      b_.node(dx).outputs.push_back({DType::kFloat32, shape});
    for (int o = 0; o < 3; ++o) b_.Fetch({dx.node, o});
  }
  void Apply() {
    Module before = b_.module;
    FuseBatchNorm(b_.module, KernelTier::kNative);
    EXPECT_EQ(DifferenceOf(before, b_.module, feeds_), "");
  }

  ModuleBuilder b_;
  std::vector<Value> inputs_;
  std::vector<Array> feeds_;
};

// The parameter is the activation.
class FuseBatchNormActivationTest : public FuseBatchNormTest,
                                    public ::testing::WithParamInterface<std::string> {
 protected:
  std::string Grad() const { return GetParam() + "Grad"; }
};

TEST_P(FuseBatchNormActivationTest, InferenceIsOnePassWithItsActivation) {
  b_.Fetch(b_.Op(GetParam(), {Norm(false)}, kImages));
  Apply();
  const Attrs& attrs = Only(b_.module, "_FusedBatchNormEx").attrs;
  EXPECT_EQ(attrs.i("num_side_inputs"), 0);
  EXPECT_EQ(attrs.s("activation_mode"), GetParam());
  EXPECT_EQ(Count(b_.module, GetParam()) + Count(b_.module, "FusedBatchNormV3"), 0);
}

TEST_P(FuseBatchNormActivationTest, ForwardAndBackwardMatchTogether) {
  const Value norm = Norm(true);
  const Value y = b_.Op(GetParam(), {norm}, kImages);
  b_.Fetch(y);
  b_.Fetch({norm.node, 1});  // the moving averages read the batch's moments
  FetchGradient(b_.Op(Grad(), {dy(), y}, kImages), norm);
  Apply();
  EXPECT_EQ(Only(b_.module, "_FusedBatchNormGradEx").outputs.size(), 5u);
  EXPECT_EQ(Count(b_.module, Grad()) + Count(b_.module, "FusedBatchNormGradV3"), 0);
}

TEST_P(FuseBatchNormActivationTest, TheShortcutGetsItsGradientFromTheBlock) {
  const Value norm = Norm(true);
  const Value y = b_.Op(GetParam(), {b_.Op("AddV2", {side(), norm}, kImages)}, kImages);
  b_.Fetch(y);
  const Value gradient = b_.Op(Grad(), {dy(), y}, kImages);
  FetchGradient(gradient, norm);
  b_.Fetch(b_.Op("Neg", {gradient}, kImages));
  Apply();
  EXPECT_EQ(Only(b_.module, "_FusedBatchNormEx").inputs.size(), 6u);
  EXPECT_EQ(Only(b_.module, "Neg").inputs[0].output, 5);
  EXPECT_EQ(Count(b_.module, Grad()) + Count(b_.module, "AddV2"), 0);
}

INSTANTIATE_TEST_SUITE_P(All, FuseBatchNormActivationTest, ::testing::Values("Relu", "Relu6"));

// The gradient is not the one of the activation: it is left apart.
TEST_F(FuseBatchNormTest, TheGradientOfAnotherActivationStaysApart) {
  const Value norm = Norm(true);
  const Value y = b_.Op("Relu6", {norm}, kImages);
  b_.Fetch(y);
  FetchGradient(b_.Op("ReluGrad", {dy(), y}, kImages), norm);
  Apply();
  EXPECT_EQ(Count(b_.module, "_FusedBatchNormEx"), 1);
  EXPECT_EQ(Count(b_.module, "_FusedBatchNormGradEx"), 0);
}

TEST_F(FuseBatchNormTest, AnotherActivationStaysApart) {
  b_.Fetch(b_.Op("Tanh", {Norm(false)}, kImages));
  Apply();
  EXPECT_EQ(Count(b_.module, "_FusedBatchNormEx"), 0);
}

TEST_F(FuseBatchNormTest, WhatOthersReadStaysApart) {
  const Value norm = Norm(true);
  b_.Fetch(norm);
  b_.Fetch(b_.Op("Relu", {norm}, kImages));
  Apply();
  EXPECT_EQ(Count(b_.module, "_FusedBatchNormEx"), 0);
}

// The side input is made of the batch's mean: as one node they would wait for each other.
TEST_F(FuseBatchNormTest, ASideInputThatNeedsTheMomentsStaysApart) {
  const Value norm = Norm(true);
  const Value of_mean = b_.Op("AddV2", {side(), {norm.node, 1}}, kImages);
  b_.Fetch(b_.Op("Relu", {b_.Op("AddV2", {norm, of_mean}, kImages)}, kImages));
  Apply();
  EXPECT_EQ(Count(b_.module, "_FusedBatchNormEx"), 0);
}

}  // namespace
}  // namespace estimator::ir
