#include "estimator/kernels/bfloat16/convolve.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/kernels/bfloat16/testing/convolutions.h"
#include "estimator/kernels/bfloat16/tiles.h"

namespace estimator::bfloat16 {
namespace {

// The rounding of results to bf16, relative, and that of sums in f32 of 900 products below 1.
constexpr double kRounding = 1.0 / 256, kSummationOrder = 1e-4;

struct Operands {
  std::vector<Bfloat16> x, filter, dy;
  std::vector<double> y, dx;  // computed by plain loops

  explicit Operands(const Convolution& c)
      : x(RandomNumbers(c.images * c.in_rows * c.in_columns * c.in_channels, 1)),
        filter(RandomNumbers(c.taps() * c.in_channels * c.out_channels, 2)),
        dy(RandomNumbers(c.images * c.out_rows * c.out_columns * c.out_channels, 3)),
        y(dy.size()),
        dx(x.size()) {
    for (int64_t n = 0; n < c.images; ++n) {
      for (int64_t p = 0; p < c.out_rows; ++p) {
        for (int64_t q = 0; q < c.out_columns; ++q) AddPixel(c, n, p, q);
      }
    }
  }

 private:
  void AddPixel(const Convolution& c, int64_t n, int64_t p, int64_t q) {
    const int64_t out = ((n * c.out_rows + p) * c.out_columns + q) * c.out_channels;
    for (int64_t tap = 0; tap < c.taps(); ++tap) {
      const int64_t row = p * c.row_stride - c.pad_top + tap / c.filter_columns;
      const int64_t column = q * c.column_stride - c.pad_left + tap % c.filter_columns;
      if (row < 0 || row >= c.in_rows || column < 0 || column >= c.in_columns) continue;
      const int64_t in = ((n * c.in_rows + row) * c.in_columns + column) * c.in_channels;
      for (int64_t i = 0; i < c.in_channels; ++i) {
        for (int64_t k = 0; k < c.out_channels; ++k) {
          const double w = static_cast<float>(
              filter[static_cast<size_t>((tap * c.in_channels + i) * c.out_channels + k)]);
          const auto from = static_cast<size_t>(in + i), to = static_cast<size_t>(out + k);
          y[to] += w * static_cast<float>(x[from]);
          dx[from] += w * static_cast<float>(dy[to]);
        }
      }
    }
  }
};

// The result as `threads` threads compute it, `count` numbers. Scratch memory and result begin with
// NaN.
std::vector<Bfloat16> Result(const GridSums& sums, int threads, const std::vector<Bfloat16>& from,
                             const std::vector<Bfloat16>& filter, size_t count) {
  const ConvolvePlan plan = MakeConvolvePlan(sums, threads);
  EXPECT_LE(plan.pixel_parts * plan.channel_parts, threads);
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const size_t floats = (plan.scratch_bytes() + 63) / 64 * 16;
  const std::unique_ptr<float, void (*)(void*)> scratch(
      static_cast<float*>(std::aligned_alloc(64, floats * sizeof(float))), std::free);
  std::fill_n(scratch.get(), floats, kNan);
  std::vector<Bfloat16> result(count, Bfloat16(kNan));
  const size_t filter_floats = (plan.filter_bytes() + 63) / 64 * 16;
  const std::unique_ptr<float, void (*)(void*)> packed(
      static_cast<float*>(std::aligned_alloc(64, filter_floats * sizeof(float))), std::free);
  std::fill_n(packed.get(), filter_floats, kNan);
  Bfloat16* const numbers = reinterpret_cast<Bfloat16*>(packed.get());
  PackFilter(plan, filter.data(), numbers);
  Convolve(plan, {.narrow = from.data()}, numbers, {.narrow = result.data()}, scratch.get());
  return result;
}

void ExpectNear(const std::vector<Bfloat16>& actual, const std::vector<double>& expected) {
  size_t wrong = 0;
  for (size_t i = 0; i < actual.size(); ++i) {
    const double error = std::abs(static_cast<float>(actual[i]) - expected[i]);
    // Not >: NaN must count.
    if (!(error <= kRounding * std::abs(expected[i]) + kSummationOrder)) ++wrong;
  }
  EXPECT_EQ(wrong, 0u) << "of " << actual.size();
}

bool SameBits(const std::vector<Bfloat16>& a, const std::vector<Bfloat16>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](Bfloat16 x, Bfloat16 y) { return x.bits == y.bits; });
}

std::vector<Convolution> Convolutions() {
  std::vector<Convolution> all = TestConvolutions();
  all.push_back(SquareFilter(2, 10, 9, 32, 64, 1, 3, 0));  // the stride leaves a column unread
  all.push_back(SquareFilter(2, 7, 6, 40, 48, 2, 1, 0));
  all.push_back(SquareFilter(1, 5, 5, 32, 32, 3, 1, 3));  // more padding than a filter has taps
  return all;
}

TEST(Bfloat16Convolve, MatchesPlainLoopsWithTheSameBitsForEveryNumberOfThreads) {
  if (!IsAvailable()) GTEST_SKIP() << "this CPU lacks AVX-512 for bf16";
  int computed = 0;
  for (const Convolution& c : Convolutions()) {
    const auto forward = ForwardSums(c), gradient = InputGradientSums(c);
    SCOPED_TRACE(Name(c));
    ASSERT_EQ(forward.has_value() && !IsGathered(c), gradient.has_value());
    if (!forward.has_value()) continue;
    const Operands operands(c);
    const auto check = [&](const GridSums& sums, const std::vector<Bfloat16>& from,
                           const std::vector<double>& expected) {
      ++computed;
      const auto result = Result(sums, 1, from, operands.filter, expected.size());
      ExpectNear(result, expected);
      for (const int threads : {2, 3, 16}) {
        SCOPED_TRACE(absl::StrCat("threads ", threads));
        EXPECT_TRUE(
            SameBits(result, Result(sums, threads, from, operands.filter, expected.size())));
      }
    };
    check(*forward, operands.x, operands.y);
    if (gradient.has_value()) check(*gradient, operands.dy, operands.dx);
  }
  EXPECT_EQ(computed, 30);
}

TEST(Bfloat16Convolve, CountsDenormalNumbersAsZero) {
  if (!IsAvailable()) GTEST_SKIP() << "this CPU lacks AVX-512 for bf16";
  const auto sums = ForwardSums(SquareFilter(1, 4, 5, 32, 32, 1, 1, 0));
  ASSERT_TRUE(sums.has_value());
  // Each product is 2^-110, which f32 has, and each sum 2^-105. Of normal numbers, the products
  // keep them.
  const std::vector<Bfloat16> filter(32 * 32, Bfloat16(0x1p20F));
  const std::vector<Bfloat16> denormal(20 * 32, Bfloat16(0x1p-130F));
  for (const float y : Result(*sums, 1, denormal, filter, 20 * 32)) ASSERT_EQ(y, 0);
  const std::vector<Bfloat16> normal(20 * 32, Bfloat16(0x1p-120F)),
      smaller_filter(32 * 32, Bfloat16(0x1p10F));
  for (const float y : Result(*sums, 1, normal, smaller_filter, 20 * 32)) ASSERT_EQ(y, 0x1p-105F);
}

TEST(Bfloat16Convolve, StridesAreSupportedForFiltersOfOneTapOnly) {
  EXPECT_TRUE(ForwardSums(SquareFilter(2, 9, 8, 32, 64, 1, 2, 0)).has_value());
  EXPECT_TRUE(InputGradientSums(SquareFilter(2, 9, 8, 32, 64, 1, 2, 0)).has_value());
  EXPECT_FALSE(ForwardSums(SquareFilter(2, 9, 8, 32, 64, 3, 2, 1)).has_value());
  EXPECT_FALSE(InputGradientSums(SquareFilter(2, 9, 8, 32, 64, 3, 2, 1)).has_value());
}

}  // namespace
}  // namespace estimator::bfloat16
