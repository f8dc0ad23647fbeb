#include <omp.h>

#include <cstdint>
#include <limits>
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

  Attrs attrs() const { return PoolWindow(size, stride, padding); }
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
          {{4, 7, 7, 16}, 7, 7, "VALID"},   {{1, 1, 1, 1}, 3, 2, "SAME"},  // one element
          {{1, 1, 9, 3}, 3, 1, "SAME"},                                    // one row
          {{2, 13, 1, 21}, 3, 2, "SAME"},                                  // one column
          {{2, 10, 8, 6}, 5, 1, "VALID"},    // an input is in up to 25 windows
          {{1, 17, 16, 2}, 16, 1, "VALID"},  // 256 taps
          {{2, 9, 15, 23}, 3, 3, "VALID"},   // tiles of 3x3
          {{2, 40, 40, 64}, 3, 2, "SAME"}};  // enough for several threads
}

// The spec of one of the two ops with an argmax, in either dtype.
KernelSpec ForwardSpec(const Case& c, DType dtype) {
  return {.op = "_MaxPoolWithArgmax",
          .name = "p",
          .attrs = c.attrs(),
          .outputs = {{dtype, c.output()}, {DType::kUint8, c.output()}}};
}
KernelSpec BackwardSpec(const Case& c, DType dtype) {
  KernelSpec spec{.op = "_MaxPoolGradWithArgmax",
                  .name = "g",
                  .attrs = c.attrs(),
                  .outputs = {{dtype, c.input}}};
  spec.attrs.Set("input_shape", c.input.dims());
  return spec;
}

Array InBfloat16(const Array& x) { return x.Cast(DType::kBfloat16); }
Array InFloat32(const Array& x) { return x.Cast(DType::kFloat32); }

// "" if both have the same numbers, with NaN equal to NaN.
std::string DifferenceOf(const Array& actual, const Array& expected) {
  return Compare(actual, expected).report;
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

// Maxima are elements of x, and a sum of gradients is rounded once: the numbers are those of the
// reference kernel for f32, rounded to bf16.
TEST(FusedPooling, Bfloat16IsFloat32RoundedOnce) {
  for (const Case& c : Cases()) {
    for (const bool ties : {false, true}) {
      const Array x = InBfloat16(ties ? Ties(c.input) : RandomArray(c.input, 1));
      const Array dy = InBfloat16(RandomArray(c.output(), 2));
      const auto pooled = RunKernel(ForwardSpec(c, DType::kBfloat16), {x}, KernelTier::kFused);
      const auto expected = RunReferenceKernel(ForwardSpec(c, DType::kFloat32), {InFloat32(x)});
      EST_ASSERT_OK(pooled);
      EST_ASSERT_OK(expected);
      const Array &y = (*pooled)[0], &argmax = (*pooled)[1];
      EXPECT_EQ(DifferenceOf(InFloat32(y), (*expected)[0]), "") << c.input.ToString();
      EXPECT_EQ(DifferenceOf(argmax, (*expected)[1]), "") << c.input.ToString();
      for (const bool relu : {false, true}) {
        std::vector<Array> inputs = {argmax, dy}, wide = {argmax, InFloat32(dy)};
        if (relu) {
          inputs.push_back(y);
          wide.push_back(InFloat32(y));
        }
        const auto dx = RunKernel(BackwardSpec(c, DType::kBfloat16), inputs, KernelTier::kFused);
        const auto wide_dx = RunReferenceKernel(BackwardSpec(c, DType::kFloat32), wide);
        EST_ASSERT_OK(dx);
        EST_ASSERT_OK(wide_dx);
        EXPECT_EQ(DifferenceOf((*dx)[0], InBfloat16((*wide_dx)[0])), "") << c.input.ToString();
      }
      // MaxPool without an argmax, and its gradient, which finds the places itself.
      KernelSpec plain{.op = "MaxPool",
                       .name = "m",
                       .attrs = c.attrs(),
                       .outputs = {{DType::kBfloat16, c.output()}}};
      const auto maxima = RunKernel(plain, {x}, KernelTier::kFused);
      EST_ASSERT_OK(maxima);
      EXPECT_TRUE(SameBits((*maxima)[0], y)) << c.input.ToString();
      plain.op = "MaxPoolGrad";
      plain.outputs = {{DType::kBfloat16, c.input}};
      const auto gradient = RunKernel(plain, {x, y, dy}, KernelTier::kFused);
      const auto same =
          RunKernel(BackwardSpec(c, DType::kBfloat16), {argmax, dy}, KernelTier::kFused);
      EST_ASSERT_OK(gradient);
      EST_ASSERT_OK(same);
      EXPECT_EQ(DifferenceOf((*gradient)[0], (*same)[0]), "") << c.input.ToString();
    }
  }
}

// A NaN is the maximum only as the first tap of its window. It is 1 of 19 channels, so that both
// vectors and what remains of a row have one.
TEST(FusedPooling, ANanIsWhereTheReferenceHasIt) {
  const Case c{{2, 9, 9, 19}, 3, 2, "SAME"};
  Array x = RandomArray(c.input, 1);
  for (int64_t i = 0; i < x.num_elements(); i += 7)
    x.data<float>()[i] = i % 3 == 0 ? std::numeric_limits<float>::infinity() : std::nanf("");
  for (const DType dtype : {DType::kFloat32, DType::kBfloat16}) {
    const auto pooled = RunKernel(ForwardSpec(c, dtype), {x.Cast(dtype)}, KernelTier::kFused);
    const auto expected =
        RunReferenceKernel(ForwardSpec(c, DType::kFloat32), {InFloat32(x.Cast(dtype))});
    EST_ASSERT_OK(pooled);
    EST_ASSERT_OK(expected);
    EXPECT_EQ(DifferenceOf(InFloat32((*pooled)[0]), (*expected)[0]), "");
    EXPECT_EQ(DifferenceOf((*pooled)[1], (*expected)[1]), "");
    // A gradient of NaN reaches its element only, and is 0 where y is NaN, as y > 0 is false.
    Array dy = RandomArray(c.output(), 2);
    dy.data<float>()[5] = std::nanf("");
    const std::vector<Array> inputs = {(*pooled)[1], dy.Cast(dtype), (*pooled)[0]};
    const auto dx = RunKernel(BackwardSpec(c, dtype), inputs, KernelTier::kFused);
    const auto wide = RunReferenceKernel(BackwardSpec(c, DType::kFloat32),
                                         {inputs[0], InFloat32(inputs[1]), InFloat32(inputs[2])});
    EST_ASSERT_OK(dx);
    EST_ASSERT_OK(wide);
    EXPECT_EQ(DifferenceOf((*dx)[0], (*wide)[0].Cast(dtype)), "");
  }
}

TEST(FusedPooling, MaxPoolsDoNotDependOnTheNumberOfThreads) {
  const Case c{{3, 41, 37, 35}, 3, 2, "SAME"};
  const Array x = InBfloat16(RandomArray(c.input, 1)), dy = InBfloat16(RandomArray(c.output(), 2));
  const int before = omp_get_max_threads();
  // tsan does not know the barriers of OpenMP, so its tests have one thread.
  if (before == 1) GTEST_SKIP() << "OMP_NUM_THREADS is 1";
  std::vector<Array> first;
  for (const int threads : {1, 2, 5}) {
    omp_set_num_threads(threads);
    const auto pooled = RunKernel(ForwardSpec(c, DType::kBfloat16), {x}, KernelTier::kFused);
    EST_ASSERT_OK(pooled);
    const auto dx =
        RunKernel(BackwardSpec(c, DType::kBfloat16), {(*pooled)[1], dy}, KernelTier::kFused);
    EST_ASSERT_OK(dx);
    const std::vector<Array> all = {(*pooled)[0], (*pooled)[1], (*dx)[0]};
    if (first.empty()) first = all;
    for (size_t i = 0; i < all.size(); ++i)
      EXPECT_TRUE(SameBits(all[i], first[i])) << threads << " threads, result " << i;
  }
  omp_set_num_threads(before);
}

// A window in the padding has no maximum. No fast kernel may give it one.
TEST(FusedPooling, LeavesWindowsOfPaddingToTheReference) {
  const KernelSpec spec =
      CompleteSpec({.op = "MaxPool",
                    .name = "p",
                    .attrs = {{"ksize", std::vector<int64_t>{1, 2, 2, 1}},
                              {"strides", std::vector<int64_t>{1, 2, 2, 1}},
                              {"padding", std::string("EXPLICIT")},
                              {"explicit_paddings", std::vector<int64_t>{0, 0, 2, 0, 0, 0, 0, 0}},
                              {"data_format", std::string("NHWC")}},
                    .outputs = {F32({1, 3, 2, 1})}},
                   {RandomArray({1, 4, 4, 1}, 1)});
  EXPECT_FALSE(TierAccepts(spec, KernelTier::kFused));
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
