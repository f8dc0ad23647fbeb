#include "estimator/kernels/amx/filter_gradient.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/base/random.h"
#include "estimator/kernels/amx/tiles.h"

namespace estimator::amx {
namespace {

// Sums of at most 2600 products below 1 in f32, in another order than the plain loops.
constexpr double kSummationOrder = 2e-4;

std::vector<Bfloat16> RandomNumbers(int64_t count, uint64_t seed) {
  std::vector<Bfloat16> numbers;
  Philox philox(seed);
  while (static_cast<int64_t>(numbers.size()) < count) {
    for (const uint32_t bits : philox.Next4()) numbers.emplace_back(2 * UniformFloat(bits) - 1);
  }
  numbers.resize(static_cast<size_t>(count));
  return numbers;
}

struct Images {
  std::vector<Bfloat16> x, dy;

  explicit Images(const FilterGradient& g)
      : x(RandomNumbers(g.images * g.in_rows * g.in_columns * g.in_channels, 1)),
        dy(RandomNumbers(g.images * g.out_rows * g.out_columns * g.out_channels, 2)) {}
};

// The gradient as `threads` threads compute it. Scratch memory and result begin with NaN.
std::vector<float> Result(const FilterGradient& g, int threads, const Images& images) {
  const Plan plan = MakePlan(g, threads);
  EXPECT_LE(plan.pixel_parts * plan.channel_parts, threads);
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const size_t floats = (plan.scratch_bytes() + 63) / 64 * 16;
  const std::unique_ptr<float, void (*)(void*)> scratch(
      static_cast<float*>(std::aligned_alloc(64, floats * sizeof(float))), std::free);
  std::fill_n(scratch.get(), floats, kNan);
  std::vector<float> result(static_cast<size_t>(g.taps() * g.in_channels * g.out_channels), kNan);
  Run(plan, images.x.data(), images.dy.data(), result.data(), scratch.get());
  return result;
}

// Element [u, v, c, k] in double precision.
double Expected(const FilterGradient& g, const Images& images, int64_t u, int64_t v, int64_t c,
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

// A square filter and its padding on all sides.
FilterGradient Gradient(int64_t images, int64_t rows, int64_t columns, int64_t in, int64_t out,
                        int64_t filter, int64_t stride, int64_t pad) {
  return {.images = images,
          .in_rows = rows,
          .in_columns = columns,
          .in_channels = in,
          .out_rows = (rows + 2 * pad - filter) / stride + 1,
          .out_columns = (columns + 2 * pad - filter) / stride + 1,
          .out_channels = out,
          .filter_rows = filter,
          .filter_columns = filter,
          .row_stride = stride,
          .column_stride = stride,
          .pad_top = pad,
          .pad_left = pad};
}

std::vector<FilterGradient> Gradients() {
  FilterGradient uneven = Gradient(2, 9, 10, 16, 32, 3, 1, 0);  // filter 3x2, strides 2 and 3
  uneven.filter_columns = 2;
  uneven.row_stride = 2;
  uneven.column_stride = 3;
  uneven.out_rows = 5;  // the last row reads padding
  uneven.out_columns = 3;
  uneven.pad_top = 1;
  return {uneven,
          Gradient(2, 5, 7, 16, 16, 1, 1, 0),
          Gradient(1, 1, 1, 32, 64, 1, 1, 0),
          Gradient(3, 19, 23, 32, 96, 1, 1, 0),  // several blocks of pixels
          Gradient(2, 9, 8, 32, 64, 1, 2, 0),
          Gradient(1, 5, 7, 17, 33, 3, 1, 1),  // groups of channels that are not full
          Gradient(3, 7, 7, 40, 70, 3, 1, 1),
          Gradient(2, 9, 8, 32, 64, 3, 2, 1),
          Gradient(1, 40, 61, 32, 64, 3, 1, 1),  // an image in segments, the last one shorter
          Gradient(1, 2, 600, 32, 32, 3, 1, 1),  // a row that is longer than a block
          Gradient(2, 11, 11, 64, 16, 5, 2, 2),
          Gradient(2, 4, 3, 96, 160, 3, 1, 0)};
}

std::string Name(const FilterGradient& g) {
  return absl::StrCat(g.images, "x", g.in_rows, "x", g.in_columns, "x", g.in_channels, " -> ",
                      g.out_rows, "x", g.out_columns, "x", g.out_channels, ", ", g.filter_rows, "x",
                      g.filter_columns);
}

TEST(AmxFilterGradient, MatchesPlainLoopsForEveryNumberOfThreads) {
  if (!IsAvailable()) GTEST_SKIP() << "this CPU has no AMX";
  for (const FilterGradient& g : Gradients()) {
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
  const Plan plan = MakePlan(Gradient(1, 4, 4, 64, 256, 1, 1, 0), 4);
  EXPECT_EQ(plan.pixel_parts, 1);
  EXPECT_EQ(plan.channel_parts, 4);
  EXPECT_EQ(plan.in_part, 64);
  EXPECT_EQ(plan.out_part, 64);
}

TEST(AmxFilterGradient, LargeSumsAreNotCopiedForEachOfManyThreads) {
  const Plan plan = MakePlan(Gradient(64, 7, 7, 512, 512, 3, 1, 1), 64);
  EXPECT_LE(static_cast<double>(plan.pixel_parts) * static_cast<double>(plan.sum_floats()) * 4,
            64.0 * 1024 * 1024);
  EXPECT_GT(plan.channel_parts, 1);
}

}  // namespace
}  // namespace estimator::amx
