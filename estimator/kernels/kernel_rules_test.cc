#include "estimator/kernels/kernel_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "estimator/kernels/kernel_list.h"

namespace estimator {
namespace {

using ::testing::Contains;
using ::testing::Not;
using Pass = ConvSpec::Pass;
using enum NativeKernel;

// The rules get the instructions as an argument, so every machine tests all of them.
constexpr CpuFeatures kAvx2{}, kAvx512{.avx512 = true}, kAmx{.avx512 = true, .amx = true};
constexpr DType kF32 = DType::kFloat32, kBf16 = DType::kBfloat16;

MatMulSpec Product(const MatMulSizes& sizes, DType dtype) {
  return {.sizes = sizes, .a = {dtype, {}}};
}

// Square images and filters.
ConvSpec Conv(Pass pass, DType dtype, int64_t images, int64_t size, int64_t in, int64_t out,
              int64_t taps) {
  ConvSpec spec{.pass = pass, .x = {dtype, {}}, .filter = {dtype, {}}, .y = {dtype, {}}};
  spec.geometry.batch = images;
  spec.geometry.in_channels = in;
  spec.geometry.out_channels = out;
  spec.geometry.rows = spec.geometry.columns = {.input = size, .kernel = taps, .output = size};
  return spec;
}

// Calls fn for many convolutions, each with 1, 2, 4, ... images.
template <typename Fn>
void ForEachConv(Fn&& fn) {
  for (const Pass pass : {Pass::kForward, Pass::kInputGradient, Pass::kFilterGradient}) {
    for (const DType dtype : {kF32, kBf16}) {
      for (const int64_t size : {2, 7, 14, 28}) {
        for (const int64_t in : {1, 3, 4, 8, 16, 64, 512}) {
          for (const int64_t out : {1, 8, 16, 64, 512}) {
            for (const int64_t taps : {1, 3, 5, 7}) {
              fn([=](int64_t images) { return Conv(pass, dtype, images, size, in, out, taps); });
            }
          }
        }
      }
    }
  }
}

template <typename Fn>
void ForEachProduct(Fn&& fn) {
  for (const DType dtype : {kF32, kBf16}) {
    for (const int64_t m : {1, 16, 31, 32, 128, 1024}) {
      for (const int64_t n : {10, 64, 1000, 4096}) {
        for (const int64_t k : {10, 64, 256, 2048}) {
          for (const int transposed : {0, 1, 2}) {
            fn(Product({.m = m,
                        .n = n,
                        .k = k,
                        .transpose_a = transposed == 1,
                        .transpose_b = transposed == 2},
                       dtype));
          }
        }
      }
    }
  }
}

TEST(ConvolutionRules, AKernelThatIsFastForSomeImagesIsFastForMore) {
  ForEachConv([](const auto& conv) {
    for (const CpuFeatures& cpu : {kAvx2, kAvx512, kAmx}) {
      std::set<NativeKernel> fast;
      for (int64_t images = 1; images <= 1024; images *= 2) {
        const std::vector<NativeKernel> kernels = FastKernels(conv(images), cpu);
        for (const NativeKernel kernel : fast) EXPECT_THAT(kernels, Contains(kernel));
        fast.insert(kernels.begin(), kernels.end());
        EXPECT_EQ(fast.size(), kernels.size()) << "no kernel is in the list twice";
      }
    }
  });
}

TEST(ConvolutionRules, KernelsOfOtherCpusAreNotListed) {
  ForEachConv([](const auto& conv) {
    const ConvSpec spec = conv(64);
    if (spec.dtype() == kF32) {
      EXPECT_THAT(FastKernels(spec, kAvx2), Not(Contains(kBfloat16Tiles)));
      EXPECT_THAT(FastKernels(spec, kAvx512), Not(Contains(kBfloat16Tiles)));
      EXPECT_THAT(FastKernels(spec, kAvx512), Not(Contains(kBfloat16Winograd)));
    }
    // With AMX, tiles are at least as fast as Winograd's algorithm in bf16.
    EXPECT_THAT(FastKernels(spec, kAmx), Not(Contains(kBfloat16Winograd)));
  });
}

TEST(ConvolutionRules, FirstLayersHaveNoGradientOfTheInput) {
  ForEachConv([](const auto& conv) {
    const ConvSpec spec = conv(64);
    if (spec.pass != Pass::kInputGradient) return;
    EXPECT_THAT(FastKernels(spec, kAvx512), Not(Contains(kFirstLayer)));
  });
}

TEST(ConvolutionRules, WinogradIsTakenEverywhereIfAskedFor) {
  ForEachConv([](const auto& conv) {
    ConvSpec spec = conv(1);
    spec.algorithm = ConvAlgorithm::kWinograd;
    for (const CpuFeatures& cpu : {kAvx2, kAvx512, kAmx})
      EXPECT_THAT(FastKernels(spec, cpu), Contains(kWinograd));
  });
}

TEST(MatMulRules, KernelsOfOtherCpusAreNotListed) {
  ForEachProduct([](const MatMulSpec& product) {
    EXPECT_THAT(FastKernels(product, kAvx2), Not(Contains(kGemm)));
    if (product.dtype() != kF32) return;
    EXPECT_THAT(FastKernels(product, kAvx512), Not(Contains(kBfloat16Tiles)));
    // Where both are faster than oneDNN, tiles come first.
    const std::vector<NativeKernel> kernels = FastKernels(product, kAmx);
    if (kernels.size() < 2) return;
    EXPECT_EQ(kernels[0], kBfloat16Tiles);
  });
}

TEST(Bfloat16Rules, CastsPayOffForLargeMatricesAndForConvolutionsWithAmx) {
  EXPECT_TRUE(IsFasterInBfloat16(1024, 1024, 1024, 1024));
  EXPECT_FALSE(IsFasterInBfloat16(1, 1024, 1, 1024));
  EXPECT_TRUE(ConvolutionsAreFasterInBfloat16(kAmx));
  EXPECT_FALSE(ConvolutionsAreFasterInBfloat16(kAvx512));
}

TEST(OneDnnRules, SlowKernelsAreAvoided) {
  EXPECT_TRUE(OneDnnFilterGradientIsSlow(kBf16, true));
  EXPECT_FALSE(OneDnnFilterGradientIsSlow(kBf16, false));
  EXPECT_FALSE(OneDnnFilterGradientIsSlow(kF32, true));
  EXPECT_TRUE(OneDnnMatMulIsFasterTransposed(128, 1024));
  EXPECT_FALSE(OneDnnMatMulIsFasterTransposed(1, 1024));
  EXPECT_FALSE(OneDnnMatMulIsFasterTransposed(1024, 1024));
  EXPECT_TRUE(OneDnnMatMulIsFasterWithOneThread(int64_t{32} * 32 * 128));
  EXPECT_FALSE(OneDnnMatMulIsFasterWithOneThread(int64_t{32} * 32 * 1000));
}

}  // namespace
}  // namespace estimator
