#include <cmath>
#include <cstdint>
#include <vector>

#include "estimator/kernels/testing/tiers.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

// Statistics and sums in f32 over up to 1000 channels, and sums over up to 4100 rows.
constexpr Tolerance kSums{.relative = 2e-5, .absolute = 2e-5};
constexpr double kEpsilon = 1e-6;

// Reads and writes element i of an f32 array.
double At(const Array& array, int64_t i) { return static_cast<double>(array.data<float>()[i]); }
void Put(Array& array, int64_t i, double value) {
  array.data<float>()[i] = static_cast<float>(value);
}

struct Case {
  explicit Case(const Shape& shape)
      : x(RandomArray(shape, 1, -2, 3)),
        gamma(RandomArray({shape[-1]}, 2, 0.5f, 2)),
        beta(RandomArray({shape[-1]}, 3)),
        dy(RandomArray(shape, 4)),
        channels(shape[-1]),
        rows(shape.num_elements() / channels),
        statistics(shape) {
    statistics.set_dim(shape.rank() - 1, 1);
  }
  Array x, gamma, beta, dy;
  int64_t channels, rows;
  Shape statistics;
};

// The definition, in f64: y, mean, rstd.
std::vector<Array> Forward(const Case& c) {
  std::vector<Array> result = {Array(DType::kFloat32, c.x.shape()),
                               Array(DType::kFloat32, c.statistics),
                               Array(DType::kFloat32, c.statistics)};
  const auto count = static_cast<double>(c.channels);
  for (int64_t r = 0; r < c.rows; ++r) {
    double mean = 0, variance = 0;
    for (int64_t i = 0; i < c.channels; ++i) mean += At(c.x, r * c.channels + i) / count;
    for (int64_t i = 0; i < c.channels; ++i)
      variance += std::pow(At(c.x, r * c.channels + i) - mean, 2) / count;
    const double rstd = 1 / std::sqrt(variance + kEpsilon);
    Put(result[1], r, mean);
    Put(result[2], r, rstd);
    for (int64_t i = 0; i < c.channels; ++i) {
      const int64_t e = r * c.channels + i;
      Put(result[0], e, (At(c.x, e) - mean) * rstd * At(c.gamma, i) + At(c.beta, i));
    }
  }
  return result;
}

// The sum of dy y, whose gradients the kernel computes.
double Loss(const Case& c) {
  const Array y = Forward(c)[0];
  double sum = 0;
  for (int64_t e = 0; e < y.num_elements(); ++e) sum += At(y, e) * At(c.dy, e);
  return sum;
}

std::vector<Array> RunForward(const Case& c) {
  const std::vector<Array> inputs = {c.x, c.gamma, c.beta};
  const auto result = RunKernel(CompleteSpec({.op = "_LayerNorm",
                                              .attrs = {{"epsilon", static_cast<float>(kEpsilon)}},
                                              .outputs = {{DType::kFloat32, c.x.shape()},
                                                          {DType::kFloat32, c.statistics},
                                                          {DType::kFloat32, c.statistics}}},
                                             inputs),
                                inputs, KernelTier::kFused);
  EXPECT_TRUE(result.ok()) << result.status();
  return result.ok() ? *result : Forward(c);
}

std::vector<Array> RunBackward(const Case& c) {
  const std::vector<Array> forward = Forward(c);
  const std::vector<Array> inputs = {c.dy, c.x, c.gamma, forward[1], forward[2]};
  const auto result = RunKernel(CompleteSpec({.op = "_LayerNormGrad",
                                              .outputs = {{DType::kFloat32, c.x.shape()},
                                                          {DType::kFloat32, {c.channels}},
                                                          {DType::kFloat32, {c.channels}}}},
                                             inputs),
                                inputs, KernelTier::kFused);
  EXPECT_TRUE(result.ok()) << result.status();
  return result.ok() ? *result : inputs;
}

std::vector<Shape> Shapes() {
  return {{4096, 256}, {3, 5, 64}, {7, 1}, {2, 17}, {33, 1000}, {4100, 20}};
}

TEST(LayerNorm, ForwardIsTheDefinition) {
  for (const Shape& shape : Shapes()) {
    const Case c(shape);
    const std::vector<Array> actual = RunForward(c), expected = Forward(c);
    // With one channel the variance is 0, and rstd is 1000.
    for (size_t o = 0; o < 3; ++o) {
      const Difference difference = Compare(actual[o], expected[o], kSums);
      EXPECT_TRUE(difference.equal) << shape.ToString() << " " << o << ": " << difference.report;
    }
  }
}

TEST(LayerNorm, GradientsAreThoseOfTheDefinition) {
  for (const Shape& shape : Shapes()) {
    const Case c(shape);
    const std::vector<Array> forward = Forward(c), actual = RunBackward(c);
    std::vector<double> dgamma(static_cast<size_t>(c.channels)), dbeta(dgamma);
    Array dx(DType::kFloat32, shape);
    const auto count = static_cast<double>(c.channels);
    for (int64_t r = 0; r < c.rows; ++r) {
      const double mean = At(forward[1], r), rstd = At(forward[2], r);
      double sum = 0, product = 0;
      for (int64_t i = 0; i < c.channels; ++i) {
        const int64_t e = r * c.channels + i;
        const double normal = (At(c.x, e) - mean) * rstd, g = At(c.dy, e) * At(c.gamma, i);
        sum += g / count;
        product += g * normal / count;
        dgamma[static_cast<size_t>(i)] += At(c.dy, e) * normal;
        dbeta[static_cast<size_t>(i)] += At(c.dy, e);
      }
      for (int64_t i = 0; i < c.channels; ++i) {
        const int64_t e = r * c.channels + i;
        const double normal = (At(c.x, e) - mean) * rstd;
        Put(dx, e, rstd * (At(c.dy, e) * At(c.gamma, i) - sum - normal * product));
      }
    }
    Array dgammas(DType::kFloat32, {c.channels}), dbetas(DType::kFloat32, {c.channels});
    for (int64_t i = 0; i < c.channels; ++i) {
      Put(dgammas, i, dgamma[static_cast<size_t>(i)]);
      Put(dbetas, i, dbeta[static_cast<size_t>(i)]);
    }
    // With one channel dx is the difference of equal numbers of size 1000.
    const Tolerance dx_tolerance{.relative = 2e-5, .absolute = c.channels == 1 ? 1e-3 : 2e-5};
    const Tolerance sums{.relative = 2e-5, .absolute = 2e-4};
    EXPECT_EQ(Compare(actual[0], dx, dx_tolerance).report, "") << shape.ToString();
    EXPECT_EQ(Compare(actual[1], dgammas, sums).report, "") << shape.ToString();
    EXPECT_EQ(Compare(actual[2], dbetas, sums).report, "") << shape.ToString();
  }
}

TEST(LayerNorm, TheGradientOfXAgreesWithFiniteDifferences) {
  Case c({3, 10});
  const Array dx = RunBackward(c)[0];
  for (int64_t e = 0; e < dx.num_elements(); ++e) {
    const float x = c.x.data<float>()[e];
    const float step = 1.0f / 64;
    c.x.data<float>()[e] = x + step;
    const double above = Loss(c);
    c.x.data<float>()[e] = x - step;
    const double below = Loss(c);
    c.x.data<float>()[e] = x;
    EXPECT_NEAR(At(dx, e), (above - below) / (2 * static_cast<double>(step)), 5e-3) << e;
  }
}

TEST(LayerNorm, TheSameBitsEveryTime) {
  const Case c({4100, 20});
  const std::vector<Array> first = RunBackward(c), second = RunBackward(c);
  for (size_t o = 0; o < 3; ++o) EXPECT_TRUE(SameBits(first[o], second[o]));
}

TEST(LayerNorm, OtherTypesAreNotAccepted) {
  const std::vector<Array> inputs = {Array(DType::kFloat64, {4, 8}), Array(DType::kFloat64, {8}),
                                     Array(DType::kFloat64, {8})};
  EXPECT_FALSE(CreateKernel(CompleteSpec({.op = "_LayerNorm",
                                          .attrs = {{"epsilon", 1e-6f}},
                                          .outputs = {{DType::kFloat64, {4, 8}},
                                                      {DType::kFloat64, {4, 1}},
                                                      {DType::kFloat64, {4, 1}}}},
                                         inputs))
                   .ok());
}

}  // namespace
}  // namespace estimator
