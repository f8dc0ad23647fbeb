#include "estimator/kernels/amx/filter_gradient.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/kernels/amx/testing/convolutions.h"
#include "estimator/kernels/amx/tiles.h"

namespace estimator::amx {
namespace {

// Sums of at most 2600 products below 1 in f32, in another order than the plain loops.
constexpr double kSummationOrder = 2e-4;

struct Images {
  std::vector<Bfloat16> x, dy;

  explicit Images(const Convolution& g)
      : x(RandomNumbers(g.images * g.in_rows * g.in_columns * g.in_channels, 1)),
        dy(RandomNumbers(g.images * g.out_rows * g.out_columns * g.out_channels, 2)) {}
};

// The gradient as `threads` threads compute it. Scratch memory and result begin with NaN.
std::vector<float> Result(const Convolution& g, int threads, const Images& images) {
  const FilterPlan plan = MakeFilterPlan(g, threads);
  EXPECT_LE(plan.pixel_parts * plan.channel_parts, threads);
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const size_t floats = (plan.scratch_bytes() + 63) / 64 * 16;
  const std::unique_ptr<float, void (*)(void*)> scratch(
      static_cast<float*>(std::aligned_alloc(64, floats * sizeof(float))), std::free);
  std::fill_n(scratch.get(), floats, kNan);
  std::vector<float> result(static_cast<size_t>(g.taps() * g.in_channels * g.out_channels), kNan);
  RunFilterGradient(plan, images.x.data(), images.dy.data(), nullptr, result.data(), nullptr,
                    scratch.get());
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

TEST(AmxFilterGradient, MatchesPlainLoopsForEveryNumberOfThreads) {
  if (!IsAvailable()) GTEST_SKIP() << "this CPU has no AMX";
  for (const Convolution& g : TestConvolutions()) {
    const Images images(g);
    for (const int threads : {1, 2, 3, 16}) {
      SCOPED_TRACE(absl::StrCat(Name(g), " threads ", threads));
      const std::vector<float> result = Result(g, threads, images);
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
      EXPECT_LE(worst, kSummationOrder);
      EXPECT_EQ(result, Result(g, threads, images)) << "differs from run to run";
    }
  }
}

TEST(AmxFilterGradient, DividesChannelsIfThereAreMoreThreadsThanPixels) {
  const FilterPlan plan = MakeFilterPlan(SquareFilter(1, 4, 4, 64, 256, 1, 1, 0), 4);
  EXPECT_EQ(plan.pixel_parts, 1);
  EXPECT_EQ(plan.channel_parts, 4);
  EXPECT_EQ(plan.in_part, 64);
  EXPECT_EQ(plan.out_part, 64);
}

TEST(AmxFilterGradient, LargeSumsAreNotCopiedForEachOfManyThreads) {
  const FilterPlan plan = MakeFilterPlan(SquareFilter(64, 7, 7, 512, 512, 3, 1, 1), 64);
  EXPECT_LE(static_cast<double>(plan.pixel_parts) * static_cast<double>(plan.sum_floats()) * 4,
            64.0 * 1024 * 1024);
  EXPECT_GT(plan.channel_parts, 1);
}

}  // namespace
}  // namespace estimator::amx
