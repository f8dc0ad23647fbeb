#include "estimator/kernels/kernel_rules.h"

#include <algorithm>

namespace estimator {
namespace {

using Pass = ConvSpec::Pass;

// A convolution without its operands, as the rules see it.
struct Sizes : Convolution {
  explicit Sizes(const ConvSpec& spec) : Convolution(spec.sizes()) {}
  int64_t fewest_channels() const { return std::min(in_channels, out_channels); }
  // Images smaller than a tile of Winograd's algorithm in f32.
  bool is_small() const { return out_rows < 4 && out_columns < 4; }
};

// Winograd's algorithm in f32, where a convolution has fewer than 16 input or output channels. It
// is faster with `many` channels on one side, and with `some` if there are at least `others` on the
// other side. That one side is the input channels, and for the gradient of the input, which sums
// over them, the output channels. With fewer, the transforms take longer than the products they
// save.
struct FewChannels {
  int64_t many, some, others;
};
// For each pass, with AVX2 and with AVX-512, filters of 3x3 and of 5x5.
constexpr FewChannels kFewChannels[3][2][2] = {
    {{{4, 4, 0}, {3, 3, 0}}, {{6, 4, 24}, {3, 3, 0}}},
    {{{8, 4, 16}, {4, 4, 0}}, {{8, 4, 64}, {6, 4, 64}}},
    {{{8, 4, 12}, {6, 3, 12}}, {{8, 6, 24}, {6, 3, 24}}},
};

bool WinogradIsFastForFewChannels(Pass pass, const Sizes& conv, const CpuFeatures& cpu) {
  // The gradient of the input is a convolution whose input has the output's channels.
  const bool swaps = pass == Pass::kInputGradient;
  const int64_t first = swaps ? conv.out_channels : conv.in_channels;
  const int64_t second = swaps ? conv.in_channels : conv.out_channels;
  const FewChannels& fewest =
      kFewChannels[static_cast<size_t>(pass)][cpu.avx512 ? 1 : 0][conv.filter_rows == 5 ? 1 : 0];
  return first >= fewest.many || (first >= fewest.some && second >= fewest.others);
}

// The pixels from which on Winograd's algorithm in f32 is faster than oneDNN's direct one, with 16
// channels or more: for fewer, transforming a filter takes longer. Evaluation and prediction
// transform it once.
int64_t FewestPixelsOfWinograd(Pass pass, const Sizes& conv) {
  constexpr int64_t kManyChannels = 512;
  if (conv.fewest_channels() < kManyChannels) return 192;
  // oneDNN is slow if images are smaller than a tile.
  if (conv.is_small()) return 256;
  return pass == Pass::kFilterGradient ? 512 : 384;
}

// Without AMX, convolutions of f32 are left to Winograd's algorithm in f32, and those of bf16 use
// Winograd's algorithm in bf16. Only gradients of 1x1 filters from bf16 use products of tiles.
bool TilesAreFastWithoutAmx(const ConvSpec& conv) {
  return conv.pass == Pass::kFilterGradient && conv.dtype() == DType::kBfloat16 &&
         conv.sizes().taps() == 1;
}

// With AMX, whether tiles are faster than Winograd's algorithm in f32. Three products of bf16
// (bfloat16/convolve.h) take less time for a filter of 3x3, and more for one of 5x5.
bool TilesAreFasterThanWinograd(const ConvSpec& spec) {
  const Sizes conv(spec);
  if (conv.filter_rows > 3 || conv.filter_columns > 3) return false;
  constexpr int64_t kFewestChannels = 128, kFewestColumns = 14;
  return spec.pass != Pass::kFilterGradient ||
         (conv.in_channels >= kFewestChannels && conv.in_columns >= kFewestColumns);
}

}  // namespace

// Our own product of f32 is left to oneDNN with
//   fewer than 1000 columns    few panels share the copy of a row
//   fewer than 128 rows        few rows share the copy of a panel; but the gradient of an input
//                              (transpose_b) of 16 or 32 rows and at least 2000 columns is ours
//   depths below 64            a sum is written nearly as often as it is added to
//   no AVX-512
bool GemmIsFast(const MatMulSpec& product, const CpuFeatures& cpu) {
  const MatMulSizes& p = product.sizes;
  if (product.dtype() != DType::kFloat32 || !cpu.avx512 || p.n < 1000 || p.k < 64) return false;
  return p.m >= 128 || (p.transpose_b && p.n >= 2000 && p.m >= 16 && p.m <= 32);
}

// Products of tiles, of depths of at least 64; with fewer, sums are written nearly as often as they
// are added to. These are faster than all others:
//   f32    with AMX: at least 32 rows, or the gradient of weights (transpose_a)
//   bf16   the gradient of weights, without AMX only from a depth of 256 on
//          a depth of at least 1536 and at least 32 rows, with AMX more
//          with AMX: at least 1024 rows and 2048 columns, unless transpose_b
//          without AMX: the gradient of an input (transpose_b) of 32 to 128 rows
bool TilesAreFast(const MatMulSpec& product, const CpuFeatures& cpu) {
  const MatMulSizes& p = product.sizes;
  constexpr int64_t kFewDepths = 64, kFewRows = 32;
  // One product of f32 becomes three of bf16, so it needs the instructions that are fastest at
  // those.
  const bool splits = product.dtype() == DType::kFloat32;
  if (p.k < kFewDepths || (splits && !cpu.amx)) return false;
  constexpr int64_t kSomeDepths = 256;
  if (p.transpose_a) return cpu.amx || p.k >= kSomeDepths;
  if (splits) return p.m >= kFewRows;
  constexpr int64_t kManyDepths = 1536, kManyColumns = 2048, kManyRows = 1024, kSomeRows = 128;
  if (p.k >= kManyDepths) return cpu.amx ? p.m > kFewRows : p.m >= kFewRows;
  if (cpu.amx) return p.m >= kManyRows && p.n >= kManyColumns && !p.transpose_b;
  return p.transpose_b && p.m >= kFewRows && p.m <= kSomeRows;
}

bool TilesAreFastest(const ConvSpec& conv, const CpuFeatures& cpu) {
  if (!cpu.amx) return TilesAreFastWithoutAmx(conv);
  return TilesAreFast(conv, cpu) && TilesAreFasterThanWinograd(conv);
}

// With few pixels, the transforms of the filters take longer than the products they save.
bool Bfloat16WinogradIsFast(const ConvSpec& conv, const CpuFeatures& cpu) {
  constexpr int64_t kFewestPixels = 128;
  if (cpu.amx || conv.dtype() != DType::kBfloat16 || TilesAreFastWithoutAmx(conv)) return false;
  return conv.algorithm == ConvAlgorithm::kWinograd || conv.sizes().pixels() >= kFewestPixels;
}

// With larger filters, more channels of the image and fewer of the result, oneDNN is faster.
bool FirstLayerIsFast(const ConvSpec& spec, const CpuFeatures&) {
  // The first layer reads the input of the network, to which no gradient flows.
  if (spec.pass == Pass::kInputGradient) return false;
  if (spec.algorithm == ConvAlgorithm::kWinograd) return true;
  const Sizes conv(spec);
  const int64_t side = std::max(conv.filter_rows, conv.filter_columns);
  if (side > 5) return conv.in_channels < 4 && conv.out_channels >= 12;
  return side < 5 || conv.in_channels < 4 || conv.out_channels > 8;
}

bool WinogradIsFast(const ConvSpec& spec, const CpuFeatures& cpu) {
  constexpr int64_t kFewChannels = 16, kSomePixels = 2048;
  if (spec.algorithm == ConvAlgorithm::kWinograd) return true;
  const Sizes conv(spec);
  if (conv.fewest_channels() >= kFewChannels)
    return conv.pixels() >= FewestPixelsOfWinograd(spec.pass, conv);
  return !conv.is_small() && conv.pixels() >= kSomePixels &&
         WinogradIsFastForFewChannels(spec.pass, conv, cpu);
}

// Of f32 numbers: with fewer pixels, splitting the filter, or adding to its gradient, takes longer
// than what they save.
bool TilesAreFast(const ConvSpec& conv, const CpuFeatures& cpu) {
  if (!cpu.amx) return TilesAreFastWithoutAmx(conv);
  const int64_t fewest_pixels = conv.pass == Pass::kFilterGradient ? 64 : 256;
  return conv.dtype() == DType::kBfloat16 || conv.sizes().pixels() >= fewest_pixels;
}

// With smaller sides, the casts cost as much as they save.
bool IsFasterInBfloat16(int64_t rows_a, int64_t columns_a, int64_t rows_c, int64_t columns_c) {
  constexpr int64_t kSmallestSide = 32;
  return std::min({rows_a, columns_a, rows_c, columns_c}) >= kSmallestSide;
}

// Without AMX, Winograd's algorithm in f32 is faster than what a cast to bf16 would save.
bool ConvolutionsAreFasterInBfloat16(const CpuFeatures& cpu) { return cpu.amx; }

// On CPUs with AMX, oneDNN 2.6 computes the gradients of filters of bf16 images in NHWC slowly.
bool OneDnnFilterGradientIsSlow(DType images, bool amx) {
  return images == DType::kBfloat16 && amx;
}

// A core computes so many products of two numbers in about 10 microseconds. To start and to end a
// parallel region takes a few, and far more while other programs use the cores.
bool OneDnnMatMulIsFasterWithOneThread(int64_t multiplications) {
  return multiplications <= int64_t{1} << 18;
}

// oneDNN 2.6's f32 product for AVX2 runs at half its rate if 1/m + 1/n >= 0.0038 and b is not
// transposed. From about 96 rows on it is faster to transpose b in scratch first.
bool OneDnnMatMulIsFasterTransposed(int64_t m, int64_t n) {
  return m >= 96 && n >= 256 &&
         1.0 / static_cast<double>(m) + 1.0 / static_cast<double>(n) >= 0.0038;
}

}  // namespace estimator
