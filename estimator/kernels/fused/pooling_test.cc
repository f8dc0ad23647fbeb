#include <cstdint>
#include <string>
#include <vector>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/kernels/testing/tiers.h"
#include "estimator/kernels/window.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

// Up to nine terms below 1 in another order, or a division made a product.
constexpr Tolerance kSummationOrder{.relative = 1e-6, .absolute = 1e-6};

struct Case {
  Shape input;
  int64_t size = 2;
  int64_t stride = 2;
  std::string padding;

  Attrs attrs() const {
    return {{"ksize", std::vector<int64_t>{1, size, size, 1}},
            {"strides", std::vector<int64_t>{1, stride, stride, 1}},
            {"padding", padding},
            {"data_format", std::string("NHWC")}};
  }
  Shape output() const {
    const auto windows = MakeWindow2D(attrs(), input, size, size);
    EST_EXPECT_OK(windows);
    return {input[0], windows->rows.output, windows->columns.output, input[3]};
  }
};

std::vector<Case> Cases() {
  return {{{8, 28, 28, 32}, 2, 2, "SAME"},  // exact tiles
          {{3, 7, 9, 5}, 2, 2, "SAME"},     // windows cut off at the edge
          {{3, 7, 9, 5}, 2, 2, "VALID"},    // a row and a column in no window
          {{2, 11, 11, 17}, 3, 2, "SAME"},  // overlapping
          {{2, 9, 9, 8}, 2, 3, "VALID"},    // gaps
          {{4, 7, 7, 16}, 7, 7, "VALID"}};
}

// Few different values, so that maxima tie.
Array Ties(const Shape& shape) {
  Array x = RandomArray(shape, 1);
  for (float& value : x.values<float>()) value = static_cast<float>(static_cast<int>(value * 3));
  return x;
}

TensorSpec F32(const Shape& shape) { return {DType::kFloat32, shape}; }

TEST(FusedPooling, MaxPoolMatchesTheReferenceBitForBit) {
  for (const Case& c : Cases()) {
    EXPECT_MATCHES_REFERENCE({.op = "MaxPool", .attrs = c.attrs(), .outputs = {F32(c.output())}},
                             {RandomArray(c.input, 1)}, KernelTier::kFused, {});
  }
}

TEST(FusedPooling, MaxPoolGradGoesToTheFirstOfEqualMaxima) {
  for (const Case& c : Cases()) {
    const Array x = Ties(c.input), dy = RandomArray(c.output(), 2);
    const auto y = RunReferenceKernel(
        {.op = "MaxPool", .name = "p", .attrs = c.attrs(), .outputs = {F32(c.output())}}, {x});
    EST_ASSERT_OK(y);
    EXPECT_MATCHES_REFERENCE({.op = "MaxPoolGrad", .attrs = c.attrs(), .outputs = {F32(c.input)}},
                             {x, (*y)[0], dy}, KernelTier::kFused, kSummationOrder);
  }
}

TEST(FusedPooling, ArgmaxPairEqualsMaxPoolAndItsGradient) {
  for (const Case& c : Cases()) {
    const Array x = Ties(c.input), dy = RandomArray(c.output(), 2);
    const auto pooled = RunKernel({.op = "_MaxPoolWithArgmax",
                                   .name = "p",
                                   .attrs = c.attrs(),
                                   .outputs = {F32(c.output()), {DType::kUint8, c.output()}}},
                                  {x}, KernelTier::kFused);
    EST_ASSERT_OK(pooled);
    const Array &y = (*pooled)[0], &argmax = (*pooled)[1];
    EXPECT_MATCHES_REFERENCE({.op = "_MaxPoolWithArgmax",
                              .attrs = c.attrs(),
                              .outputs = {F32(c.output()), {DType::kUint8, c.output()}}},
                             {x}, KernelTier::kFused, {});
    const KernelSpec grad{
        .op = "MaxPoolGrad", .name = "g", .attrs = c.attrs(), .outputs = {F32(c.input)}};
    const auto expected = RunReferenceKernel(grad, {x, y, dy});
    EST_ASSERT_OK(expected);
    KernelSpec fused = grad;
    fused.op = "_MaxPoolGradWithArgmax";
    fused.attrs.Set("input_shape", c.input.dims());
    EXPECT_MATCHES_REFERENCE(fused, {argmax, dy}, KernelTier::kFused, kSummationOrder);
    EXPECT_MATCHES_REFERENCE(fused, {argmax, dy, y}, KernelTier::kFused, kSummationOrder);
    const auto actual = RunKernel(fused, {argmax, dy}, KernelTier::kFused);
    EST_ASSERT_OK(actual);
    const Difference difference = Compare((*actual)[0], (*expected)[0], kSummationOrder);
    EXPECT_TRUE(difference.equal) << difference.report;

    // With y, as if Relu had come before the pool.
    const auto with_relu = RunKernel(fused, {argmax, dy, y}, KernelTier::kFused);
    const auto relu_grad = RunReferenceKernel(
        {.op = "ReluGrad", .name = "r", .outputs = {F32(c.input)}}, {(*expected)[0], x});
    EST_ASSERT_OK(with_relu);
    EST_ASSERT_OK(relu_grad);
    const Difference relu_difference = Compare((*with_relu)[0], (*relu_grad)[0], kSummationOrder);
    EXPECT_TRUE(relu_difference.equal) << relu_difference.report;
  }
}

// On its own channels every pool is the same, in whatever blocks they lie.
TEST(FusedPooling, BlocksOfChannelsGiveTheSame) {
  for (Case c : Cases()) {
    c.input.set_dim(3, 32);
    const Array x = Ties(c.input), dy = RandomArray(c.output(), 2);
    const KernelSpec pool{.op = "_MaxPoolWithArgmax",
                          .name = "p",
                          .attrs = c.attrs(),
                          .outputs = {F32(c.output()), {DType::kUint8, c.output()}}};
    const auto pooled = RunReferenceKernel(pool, {x});
    EST_ASSERT_OK(pooled);
    KernelSpec grad{
        .op = "_MaxPoolGradWithArgmax", .name = "g", .attrs = c.attrs(), .outputs = {F32(c.input)}};
    grad.attrs.Set("input_shape", c.input.dims());
    const std::vector<Array> grad_inputs = {(*pooled)[1], dy, (*pooled)[0]};
    const auto dx = RunReferenceKernel(grad, grad_inputs);
    EST_ASSERT_OK(dx);
    for (const int64_t block : {8, 16}) {
      EXPECT_EQ(DifferenceInBlocks(pool, {x}, *pooled, {0}, {0, 1}, block, KernelTier::kFused, {}),
                "");
      EXPECT_EQ(DifferenceInBlocks(grad, grad_inputs, *dx, {0, 1, 2}, {0}, block,
                                   KernelTier::kFused, kSummationOrder),
                "");
    }
  }
}

TEST(FusedPooling, AvgPoolAndItsGradientMatchTheReference) {
  for (const Case& c : Cases()) {
    EXPECT_MATCHES_REFERENCE({.op = "AvgPool", .attrs = c.attrs(), .outputs = {F32(c.output())}},
                             {RandomArray(c.input, 1)}, KernelTier::kFused, kSummationOrder);
    Array sizes(DType::kInt32, {4});
    for (int i = 0; i < 4; ++i) sizes.data<int32_t>()[i] = static_cast<int32_t>(c.input[i]);
    EXPECT_MATCHES_REFERENCE({.op = "AvgPoolGrad", .attrs = c.attrs(), .outputs = {F32(c.input)}},
                             {sizes, RandomArray(c.output(), 2)}, KernelTier::kFused,
                             kSummationOrder);
  }
}

}  // namespace
}  // namespace estimator
