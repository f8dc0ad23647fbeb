#include "estimator/kernels/amx/kernels.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "estimator/array/array.h"
#include "estimator/array/compare.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/kernels/amx/tiles.h"
#include "estimator/kernels/kernel.h"
#include "estimator/kernels/layout.h"
#include "estimator/kernels/testing/tiers.h"
#include "estimator/kernels/widened.h"
#include "estimator/kernels/window.h"
#include "hwy/highway.h"

namespace estimator {
namespace {

// Sums of at most 1024 products below 1, in f32 and in another order.
constexpr Tolerance kSummationOrder{.relative = 1e-5, .absolute = 2e-4};
// The same sums, rounded to bf16: one unit.
constexpr Tolerance kUnit{.relative = 1.0 / 128, .absolute = 2e-4};

struct Case {
  Shape image, filter;
  int64_t stride = 1;
  std::string padding = "SAME";

  Attrs attrs() const {
    return {
        {"strides", std::vector<int64_t>{1, stride, stride, 1}},
        {"padding", padding},
        {"explicit_paddings", padding == "EXPLICIT" ? std::vector<int64_t>{0, 0, 2, 1, 0, 3, 0, 0}
                                                    : std::vector<int64_t>{}},
        {"data_format", std::string(kPlainFormat)}};
  }
  Shape output() const { return MakeConvGeometry(attrs(), image, filter)->output(); }

  KernelSpec spec(DType dtype) const {
    return {
        .op = "Conv2DBackpropFilter", .name = "df", .attrs = attrs(), .outputs = {{dtype, filter}}};
  }
  std::vector<Array> inputs() const {
    Array sizes(DType::kInt32, Shape{4});
    for (int i = 0; i < 4; ++i) sizes.data<int32_t>()[i] = static_cast<int32_t>(filter[i]);
    return {RandomArray(image, 1).Cast(DType::kBfloat16), sizes,
            RandomArray(output(), 2).Cast(DType::kBfloat16)};
  }
};

std::vector<Case> Cases() {
  return {{{2, 8, 8, 64}, {1, 1, 64, 32}},
          {{2, 8, 9, 32}, {1, 1, 32, 64}, 2},
          {{3, 7, 7, 32}, {3, 3, 32, 48}},
          {{1, 9, 10, 17}, {3, 3, 17, 19}, 1, "VALID"},
          {{3, 8, 9, 16}, {3, 3, 16, 32}, 2, "VALID"},  // the stride leaves a column unread
          {{2, 9, 8, 32}, {3, 3, 32, 32}, 2},
          {{2, 6, 7, 16}, {3, 2, 16, 24}, 1, "EXPLICIT"},
          {{2, 14, 14, 32}, {5, 5, 32, 64}}};
}

// "" if the kernel of the native tier matches the reference kernel, which computes on f32.
std::string DifferenceFromF32(const Case& c, DType dtype) {
  const std::vector<Array> inputs = c.inputs();
  const auto actual = RunKernel(c.spec(dtype), inputs, KernelTier::kNative);
  const auto expected = RunReferenceKernel(
      c.spec(DType::kFloat32),
      {inputs[0].Cast(DType::kFloat32), inputs[1], inputs[2].Cast(DType::kFloat32)});
  EST_EXPECT_OK(actual);
  EST_EXPECT_OK(expected);
  const bool f32 = dtype == DType::kFloat32;
  return Compare((*actual)[0], f32 ? (*expected)[0] : (*expected)[0].Cast(dtype),
                 f32 ? kSummationOrder : kUnit)
      .report;
}

TEST(AmxKernels, FilterGradientsMatchTheReference) {
  if (!amx::IsAvailable()) GTEST_SKIP() << "this CPU has no AMX";
  for (const Case& c : Cases()) {
    SCOPED_TRACE(c.image.ToString() + " " + c.filter.ToString());
    for (const DType dtype : {DType::kFloat32, DType::kBfloat16}) {
      const KernelSpec spec = CompleteSpec(c.spec(dtype), c.inputs());
      ASSERT_NE(amx::MakeFilterGradient(spec), nullptr);
      const auto kernel = CreateKernel(spec);
      EST_ASSERT_OK(kernel);
      EXPECT_EQ((*kernel)->tier(), KernelTier::kNative);
      EXPECT_FALSE(IsWidened(**kernel));
      EXPECT_EQ(DifferenceFromF32(c, dtype), "");
    }
  }
}

TEST(AmxKernels, ConvolutionsAndInputGradientsMatchTheReference) {
  if (!amx::IsAvailable()) GTEST_SKIP() << "this CPU has no AMX";
  int computed = 0;
  for (const Case& c : Cases()) {
    SCOPED_TRACE(c.image.ToString() + " " + c.filter.ToString());
    std::vector<Array> gradient_inputs = c.inputs();
    const Array x = gradient_inputs[0],
                filter = RandomArray(c.filter, 3, -0.1f, 0.1f).Cast(DType::kBfloat16);
    Array sizes(DType::kInt32, Shape{4});
    for (int i = 0; i < 4; ++i) sizes.data<int32_t>()[i] = static_cast<int32_t>(c.image[i]);
    gradient_inputs[0] = sizes;
    gradient_inputs[1] = filter;
    const KernelSpec forward{.op = "Conv2D",
                             .name = "y",
                             .attrs = c.attrs(),
                             .outputs = {{DType::kBfloat16, c.output()}}};
    const KernelSpec gradient{.op = "Conv2DBackpropInput",
                              .name = "dx",
                              .attrs = c.attrs(),
                              .outputs = {{DType::kBfloat16, c.image}}};
    const bool supported = amx::MakeConvolution(CompleteSpec(forward, {x, filter})) != nullptr;
    EXPECT_EQ(supported, c.stride == 1 || c.filter[0] == 1);
    EXPECT_EQ(supported,
              amx::MakeInputGradient(CompleteSpec(gradient, gradient_inputs)) != nullptr);
    if (!supported) continue;
    ++computed;
    EXPECT_MATCHES_REFERENCE(forward, {x, filter}, KernelTier::kNative, kUnit);
    EXPECT_MATCHES_REFERENCE(gradient, gradient_inputs, KernelTier::kNative, kUnit);
  }
  EXPECT_EQ(computed, 6);
}

TEST(AmxKernels, OtherSpecsAreRefused) {
  const auto refused = [](const KernelSpec& spec, const std::vector<Array>& inputs) {
    return amx::MakeFilterGradient(CompleteSpec(spec, inputs)) == nullptr;
  };
  const Case c{{2, 8, 8, 32}, {3, 3, 32, 16}};
  std::vector<Array> f32 = c.inputs();
  f32[0] = f32[0].Cast(DType::kFloat32);
  f32[2] = f32[2].Cast(DType::kFloat32);
  EXPECT_TRUE(refused(c.spec(DType::kFloat32), f32));
  KernelSpec dilated = c.spec(DType::kFloat32);
  dilated.attrs.Set("dilations", std::vector<int64_t>{1, 2, 2, 1});
  EXPECT_TRUE(refused(dilated, c.inputs()));
  KernelSpec groups = c.spec(DType::kFloat32);
  groups.outputs[0].shape = {3, 3, 16, 16};
  EXPECT_TRUE(refused(groups, c.inputs()));
  const Case few{{2, 8, 8, 3}, {3, 3, 3, 16}};
  EXPECT_TRUE(refused(few.spec(DType::kFloat32), few.inputs()));
  KernelSpec winograd = c.spec(DType::kFloat32);
  winograd.conv_algorithm = ConvAlgorithm::kWinograd;
  EXPECT_TRUE(refused(winograd, c.inputs()));
}

TEST(AmxKernels, WithoutAmxTheWidenedKernelIsTaken) {
  const Case c{{2, 8, 8, 64}, {1, 1, 64, 32}};
  hwy::SetSupportedTargetsForTest(HWY_AVX2);
  EXPECT_FALSE(amx::IsAvailable());
  EXPECT_EQ(amx::MakeFilterGradient(CompleteSpec(c.spec(DType::kFloat32), c.inputs())), nullptr);
  EXPECT_EQ(DifferenceFromF32(c, DType::kFloat32), "");
  hwy::SetSupportedTargetsForTest(0);
}

}  // namespace
}  // namespace estimator
