#include "estimator/kernels/kernel_rules.h"

#include <algorithm>

namespace estimator {
namespace {

using Pass = ConvolutionCase::Pass;

// ---- Matrix products, by gemm/gemm_benchmark.

// Our own product of f32. On 2 cores with AVX-512 it is up to 40 % faster than oneDNN 2.6 for most results
// of at least 128 rows and 1000 columns, nowhere more than 5 % slower, and twice as fast for 3072 columns,
// where some CPUs compute oneDNN's at half their rate. These are left to oneDNN:
//   fewer than 1000 columns    few panels share the copy of a row: oneDNN is up to 15 % faster
//   fewer than 128 rows        few rows share the copy of a panel: up to 25 %
//   depths below 64            a sum is written nearly as often as it is added to: up to 20 %
//   no AVX-512                 up to 15 %
bool GemmIsFast(const MatMulCase& p, const CpuFeatures& cpu) {
  return p.dtype == DType::kFloat32 && cpu.avx512 && p.m >= 128 && p.n >= 1000 && p.k >= 64;
}

// Products of tiles, of depths of at least 64; with fewer, sums are written nearly as often as they are added
// to. These are faster than all others:
//   f32    with AMX: at least 32 rows, or the gradient of weights (transpose_a)
//   bf16   the gradient of weights, without AMX only from a depth of 256 on; a depth of at least 1536 and
//          more than 32 rows
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
  if (p.k >= kManyDepths) return p.m > kFewRows;
  if (cpu.amx) return p.m >= kManyRows && p.n >= kManyColumns && !p.transpose_b;
  return p.transpose_b && p.m >= kFewRows && p.m <= kSomeRows;
}

// ---- Convolutions, by native_tier_benchmark.

// Winograd's algorithm in f32 against oneDNN's direct one. Transforming a filter costs as much as 512
// pixels, and adding to the gradient of a filter of 3x3 as much as 1024. oneDNN is slow if images are smaller
// than a tile.
bool WinogradIsFast(const ConvolutionCase& conv) {
  constexpr int64_t kFewestChannels = 16, kTile = 4;
  const bool small = conv.out_rows < kTile && conv.out_columns < kTile;
  const bool costly = conv.filter_rows == 3 && conv.pass == Pass::kFilterGradient;
  const int64_t fewest_pixels = small ? 256 : costly ? 1024 : 512;
  return std::min(conv.in_channels, conv.out_channels) >= kFewestChannels &&
         conv.pixels() >= fewest_pixels;
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
// up to twice as long as with oneDNN. With 196 pixels and 256 channels, Winograd takes 0.66 to 0.8 of the time.
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
  // No kernel of oneDNN computes a first layer with its pool, so it is always listed.
  std::vector<NativeKernel> kernels;
  if (conv.pass != Pass::kInputGradient) kernels.push_back(NativeKernel::kFirstLayer);
  if (algorithm == ConvAlgorithm::kWinograd || WinogradIsFast(conv))
    kernels.push_back(NativeKernel::kWinograd);
  if (!cpu.amx) {
    if (TilesAreFastWithoutAmx(conv)) {
      kernels.insert(kernels.begin(), NativeKernel::kBfloat16Tiles);
    } else if (conv.dtype == DType::kBfloat16 &&
               (algorithm == ConvAlgorithm::kWinograd || Bfloat16WinogradIsFast(conv))) {
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
