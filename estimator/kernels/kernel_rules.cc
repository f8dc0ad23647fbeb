#include "estimator/kernels/kernel_rules.h"

#include <algorithm>

namespace estimator {
namespace {

using Pass = ConvolutionCase::Pass;

// ---- Matrix products, by gemm/gemm_benchmark.

// Our own product of f32. On 2 cores with AVX-512 it is up to 40 % faster than oneDNN 2.6 for most results
// of at least 128 rows and 1000 columns, on an idle machine nowhere more than 5 % slower, and twice as fast for
// 3072 columns, where some CPUs compute oneDNN's at half their rate. These are left to oneDNN:
//   fewer than 1000 columns    few panels share the copy of a row: oneDNN is up to 15 % faster
//   fewer than 128 rows        few rows share the copy of a panel: up to 25 %. The gradient of an input
//                              (transpose_b) of 16 or 32 rows and at least 2000 columns takes 0.7 to 1.0 of
//                              oneDNN's time, so it is ours. 33 to 127 rows were not measured
//   depths below 64            a sum is written nearly as often as it is added to: up to 20 %
//   no AVX-512                 up to 15 %
bool GemmIsFast(const MatMulCase& p, const CpuFeatures& cpu) {
  if (p.dtype != DType::kFloat32 || !cpu.avx512 || p.n < 1000 || p.k < 64) return false;
  return p.m >= 128 || (p.transpose_b && p.n >= 2000 && p.m >= 16 && p.m <= 32);
}

// Products of tiles, of depths of at least 64; with fewer, sums are written nearly as often as they are added
// to. These are faster than all others:
//   f32    with AMX: at least 32 rows, or the gradient of weights (transpose_a)
//   bf16   the gradient of weights, without AMX only from a depth of 256 on; a depth of at least 1536 and
//          at least 32 rows, with AMX more
//          with AMX: at least 1024 rows and 2048 columns, unless transpose_b
//          without AMX: the gradient of an input (transpose_b) of 32 to 128 rows takes 0.75 of the time
bool TilesAreFast(const MatMulCase& p, const CpuFeatures& cpu) {
  constexpr int64_t kFewDepths = 64, kFewRows = 32;
  const bool splits = p.dtype == DType::kFloat32;
  if (p.k < kFewDepths || (splits && !cpu.amx)) return false;
  constexpr int64_t kSomeDepths = 256;
  if (p.transpose_a) return cpu.amx || p.k >= kSomeDepths;
  if (splits) return p.m >= kFewRows;
  constexpr int64_t kManyDepths = 1536, kManyColumns = 2048, kManyRows = 1024, kSomeRows = 128;
  if (p.k >= kManyDepths) return cpu.amx ? p.m > kFewRows : p.m >= kFewRows;
  if (cpu.amx) return p.m >= kManyRows && p.n >= kManyColumns && !p.transpose_b;
  return p.transpose_b && p.m >= kFewRows && p.m <= kSomeRows;
}

// ---- Convolutions, by native_tier_benchmark.

// Winograd's algorithm in f32, where a convolution has fewer than 16 input or output channels. It is faster with
// `many` channels on one side, and with `some` if there are at least `others` on the other side. That one side is the
// input channels, and for the gradient of the input, which sums over them, the output channels. With fewer, the
// transforms take longer than the products they save. At the limits Winograd takes 0.8 to 1.1 of oneDNN's time, and
// beyond them 0.3 to 1.0, on 2 cores of an AMD EPYC (Zen 5), for 6,000 to 100,000 pixels. The limit of 2,048 pixels is
// an earlier one, of 2,048 to 100,000.
struct FewChannels {
  int64_t many, some, others;
};
FewChannels FewChannelsOf(Pass pass, bool is_5x5, bool avx512) {
  switch (pass) {
    case Pass::kForward:
      if (avx512) return is_5x5 ? FewChannels{3, 3, 0} : FewChannels{6, 4, 24};
      return is_5x5 ? FewChannels{3, 3, 0} : FewChannels{4, 4, 0};
    case Pass::kInputGradient:
      if (avx512) return is_5x5 ? FewChannels{6, 4, 64} : FewChannels{8, 4, 64};
      return is_5x5 ? FewChannels{4, 4, 0} : FewChannels{8, 4, 16};
    case Pass::kFilterGradient:
      if (avx512) return is_5x5 ? FewChannels{6, 3, 24} : FewChannels{8, 6, 24};
      return is_5x5 ? FewChannels{6, 3, 12} : FewChannels{8, 4, 12};
  }
  return {};
}

bool WinogradIsFastForFewChannels(const ConvolutionCase& conv, const CpuFeatures& cpu) {
  const bool swaps = conv.pass == Pass::kInputGradient;
  const int64_t first = swaps ? conv.out_channels : conv.in_channels;
  const int64_t second = swaps ? conv.in_channels : conv.out_channels;
  const FewChannels fewest = FewChannelsOf(conv.pass, conv.filter_rows == 5, cpu.avx512);
  return first >= fewest.many || (first >= fewest.some && second >= fewest.others);
}

// The pixels from which on Winograd's algorithm in f32 is faster than oneDNN's direct one, with 16 channels or more:
// for fewer, transforming a filter takes longer. Evaluation and prediction transform it once. Filters of 5x5 were
// measured with 196 to 588 pixels (0.4 to 0.8), and channels between 256 and 512 were not. Winograd's time divided by
// oneDNN's, on 2 cores of an AMD EPYC (Zen 5), for filters of 3x3 in NHWC and in blocks, with AVX-512 and with AVX2:
//   pixels                       196          392          196     392 to 441      512
//   channels                  16 to 256    16 to 256       512          512        512
//   forward                   0.57-0.80    0.58-0.85    0.94-1.47    0.80-1.17  0.54-0.79
//   gradient of the input     0.67-1.01    0.71-0.89    1.08-1.20    0.86-0.97  0.81-0.99
//   gradient of the filter    0.60-1.00    0.61-1.00    0.82-1.93    0.69-1.28  0.58-1.05
// At other times of the same day our kernels, not oneDNN's, took up to 1.7 times as long, perhaps because neighbors of
// the virtual machine used the L3 cache. oneDNN is slow if images are smaller than a tile. For channels that are no
// multiples of 16, ms with Winograd and with oneDNN, on Zen 4:
//                            3x3: 24 to 24,   100 to 100,   5x5: 20 to 50,   24 to 48,
//                            32 of 56x56      32 of 28x28   128 of 14x14     32 of 28x28
//   forward                   2.9 and 6.6     8.3 and 22.4   2.5 and 6.7     2.0 and 6.0
//   gradient of the input     3.0 and 6.3     8.5 and 22.3   2.7 and 7.8     2.2 and 8.2
//   gradient of the filter    2.8 and 6.5     8.6 and 24.2   2.1 and 6.2     2.1 and 6.7
int64_t FewestPixelsOfWinograd(const ConvolutionCase& conv) {
  constexpr int64_t kTile = 4, kManyChannels = 512;
  if (std::min(conv.in_channels, conv.out_channels) < kManyChannels) return 192;
  if (conv.out_rows < kTile && conv.out_columns < kTile) return 256;
  return conv.pass == Pass::kFilterGradient ? 512 : 384;
}

bool WinogradIsFast(const ConvolutionCase& conv, const CpuFeatures& cpu) {
  constexpr int64_t kTile = 4, kFewChannels = 16, kSomePixels = 2048;
  if (std::min(conv.in_channels, conv.out_channels) >= kFewChannels)
    return conv.pixels() >= FewestPixelsOfWinograd(conv);
  const bool small = conv.out_rows < kTile && conv.out_columns < kTile;
  return !small && conv.pixels() >= kSomePixels && WinogradIsFastForFewChannels(conv, cpu);
}

// The kernels of first layers against oneDNN's convolution, its gradient, and a pool: the time of a step of
// training divided by oneDNN's, on 2 cores of an AMD EPYC, with AVX-512 and with AVX2, for 28x28 and 32x32
// pixels and 1 to 64 output channels:
//   filter                    3x3         5x5         7x7
//   1 input channel        0.24-0.68   0.41-0.80   0.45-0.88
//   2                      0.42-0.97   0.59-0.94   0.55-1.00
//   3                      0.46-1.02   0.60-1.06   0.63-1.07
//   4                      0.53-1.15   0.72-1.06   0.83-1.21
// The last row, and the columns 3x3 and 5x5, are of an earlier day. The column 7x7 is for at least 12 output channels. With 8 they take 0.9 to 1.2. For filters of 5x5 with 4
// channels and up to 8 output channels, their forward pass takes up to 1.14.
bool FirstLayerIsFast(const ConvolutionCase& conv) {
  const int64_t side = std::max(conv.filter_rows, conv.filter_columns);
  if (side > 5) return conv.in_channels < 4 && conv.out_channels >= 12;
  return side < 5 || conv.in_channels < 4 || conv.out_channels > 8;
}

// Products of tiles. Of f32 numbers: with fewer pixels, splitting the filter, or adding to its gradient,
// takes longer than what they save.
bool TilesAreFast(const ConvolutionCase& conv) {
  const int64_t fewest_pixels = conv.pass == Pass::kFilterGradient ? 64 : 256;
  return conv.dtype == DType::kBfloat16 || conv.pixels() >= fewest_pixels;
}

// With AMX, whether tiles are faster than Winograd's algorithm in f32. Three products of bf16
// (bfloat16/convolve.h) take less time for a filter of 3x3, and more for one of 5x5. For ResNet-50's filters
// of 3x3, batch 32, on 2 cores:
//                        64 channels, 56x56   128, 28x28   256, 14x14   512, 7x7
//   forward, ms           7.5 and 10.0        5.3 and 9.3  5.8 and 11.2  7.6 and 19.3
//   filter gradient, ms  10.8 and  9.3        8.2 and 12.8 8.4 and 11.3 13.8 and 12.4
bool TilesAreFasterThanWinograd(const ConvolutionCase& conv) {
  if (conv.filter_rows > 3 || conv.filter_columns > 3) return false;
  constexpr int64_t kFewestChannels = 128, kFewestColumns = 14;
  return conv.pass != Pass::kFilterGradient ||
         (conv.in_channels >= kFewestChannels && conv.in_columns >= kFewestColumns);
}

// Without AMX, but with AVX-512 for bf16: convolutions of f32 are left to Winograd's algorithm in f32. Those
// of bf16 use Winograd's algorithm in bf16, unless they are small (Bfloat16WinogradIsFast). Gradients of 1x1
// filters from bf16 use products of tiles. The rest is left to oneDNN. In bf16, on 2 cores of an AMD EPYC:
//                            64 channels, 56x56   128, 28x28   256, 14x14   512, 7x7
//   3x3: Winograd, ms                4.8               3.9          3.7          4.8
//        oneDNN                      7.3               7.0          7.0          7.1
//     gradient of the filter         6.1               4.5          4.1          5.7
//        oneDNN                      9.6               8.0          7.6          9.7
//   1x1: gradient of the filter      5.2               4.3          3.8          4.0
//        oneDNN                      5.9               5.0          4.9          6.3
bool TilesAreFastWithoutAmx(const ConvolutionCase& conv) {
  return conv.pass == Pass::kFilterGradient && conv.dtype == DType::kBfloat16 &&
         conv.filter_rows == 1 && conv.filter_columns == 1;
}

// With 49 pixels and fewer, the transforms of filters of 512 channels take longer than the products they save:
// up to twice as long as with oneDNN. With 196 pixels and 256 channels, Winograd takes 0.66 to 0.8 of the time, and
// with 6,000 pixels or more and 32 channels 0.8. At other times of the same day it took 1.2 and 1.3 (FewestPixelsOfWinograd).
bool Bfloat16WinogradIsFast(const ConvolutionCase& conv) {
  constexpr int64_t kFewestPixels = 128;
  return conv.pixels() >= kFewestPixels;
}

}  // namespace

std::vector<NativeKernel> FastKernels(const MatMulCase& product, const CpuFeatures& cpu) {
  std::vector<NativeKernel> kernels;
  if (TilesAreFast(product, cpu)) kernels.push_back(NativeKernel::kBfloat16Tiles);
  if (GemmIsFast(product, cpu)) kernels.push_back(NativeKernel::kGemm);
  return kernels;
}

std::vector<NativeKernel> FastKernels(const ConvolutionCase& conv, const CpuFeatures& cpu,
                                      ConvAlgorithm algorithm) {
  const bool always = algorithm == ConvAlgorithm::kWinograd;
  std::vector<NativeKernel> kernels;
  if (conv.pass != Pass::kInputGradient && (always || FirstLayerIsFast(conv)))
    kernels.push_back(NativeKernel::kFirstLayer);
  if (always || WinogradIsFast(conv, cpu)) kernels.push_back(NativeKernel::kWinograd);
  if (!cpu.amx) {
    if (TilesAreFastWithoutAmx(conv)) {
      kernels.insert(kernels.begin(), NativeKernel::kBfloat16Tiles);
    } else if (conv.dtype == DType::kBfloat16 && (always || Bfloat16WinogradIsFast(conv))) {
      kernels.insert(kernels.begin(), NativeKernel::kBfloat16Winograd);
    }
  } else if (TilesAreFast(conv)) {
    kernels.insert(TilesAreFasterThanWinograd(conv) ? kernels.begin() : kernels.end(),
                   NativeKernel::kBfloat16Tiles);
  }
  return kernels;
}

// With smaller sides, the casts cost as much as they save.
bool IsFasterInBfloat16(int64_t rows_a, int64_t columns_a, int64_t rows_c, int64_t columns_c) {
  constexpr int64_t kSmallestSide = 32;
  return std::min({rows_a, columns_a, rows_c, columns_c}) >= kSmallestSide;
}

// Without AMX, Winograd's algorithm in f32 is faster than what a cast to bf16 would save.
bool ConvolutionsAreFasterInBfloat16(const CpuFeatures& cpu) { return cpu.amx; }

// On CPUs with AMX, oneDNN 2.6 computes the gradients of filters of bf16 images in NHWC slowly: those of
// ResNet-50 took several times as long as in f32.
bool OneDnnFilterGradientIsSlow(DType images, bool amx) {
  return images == DType::kBfloat16 && amx;
}

// oneDNN 2.6's f32 product for AVX2 runs at half its rate if 1/m + 1/n >= 0.0038 and b is not transposed.
// From about 96 rows on it is faster to transpose b in scratch first: [128,3136] x [3136,1024] on one core
// takes 14 ms instead of 19, with 256 rows 25 ms instead of 36.
bool OneDnnMatMulIsFasterTransposed(int64_t m, int64_t n) {
  return m >= 96 && n >= 256 &&
         1.0 / static_cast<double>(m) + 1.0 / static_cast<double>(n) >= 0.0038;
}

}  // namespace estimator
