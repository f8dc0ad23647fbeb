#include <gtest/gtest.h>

#include "estimator/runtime/passes/fusion/fuse.h"
#include "estimator/runtime/passes/testing/pass_module.h"

namespace estimator::ir {
namespace {

class FoldBatchNormTest : public ::testing::Test {
 protected:
  Array Positive(const Shape& shape, int seed) {
    Array array = Numbers(shape, seed);
    for (float& x : array.values<float>()) x = x * x + 0.5f;
    return array;
  }
  Value Conv(Value x, Value filter) {
    return b_.Op("Conv2D", {x, filter}, {2, 6, 6, 8}, ConvAttrs());
  }
  // The batch norm of a convolution with fixed moments.
  Value Norm(Value conv, bool training = false) {
    const Value scale = b_.Constant(Positive({8}, 3)), offset = b_.Constant(Numbers({8}, 4)),
                mean = b_.Constant(Numbers({8}, 5)), variance = b_.Constant(Positive({8}, 6));
    const Value norm =
        b_.Op("FusedBatchNormV3", {conv, scale, offset, mean, variance}, {2, 6, 6, 8},
              {{"is_training", training},
               {"epsilon", 1e-3f},
               {"exponential_avg_factor", 1.0f},
               {"data_format", std::string("NHWC")}});
    for (const Shape& shape : {Shape{8}, Shape{8}, Shape{8}, Shape{8}, Shape{0}})
      b_.node(norm).outputs.push_back({DType::kFloat32, shape});
    return norm;
  }
  Value Filter() { return b_.Constant(Numbers({3, 3, 4, 8}, 2)); }
  void Fold() {
    Module before = b_.module;
    Compact(before);
    FoldBatchNorm(b_.module);
    EXPECT_EQ(DifferenceOf(before, b_.module, {Numbers({2, 6, 6, 4})}), "");
  }

  ModuleBuilder b_;
};

TEST_F(FoldBatchNormTest, ScalesTheFilterAndAddsABias) {
  const Value y = Norm(Conv(b_.Feed({2, 6, 6, 4}), Filter()));
  b_.Fetch(b_.Op("Relu", {y}, {2, 6, 6, 8}));
  Fold();
  EXPECT_EQ(Count(b_.module, "FusedBatchNormV3"), 0) << ToString(b_.module);
  EXPECT_EQ(Count(b_.module, "Conv2D"), 1);
  FuseBias(b_.module, KernelTier::kNative);
  EXPECT_EQ(Count(b_.module, "_FusedConv2D"), 1) << ToString(b_.module);
  EXPECT_EQ(Count(b_.module, "Relu"), 0);
}

TEST_F(FoldBatchNormTest, LeavesMomentsOfTheBatch) {
  b_.Fetch(Norm(Conv(b_.Feed({2, 6, 6, 4}), Filter()), true));
  FoldBatchNorm(b_.module);
  EXPECT_EQ(Count(b_.module, "FusedBatchNormV3"), 1);
}

TEST_F(FoldBatchNormTest, LeavesAConvolutionThatIsReadElsewhere) {
  const Value conv = Conv(b_.Feed({2, 6, 6, 4}), Filter());
  b_.Fetch(Norm(conv));
  b_.Fetch(conv);
  Fold();
  EXPECT_EQ(Count(b_.module, "FusedBatchNormV3"), 1);
}

TEST_F(FoldBatchNormTest, LeavesAFilterThatDependsOnTheInput) {
  const Value filter = b_.Feed({3, 3, 4, 8});
  b_.Fetch(Norm(Conv(b_.Feed({2, 6, 6, 4}), filter)));
  FoldBatchNorm(b_.module);
  EXPECT_EQ(Count(b_.module, "FusedBatchNormV3"), 1);
}

}  // namespace
}  // namespace estimator::ir
