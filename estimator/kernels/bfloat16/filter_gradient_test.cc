#include "estimator/kernels/bfloat16/filter_gradient.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <type_traits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/kernels/bfloat16/testing/convolutions.h"
#include "estimator/kernels/bfloat16/tiles.h"

namespace estimator::bfloat16 {
namespace {

// Sums of at most 2600 products below 1 in f32, in another order than the plain loops.
constexpr double kSummationOrder = 2e-4;

struct Images {
  std::vector<Bfloat16> x, dy;

  explicit Images(const Convolution& g)
      : x(RandomNumbers(g.images * g.in_rows * g.in_columns * g.in_channels, 1)),
        dy(RandomNumbers(g.images * g.out_rows * g.out_columns * g.out_channels, 2)) {}
};

struct Gradients {
  std::vector<float> filter, bias;
  bool operator==(const Gradients&) const = default;
};

// The gradients as `threads` threads compute them. Scratch memory and results begin with NaN.
//   T: Bfloat16, or float for a plan that splits.  argmax: of a pool; empty for none.
template <typename T>
Gradients Result(const Convolution& g, int threads, const std::vector<T>& x,
                 const std::vector<T>& dy, const std::vector<uint8_t>& argmax = {}) {
  const bool pooled = !argmax.empty();
  const FilterPlan plan = MakeFilterPlan(g, threads, pooled, std::is_same_v<T, float>);
  EXPECT_LE(plan.pixel_parts * plan.channel_parts, threads);
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const size_t floats = (plan.scratch_bytes() + 63) / 64 * 16;
  const std::unique_ptr<float, void (*)(void*)> scratch(
      static_cast<float*>(std::aligned_alloc(64, floats * sizeof(float))), std::free);
  std::fill_n(scratch.get(), floats, kNan);
  Gradients result{.filter = std::vector<float>(
                       static_cast<size_t>(g.taps() * g.in_channels * g.out_channels), kNan),
                   .bias = std::vector<float>(static_cast<size_t>(g.out_channels), kNan)};
  RunFilterGradient(plan, x.data(), dy.data(), pooled ? argmax.data() : nullptr,
                    result.filter.data(), result.bias.data(), scratch.get());
  return result;
}

// Element [u, v, c, k] in double precision.
double Expected(const Convolution& g, const Images& images, int64_t u, int64_t v, int64_t c,
                int64_t k) {
  double sum = 0;
  for (int64_t n = 0; n < g.images; ++n) {
    for (int64_t p = 0; p < g.out_rows; ++p) {
      const int64_t row = p * g.row_stride - g.pad_top + u;
      if (row < 0 || row >= g.in_rows) continue;
      for (int64_t q = 0; q < g.out_columns; ++q) {
        const int64_t column = q * g.column_stride - g.pad_left + v;
        if (column < 0 || column >= g.in_columns) continue;
        const int64_t x = ((n * g.in_rows + row) * g.in_columns + column) * g.in_channels + c;
        const int64_t dy = ((n * g.out_rows + p) * g.out_columns + q) * g.out_channels + k;
        sum += static_cast<double>(images.x[static_cast<size_t>(x)]) *
               static_cast<double>(images.dy[static_cast<size_t>(dy)]);
      }
    }
  }
  return sum;
}

TEST(Bfloat16FilterGradient, MatchesPlainLoopsForEveryNumberOfThreads) {
  if (!IsAvailable()) GTEST_SKIP() << "this CPU lacks AVX-512 for bf16";
  for (const Convolution& g : TestConvolutions()) {
    const Images images(g);
    for (const int threads : {1, 2, 3, 16}) {
      SCOPED_TRACE(absl::StrCat(Name(g), " threads ", threads));
      const Gradients gradients = Result(g, threads, images.x, images.dy);
      const std::vector<float>& result = gradients.filter;
      double worst = 0;
      size_t i = 0;
      for (int64_t u = 0; u < g.filter_rows; ++u) {
        for (int64_t v = 0; v < g.filter_columns; ++v) {
          for (int64_t c = 0; c < g.in_channels; ++c) {
            for (int64_t k = 0; k < g.out_channels; ++k, ++i) {
              // Not max: NaN must count.
              const double error = std::abs(result[i] - Expected(g, images, u, v, c, k));
              if (!(error <= worst)) worst = error;
            }
          }
        }
      }
      for (int64_t k = 0; k < g.out_channels; ++k) {
        double sum = 0;
        for (size_t pixel = static_cast<size_t>(k); pixel < images.dy.size();
             pixel += static_cast<size_t>(g.out_channels))
          sum += static_cast<double>(images.dy[pixel]);
        const double error = std::abs(gradients.bias[static_cast<size_t>(k)] - sum);
        if (!(error <= worst)) worst = error;
      }
      EXPECT_LE(worst, kSummationOrder);
      EXPECT_EQ(gradients, Result(g, threads, images.x, images.dy)) << "differs from run to run";
    }
  }
}

// The largest difference of two gradients.
double Difference(const std::vector<float>& a, const std::vector<float>& b) {
  EXPECT_EQ(a.size(), b.size());
  double worst = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double error = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    if (!(error <= worst)) worst = error;
  }
  return worst;
}

TEST(Bfloat16FilterGradient, SplitNumbersHaveASmallError) {
  if (!IsAvailable()) GTEST_SKIP() << "this CPU lacks AVX-512 for bf16";
  for (const Convolution& g : TestConvolutions()) {
    SCOPED_TRACE(Name(g));
    const Images images(g);
    const Gradients narrow = Result(g, 2, images.x, images.dy);
    // Numbers of bf16 have no low part.
    const std::vector<float> x(images.x.begin(), images.x.end());
    const std::vector<float> dy(images.dy.begin(), images.dy.end());
    const Gradients wide = Result(g, 2, x, dy);
    EXPECT_LE(Difference(wide.filter, narrow.filter), kSummationOrder);
    EXPECT_LE(Difference(wide.bias, narrow.bias), kSummationOrder);
    // A low part alone: 1 + x / 256 is not a number of bf16. The sums of dy are those of x = 0.
    std::vector<float> sum = x, one(x.size(), 1.0F);
    for (float& value : sum) value = 1.0F + value / 256;
    const Gradients ones = Result(g, 2, one, dy), sums = Result(g, 2, sum, dy);
    std::vector<float> low = sums.filter;
    for (size_t i = 0; i < low.size(); ++i) low[i] = (low[i] - ones.filter[i]) * 256;
    EXPECT_LE(Difference(low, wide.filter), 256 * kSummationOrder);
  }
}

TEST(Bfloat16FilterGradient, GradientsOfPoolsMatchThoseOfTheirPixels) {
  if (!IsAvailable()) GTEST_SKIP() << "this CPU lacks AVX-512 for bf16";
  for (const Convolution& g :
       {SquareFilter(2, 14, 14, 32, 64, 5, 1, 2), SquareFilter(3, 12, 10, 1, 32, 5, 1, 2),
        SquareFilter(2, 28, 28, 1, 32, 5, 1, 2),      // by taps, in f32 in segments of odd rows
        SquareFilter(1, 30, 60, 20, 40, 3, 1, 1),     // an image in segments, the last one shorter
        SquareFilter(1, 31, 61, 17, 33, 2, 1, 0)}) {  // rows with an odd number of zeros after them
    const int64_t windows = g.images * g.out_rows / 2 * (g.out_columns / 2);
    const std::vector<Bfloat16> x =
        RandomNumbers(g.images * g.in_rows * g.in_columns * g.in_channels, 1);
    const std::vector<Bfloat16> pooled = RandomNumbers(windows * g.out_channels, 2);
    std::vector<uint8_t> argmax(pooled.size());
    std::vector<Bfloat16> dy(pooled.size() * 4, Bfloat16(0));
    for (size_t i = 0; i < pooled.size(); ++i) {
      argmax[i] = static_cast<uint8_t>(i * 7 % 11 % 5);
      if (argmax[i] == 4) continue;
      const int64_t k = static_cast<int64_t>(i) % g.out_channels;
      const int64_t window = static_cast<int64_t>(i) / g.out_channels;
      const int64_t row = window / (g.out_columns / 2) * 2 + argmax[i] / 2;  // of all images
      const int64_t column = window % (g.out_columns / 2) * 2 + argmax[i] % 2;
      dy[static_cast<size_t>((row * g.out_columns + column) * g.out_channels + k)] = pooled[i];
    }
    for (const int threads : {1, 3, 16}) {
      SCOPED_TRACE(absl::StrCat(Name(g), " threads ", threads));
      const Gradients expected = Result(g, threads, x, dy);
      const Gradients actual = Result(g, threads, x, pooled, argmax);
      EXPECT_LE(Difference(actual.filter, expected.filter), kSummationOrder);
      EXPECT_LE(Difference(actual.bias, expected.bias), kSummationOrder);
      const Gradients wide = Result(g, threads, std::vector<float>(x.begin(), x.end()),
                                    std::vector<float>(pooled.begin(), pooled.end()), argmax);
      EXPECT_LE(Difference(wide.filter, expected.filter), kSummationOrder);
      EXPECT_LE(Difference(wide.bias, expected.bias), kSummationOrder);
    }
  }
}

TEST(Bfloat16FilterGradient, DividesChannelsIfThereAreMoreThreadsThanPixels) {
  const FilterPlan plan = MakeFilterPlan(SquareFilter(1, 4, 4, 64, 256, 1, 1, 0), 4);
  EXPECT_EQ(plan.pixel_parts, 1);
  EXPECT_EQ(plan.channel_parts, 4);
  EXPECT_EQ(plan.in_part, 64);
  EXPECT_EQ(plan.out_part, 64);
}

TEST(Bfloat16FilterGradient, LargeSumsAreNotCopiedForEachOfManyThreads) {
  const FilterPlan plan = MakeFilterPlan(SquareFilter(64, 7, 7, 512, 512, 3, 1, 1), 64);
  EXPECT_LE(static_cast<double>(plan.pixel_parts) * static_cast<double>(plan.sum_floats()) * 4,
            64.0 * 1024 * 1024);
  EXPECT_GT(plan.channel_parts, 1);
}

}  // namespace
}  // namespace estimator::bfloat16
