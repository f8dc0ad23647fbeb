#include "estimator/kernels/bfloat16/winograd_kernels.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "estimator/array/array.h"
#include "estimator/kernels/bfloat16/testing/results.h"
#include "estimator/kernels/bfloat16/tiles.h"
#include "estimator/kernels/bfloat16/winograd.h"
#include "estimator/kernels/kernel.h"
#include "estimator/kernels/layout.h"
#include "estimator/kernels/testing/tiers.h"
#include "estimator/kernels/window.h"

namespace estimator::bfloat16 {
namespace {

// The numbers at the points are rounded to bf16 (relative error 2^-9), and 9 of them make an
// output. The largest error of some thousand outputs is 2 % of their root mean square.
constexpr double kLargestError = 3e-2;

struct Case {
  Shape image, filter;
  std::string padding = "SAME";

  Attrs attrs() const { return ConvAttrs(1, padding, 1, {0, 0, 3, 0, 0, 4, 0, 0}); }
  Shape y() const { return MakeConvGeometry(attrs(), image, filter)->output(); }
  Array x() const { return RandomArray(image, 1).Cast(DType::kBfloat16); }
  Array w() const { return RandomArray(filter, 2, -0.1f, 0.1f).Cast(DType::kBfloat16); }
  Array dy() const { return RandomArray(y(), 3).Cast(DType::kBfloat16); }

  KernelSpec forward() const {
    return {.op = "Conv2D", .name = "y", .attrs = attrs(), .outputs = {{DType::kBfloat16, y()}}};
  }
  KernelSpec input_gradient() const {
    return {.op = "Conv2DBackpropInput",
            .name = "dx",
            .attrs = attrs(),
            .outputs = {{DType::kBfloat16, image}}};
  }
  KernelSpec filter_gradient(DType dtype = DType::kFloat32) const {
    return {
        .op = "Conv2DBackpropFilter", .name = "dw", .attrs = attrs(), .outputs = {{dtype, filter}}};
  }
};

std::vector<Case> Cases() {
  return {{{2, 8, 8, 32}, {3, 3, 32, 64}},
          {{3, 7, 7, 64}, {3, 3, 64, 32}},
          {{1, 9, 4, 32}, {3, 3, 32, 32}},
          {{2, 6, 11, 96}, {3, 3, 96, 32}, "VALID"},
          {{2, 5, 6, 32}, {3, 3, 32, 32}, "EXPLICIT"},
          {{1, 1, 1, 32}, {3, 3, 32, 32}},
          {{9, 16, 16, 32}, {3, 3, 32, 32}}};
}

Array SizesOf(const Shape& shape) {
  Array sizes(DType::kInt32, Shape{4});
  for (int i = 0; i < 4; ++i) sizes.data<int32_t>()[i] = static_cast<int32_t>(shape[i]);
  return sizes;
}

class Bfloat16Winograd : public testing::Test {
 protected:
  void SetUp() override {
    if (!IsAvailable()) GTEST_SKIP() << "this CPU lacks AVX-512 for bf16";
  }
};

TEST_F(Bfloat16Winograd, ErrorsAreSmall) {
  for (const Case& c : Cases()) {
    SCOPED_TRACE(c.image.ToString() + " " + c.filter.ToString() + " " + c.padding);
    // The error includes the rounding of results.
    EXPECT_LE(LargestError(FromConvSpec<MakeWinogradConvolution>, c.forward(), {c.x(), c.w()}),
              kLargestError);
    EXPECT_LE(LargestError(FromConvSpec<MakeWinogradInputGradient>, c.input_gradient(),
                           {SizesOf(c.image), c.w(), c.dy()}),
              kLargestError);
    EXPECT_LE(LargestError(FromConvSpec<MakeWinogradFilterGradient>, c.filter_gradient(),
                           {c.x(), SizesOf(c.filter), c.dy()}),
              kLargestError);
  }
}

// Small integers have exact points. Those of the filter are multiples of 1/4.
TEST_F(Bfloat16Winograd, SmallIntegersHaveExactResults) {
  const Case c{{2, 7, 8, 32}, {3, 3, 32, 64}};
  const auto integers = [](const Shape& shape) {
    Array array(DType::kFloat32, shape);
    for (int64_t i = 0; i < array.num_elements(); ++i)
      array.data<float>()[i] = static_cast<float>(i * 7919 % 13 % 3 - 1);
    return array.Cast(DType::kBfloat16);
  };
  const Array x = integers(c.image), w = integers(c.filter), dy = integers(c.y());
  const auto expect_exact = [](Factory factory, const KernelSpec& spec,
                               const std::vector<Array>& operands) {
    EXPECT_EQ(LargestError(factory, spec, operands), 0) << spec.op;
  };
  expect_exact(FromConvSpec<MakeWinogradConvolution>, c.forward(), {x, w});
  expect_exact(FromConvSpec<MakeWinogradInputGradient>, c.input_gradient(),
               {SizesOf(c.image), w, dy});
  expect_exact(FromConvSpec<MakeWinogradFilterGradient>, c.filter_gradient(),
               {x, SizesOf(c.filter), dy});
}

TEST_F(Bfloat16Winograd, AGradientInBfloat16IsTheRoundedOneInF32) {
  const Case c{{4, 8, 8, 64}, {3, 3, 64, 96}};
  const std::vector<Array> operands = {c.x(), SizesOf(c.filter), c.dy()};
  const Array wide =
      RunWithDirtyScratch(FromConvSpec<MakeWinogradFilterGradient>, c.filter_gradient(), operands);
  const Array narrow = RunWithDirtyScratch(FromConvSpec<MakeWinogradFilterGradient>,
                                           c.filter_gradient(DType::kBfloat16), operands);
  EXPECT_TRUE(SameBits(wide.Cast(DType::kBfloat16), narrow));
}

TEST_F(Bfloat16Winograd, ProgramsTakeItWithoutAmx) {
  if (HasAmx()) GTEST_SKIP() << "with AMX, the direct algorithm is faster";
  const Case c{{4, 8, 8, 64}, {3, 3, 64, 96}};
  const auto expect_taken = [](Factory factory, const KernelSpec& spec,
                               const std::vector<Array>& operands) {
    const auto taken = RunKernel(spec, operands, KernelTier::kNative);
    EST_ASSERT_OK(taken);
    EXPECT_TRUE(SameBits((*taken)[0], RunWithDirtyScratch(factory, spec, operands))) << spec.op;
  };
  expect_taken(FromConvSpec<MakeWinogradConvolution>, c.forward(), {c.x(), c.w()});
  expect_taken(FromConvSpec<MakeWinogradInputGradient>, c.input_gradient(),
               {SizesOf(c.image), c.w(), c.dy()});
  expect_taken(FromConvSpec<MakeWinogradFilterGradient>, c.filter_gradient(),
               {c.x(), SizesOf(c.filter), c.dy()});
}

TEST_F(Bfloat16Winograd, HasTheSameBitsForEveryNumberOfThreads) {
  const Convolution conv{.images = 3,
                         .in_rows = 9,
                         .in_columns = 8,
                         .in_channels = 64,
                         .out_rows = 9,
                         .out_columns = 8,
                         .out_channels = 96,
                         .filter_rows = 3,
                         .filter_columns = 3,
                         .pad_top = 1,
                         .pad_left = 1};
  const Array x = RandomArray({3, 9, 8, 64}, 1).Cast(DType::kBfloat16),
              dy = RandomArray({3, 9, 8, 96}, 2).Cast(DType::kBfloat16),
              w = RandomArray({3, 3, 64, 96}, 3).Cast(DType::kBfloat16);
  std::vector<Array> results;
  for (const int threads : {1, 2, 3, 16, 64}) {
    const WinogradPlan plan = MakeWinogradPlan(conv, threads);
    const auto bytes = [](size_t count) {
      return Array(DType::kUint8, Shape{static_cast<int64_t>(count)});
    };
    Array filter = bytes(plan.filter_bytes()), scratch = bytes(plan.convolve_bytes()),
          gradient_scratch = bytes(plan.filter_gradient_bytes());
    Array y(DType::kBfloat16, {3, 9, 8, 96}), dw(DType::kFloat32, {3, 3, 64, 96});
    TransformFilter(plan, w.data<Bfloat16>(), false, static_cast<Bfloat16*>(filter.raw()));
    WinogradConvolve(plan, x.data<Bfloat16>(), static_cast<const Bfloat16*>(filter.raw()),
                     y.data<Bfloat16>(), scratch.raw());
    WinogradFilterGradient(plan, x.data<Bfloat16>(), dy.data<Bfloat16>(), dw.data<float>(),
                           gradient_scratch.raw());
    if (results.empty()) results = {y, dw};
    EXPECT_TRUE(SameBits(y, results[0])) << threads << " threads";
    EXPECT_TRUE(SameBits(dw, results[1])) << threads << " threads";
  }
}

TEST_F(Bfloat16Winograd, OtherSpecsAreRefused) {
  const auto accepted = [](const Case& c, ConvAlgorithm algorithm, DType dtype = DType::kBfloat16) {
    KernelSpec spec = c.forward();
    spec.conv_algorithm = algorithm;
    spec.outputs[0].dtype = dtype;
    return FromConvSpec<MakeWinogradConvolution>(CompleteSpec(spec, {c.x(), c.w()})) != nullptr;
  };
  const Case c = Cases()[0];
  EXPECT_TRUE(accepted(c, ConvAlgorithm::kAuto));
  EXPECT_TRUE(accepted(c, ConvAlgorithm::kWinograd));
  EXPECT_FALSE(accepted(c, ConvAlgorithm::kDirect));
  EXPECT_FALSE(accepted(c, ConvAlgorithm::kAuto, DType::kFloat32));
  EXPECT_FALSE(accepted({{2, 8, 8, 32}, {1, 1, 32, 64}}, ConvAlgorithm::kAuto));
  EXPECT_FALSE(accepted({{2, 8, 8, 48}, {3, 3, 48, 64}}, ConvAlgorithm::kAuto));
  EXPECT_FALSE(accepted({{2, 8, 8, 32}, {3, 3, 32, 48}}, ConvAlgorithm::kAuto));
}

}  // namespace
}  // namespace estimator::bfloat16
