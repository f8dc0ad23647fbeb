#include "estimator/kernels/kernel_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace estimator {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using Pass = ConvolutionCase::Pass;
using enum NativeKernel;

// The rules get the instructions as an argument, so every machine tests all of them.
constexpr CpuFeatures kAvx2{}, kAvx512{.avx512 = true}, kAmx{.avx512 = true, .amx = true};
constexpr DType kF32 = DType::kFloat32, kBf16 = DType::kBfloat16;

TEST(MatMulRules, GemmTakesWideProductsOfSomeDepth) {
  for (const MatMulCase& product :
       {MatMulCase{.m = 1024, .n = 3072, .k = 768}, MatMulCase{.m = 128, .n = 1000, .k = 64},
        MatMulCase{.m = 1024, .n = 1024, .k = 3136},
        MatMulCase{.m = 128, .n = 3136, .k = 1024, .transpose_b = true},
        MatMulCase{.m = 16, .n = 2000, .k = 1024, .transpose_b = true},
        MatMulCase{.m = 3136, .n = 1024, .k = 1024, .transpose_a = true}}) {
    EXPECT_THAT(FastKernels(product, kAvx512), ElementsAre(kGemm));
    EXPECT_THAT(FastKernels(product, kAvx2), IsEmpty());
  }
  for (const MatMulCase& product :
       {MatMulCase{.m = 127, .n = 1000, .k = 64}, MatMulCase{.m = 128, .n = 999, .k = 64},
        MatMulCase{.m = 128, .n = 1000, .k = 63}, MatMulCase{.m = 32, .n = 2000, .k = 1024},
        MatMulCase{.m = 15, .n = 2000, .k = 1024, .transpose_b = true},
        MatMulCase{.m = 33, .n = 2000, .k = 1024, .transpose_b = true}}) {
    EXPECT_THAT(FastKernels(product, kAvx512), IsEmpty());
  }
}

TEST(MatMulRules, TilesTakeMostProductsOfF32WithAmx) {
  const auto kernels = [](const MatMulCase& product, const CpuFeatures& cpu) {
    return FastKernels(product, cpu);
  };
  EXPECT_THAT(kernels({.m = 128, .n = 64, .k = 64}, kAmx), ElementsAre(kBfloat16Tiles));
  EXPECT_THAT(kernels({.m = 128, .n = 64, .k = 64}, kAvx512), IsEmpty());
  EXPECT_THAT(kernels({.m = 128, .n = 64, .k = 63}, kAmx), IsEmpty());
  EXPECT_THAT(kernels({.m = 32, .n = 64, .k = 64}, kAmx), ElementsAre(kBfloat16Tiles));
  EXPECT_THAT(kernels({.m = 31, .n = 64, .k = 1024}, kAmx), IsEmpty());
  EXPECT_THAT(kernels({.m = 16, .n = 64, .k = 64, .transpose_a = true}, kAmx),
              ElementsAre(kBfloat16Tiles));
  // Where both are faster than oneDNN, tiles come first.
  EXPECT_THAT(kernels({.m = 1024, .n = 3072, .k = 768}, kAmx), ElementsAre(kBfloat16Tiles, kGemm));
}

TEST(MatMulRules, SomeProductsOfBfloat16AreLeftToOneDnn) {
  for (const CpuFeatures& cpu : {kAvx512, kAmx}) {
    const auto chosen = [&cpu](MatMulCase product) {
      product.dtype = kBf16;
      const std::vector<NativeKernel> kernels = FastKernels(product, cpu);
      return !kernels.empty() && kernels[0] == kBfloat16Tiles;
    };
    EXPECT_FALSE(chosen({.m = 128, .n = 64, .k = 64}));
    EXPECT_TRUE(chosen({.m = 128, .n = 64, .k = 2048}));
    EXPECT_TRUE(chosen({.m = 33, .n = 64, .k = 1536}));
    EXPECT_EQ(chosen({.m = 32, .n = 64, .k = 1536}), !cpu.amx);
    EXPECT_FALSE(chosen({.m = 31, .n = 64, .k = 1536}));
    EXPECT_FALSE(chosen({.m = 33, .n = 64, .k = 1535}));
    EXPECT_EQ(chosen({.m = 1024, .n = 2048, .k = 64}), cpu.amx);
    EXPECT_FALSE(chosen({.m = 1023, .n = 2048, .k = 64}));
    EXPECT_FALSE(chosen({.m = 1024, .n = 2047, .k = 64}));
    EXPECT_FALSE(chosen({.m = 1024, .n = 2048, .k = 64, .transpose_b = true}));
    EXPECT_EQ(chosen({.m = 128, .n = 64, .k = 64, .transpose_a = true}), cpu.amx);
    EXPECT_EQ(chosen({.m = 128, .n = 64, .k = 255, .transpose_a = true}), cpu.amx);
    EXPECT_TRUE(chosen({.m = 128, .n = 64, .k = 256, .transpose_a = true}));
    EXPECT_EQ(chosen({.m = 128, .n = 64, .k = 64, .transpose_b = true}), !cpu.amx);
    EXPECT_EQ(chosen({.m = 32, .n = 64, .k = 64, .transpose_b = true}), !cpu.amx);
    EXPECT_FALSE(chosen({.m = 129, .n = 64, .k = 64, .transpose_b = true}));
    EXPECT_FALSE(chosen({.m = 31, .n = 64, .k = 64, .transpose_b = true}));
    EXPECT_FALSE(chosen({.m = 128, .n = 64, .k = 63, .transpose_a = true}));
  }
}

// Square images and filters, as many input as output channels.
ConvolutionCase Conv(Pass pass, DType dtype, int64_t images, int64_t size, int64_t channels,
                     int64_t taps) {
  return {.pass = pass,
          .dtype = dtype,
          .images = images,
          .in_columns = size,
          .in_channels = channels,
          .out_rows = size,
          .out_columns = size,
          .out_channels = channels,
          .filter_rows = taps,
          .filter_columns = taps};
}

TEST(ConvolutionRules, WinogradNeedsSomePixels) {
  // The smallest number of images of 8x8 pixels with which Winograd's algorithm is taken.
  const auto fewest = [](Pass pass, int64_t channels, int64_t taps, const CpuFeatures& cpu) {
    int64_t images = 1;
    while (images < 100 &&
           !testing::Value(FastKernels(Conv(pass, kF32, images, 8, channels, taps), cpu),
                           Contains(kWinograd))) {
      ++images;
    }
    return images;
  };
  for (const CpuFeatures& cpu : {kAvx2, kAvx512}) {
    for (const Pass pass : {Pass::kForward, Pass::kInputGradient, Pass::kFilterGradient}) {
      EXPECT_EQ(fewest(pass, 16, 3, cpu), 3);  // 192 pixels
      EXPECT_EQ(fewest(pass, 511, 5, cpu), 3);
    }
    EXPECT_EQ(fewest(Pass::kForward, 512, 3, cpu), 6);  // 384
    EXPECT_EQ(fewest(Pass::kInputGradient, 512, 3, cpu), 6);
    EXPECT_EQ(fewest(Pass::kFilterGradient, 512, 3, cpu), 8);  // 512
  }
  // Images smaller than a tile: 256 pixels.
  EXPECT_THAT(FastKernels(Conv(Pass::kForward, kF32, 64, 2, 512, 3), kAvx512), Contains(kWinograd));
  EXPECT_THAT(FastKernels(Conv(Pass::kForward, kF32, 63, 2, 512, 3), kAvx512),
              Not(Contains(kWinograd)));
}

TEST(ConvolutionRules, WinogradTakesSomeConvolutionsOfFewChannels) {
  const auto takes = [](Pass pass, int64_t in, int64_t out, int64_t taps, int64_t images = 32,
                        int64_t size = 8, const CpuFeatures& cpu = kAvx512) {
    ConvolutionCase conv = Conv(pass, kF32, images, size, in, taps);
    conv.out_channels = out;
    return testing::Value(FastKernels(conv, cpu), Contains(kWinograd));
  };
  EXPECT_TRUE(takes(Pass::kForward, 6, 1, 3));
  EXPECT_FALSE(takes(Pass::kForward, 5, 23, 3));
  EXPECT_TRUE(takes(Pass::kForward, 4, 24, 3));
  EXPECT_FALSE(takes(Pass::kForward, 3, 64, 3));
  EXPECT_TRUE(takes(Pass::kForward, 3, 1, 5));
  EXPECT_FALSE(takes(Pass::kForward, 2, 64, 5));
  EXPECT_TRUE(takes(Pass::kInputGradient, 1, 8, 3));  // output channels first
  EXPECT_FALSE(takes(Pass::kInputGradient, 63, 7, 3));
  EXPECT_TRUE(takes(Pass::kInputGradient, 64, 4, 3));
  EXPECT_TRUE(takes(Pass::kInputGradient, 1, 6, 5));
  EXPECT_FALSE(takes(Pass::kInputGradient, 63, 5, 5));
  EXPECT_TRUE(takes(Pass::kFilterGradient, 8, 1, 3));
  EXPECT_FALSE(takes(Pass::kFilterGradient, 7, 23, 3));
  EXPECT_TRUE(takes(Pass::kFilterGradient, 6, 24, 3));
  EXPECT_TRUE(takes(Pass::kFilterGradient, 6, 1, 5));
  EXPECT_FALSE(takes(Pass::kFilterGradient, 5, 23, 5));
  // oneDNN is slower with AVX2.
  EXPECT_TRUE(takes(Pass::kForward, 4, 1, 3, 32, 8, kAvx2));
  EXPECT_TRUE(takes(Pass::kInputGradient, 16, 4, 3, 32, 8, kAvx2));
  EXPECT_TRUE(takes(Pass::kFilterGradient, 4, 12, 3, 32, 8, kAvx2));
  EXPECT_FALSE(takes(Pass::kForward, 3, 64, 3, 32, 8, kAvx2));
  EXPECT_FALSE(takes(Pass::kInputGradient, 64, 3, 3, 32, 8, kAvx2));
  EXPECT_FALSE(takes(Pass::kFilterGradient, 7, 11, 3, 32, 8, kAvx2));
  EXPECT_TRUE(takes(Pass::kFilterGradient, 3, 12, 5, 32, 8, kAvx2));
  EXPECT_FALSE(takes(Pass::kFilterGradient, 5, 11, 5, 32, 8, kAvx2));
  for (const Pass pass : {Pass::kForward, Pass::kInputGradient, Pass::kFilterGradient}) {
    EXPECT_FALSE(takes(pass, 12, 12, 3, 31));      // fewer than 2048 pixels
    EXPECT_FALSE(takes(pass, 12, 12, 3, 512, 3));  // images smaller than a tile
  }
}

TEST(ConvolutionRules, FirstLayersHaveSmallFiltersOrSomeOutputChannels) {
  const auto takes = [](int64_t in, int64_t out, int64_t rows, int64_t columns,
                        ConvAlgorithm algorithm = ConvAlgorithm::kAuto) {
    ConvolutionCase conv = Conv(Pass::kForward, kF32, 32, 28, in, rows);
    conv.out_channels = out;
    conv.filter_columns = columns;
    ConvolutionCase gradient = conv;
    gradient.pass = Pass::kFilterGradient;
    const bool takes = testing::Value(FastKernels(conv, kAvx512, algorithm), Contains(kFirstLayer));
    EXPECT_EQ(testing::Value(FastKernels(gradient, kAvx512, algorithm), Contains(kFirstLayer)),
              takes);
    return takes;
  };
  EXPECT_TRUE(takes(4, 1, 3, 3));
  EXPECT_TRUE(takes(1, 6, 5, 5));
  EXPECT_TRUE(takes(3, 1, 5, 5));
  EXPECT_TRUE(takes(4, 9, 5, 5));
  EXPECT_FALSE(takes(4, 8, 5, 5));
  EXPECT_TRUE(takes(1, 12, 7, 7));
  EXPECT_FALSE(takes(1, 11, 7, 7));
  EXPECT_TRUE(takes(3, 64, 7, 7));
  EXPECT_FALSE(takes(4, 64, 7, 7));
  EXPECT_FALSE(takes(3, 11, 3, 6));
  EXPECT_TRUE(takes(3, 11, 3, 6, ConvAlgorithm::kWinograd));
  EXPECT_THAT(FastKernels(Conv(Pass::kInputGradient, kF32, 32, 28, 3, 3), kAvx512), IsEmpty());
}

TEST(ConvolutionRules, WinogradIsTakenEverywhereIfAskedFor) {
  const ConvolutionCase few = Conv(Pass::kForward, kF32, 1, 4, 16, 3);
  EXPECT_THAT(FastKernels(few, kAvx512), Not(Contains(kWinograd)));
  EXPECT_THAT(FastKernels(few, kAvx512, ConvAlgorithm::kWinograd), Contains(kWinograd));
}

TEST(ConvolutionRules, WithAmxTilesComeFirstForSmallFilters) {
  for (const Pass pass : {Pass::kForward, Pass::kInputGradient}) {
    for (const int64_t taps : {1, 3}) {
      EXPECT_EQ(FastKernels(Conv(pass, kF32, 32, 28, 64, taps), kAmx).front(), kBfloat16Tiles);
    }
    EXPECT_EQ(FastKernels(Conv(pass, kF32, 32, 28, 64, 5), kAmx).back(), kBfloat16Tiles);
    EXPECT_NE(FastKernels(Conv(pass, kF32, 32, 28, 64, 5), kAmx).front(), kBfloat16Tiles);
  }
  const auto first_of_gradient = [](int64_t size, int64_t channels) {
    return FastKernels(Conv(Pass::kFilterGradient, kF32, 32, size, channels, 3), kAmx).front();
  };
  EXPECT_EQ(first_of_gradient(14, 128), kBfloat16Tiles);
  EXPECT_NE(first_of_gradient(13, 128), kBfloat16Tiles);
  EXPECT_NE(first_of_gradient(14, 127), kBfloat16Tiles);
}

TEST(ConvolutionRules, SplitNumbersNeedSomePixels) {
  const auto takes = [](Pass pass, DType dtype, int64_t images, int64_t size) {
    return testing::Value(FastKernels(Conv(pass, dtype, images, size, 64, 3), kAmx),
                          Contains(kBfloat16Tiles));
  };
  for (const Pass pass : {Pass::kForward, Pass::kInputGradient}) {
    EXPECT_TRUE(takes(pass, kF32, 4, 8));  // 256 pixels
    EXPECT_FALSE(takes(pass, kF32, 3, 8));
    EXPECT_TRUE(takes(pass, kBf16, 1, 2));
  }
  EXPECT_TRUE(takes(Pass::kFilterGradient, kF32, 1, 8));  // 64 pixels
  EXPECT_FALSE(takes(Pass::kFilterGradient, kF32, 1, 7));
  EXPECT_TRUE(takes(Pass::kFilterGradient, kBf16, 1, 7));
}

TEST(ConvolutionRules, WithoutAmxTilesOnlyComputeGradientsOfOneTapFromBfloat16) {
  for (const Pass pass : {Pass::kForward, Pass::kInputGradient, Pass::kFilterGradient}) {
    for (const DType dtype : {kF32, kBf16}) {
      for (const int64_t taps : {1, 3}) {
        const std::vector<NativeKernel> kernels =
            FastKernels(Conv(pass, dtype, 32, 28, 64, taps), kAvx512);
        const bool tiles = pass == Pass::kFilterGradient && dtype == kBf16 && taps == 1;
        EXPECT_EQ(testing::Value(kernels, Contains(kBfloat16Tiles)), tiles);
        EXPECT_EQ(testing::Value(kernels, Contains(kBfloat16Winograd)), dtype == kBf16 && !tiles);
      }
    }
  }
}

TEST(ConvolutionRules, Bfloat16WinogradNeedsSomePixels) {
  const auto takes = [](int64_t images, ConvAlgorithm algorithm) {
    return testing::Value(
        FastKernels(Conv(Pass::kForward, kBf16, images, 8, 32, 3), kAvx512, algorithm),
        Contains(kBfloat16Winograd));
  };
  EXPECT_TRUE(takes(2, ConvAlgorithm::kAuto));  // 128 pixels
  EXPECT_FALSE(takes(1, ConvAlgorithm::kAuto));
  EXPECT_TRUE(takes(1, ConvAlgorithm::kWinograd));
}

TEST(Bfloat16Rules, CastsPayOffForLargeMatricesAndForConvolutionsWithAmx) {
  EXPECT_TRUE(IsFasterInBfloat16(32, 32, 32, 32));
  EXPECT_FALSE(IsFasterInBfloat16(31, 1024, 31, 1024));
  EXPECT_FALSE(IsFasterInBfloat16(1024, 1024, 1024, 10));
  EXPECT_TRUE(ConvolutionsAreFasterInBfloat16(kAmx));
  EXPECT_FALSE(ConvolutionsAreFasterInBfloat16(kAvx512));
}

TEST(OneDnnRules, SlowKernelsAreAvoided) {
  EXPECT_TRUE(OneDnnFilterGradientIsSlow(kBf16, true));
  EXPECT_FALSE(OneDnnFilterGradientIsSlow(kBf16, false));
  EXPECT_FALSE(OneDnnFilterGradientIsSlow(kF32, true));
  EXPECT_TRUE(OneDnnMatMulIsFasterTransposed(128, 1024));
  EXPECT_FALSE(OneDnnMatMulIsFasterTransposed(95, 1024));
  EXPECT_FALSE(OneDnnMatMulIsFasterTransposed(1024, 1024));
}

}  // namespace
}  // namespace estimator
