#include "estimator/nn/initializers.h"

#include <algorithm>
#include <cmath>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/nn/testing/step.h"
#include "estimator/ops/testing/eval.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using testing::Doubles;
using testing::ExpectError;
using testing::ExpectNear;

struct Moments {
  double mean = 0, stddev = 0, largest = 0;
};

// Of 40,000 numbers: the mean is within 0.02 stddev, the standard deviation within 2 percent.
Moments Draw(const Initializer& initializer, const Shape& shape) {
  Graph graph;
  const GraphScope scope(graph);
  const absl::StatusOr<Array> array = testing::Eval(initializer(shape, DType::kFloat32));
  EST_EXPECT_OK(array);
  if (!array.ok()) return {};
  Moments m;
  const std::vector<double> values = Doubles(*array);
  const double n = static_cast<double>(values.size());
  for (double v : values) {
    m.mean += v / n;
    m.largest = std::max(m.largest, std::abs(v));
  }
  for (double v : values) m.stddev += (v - m.mean) * (v - m.mean) / n;
  m.stddev = std::sqrt(m.stddev);
  return m;
}

TEST(Initializers, FansCountTheReceptiveField) {
  EXPECT_EQ(initializers::ComputeFans({5, 5, 3, 32}), std::make_pair(75.0, 800.0));
  EXPECT_EQ(initializers::ComputeFans({3136, 1024}), std::make_pair(3136.0, 1024.0));
  EXPECT_EQ(initializers::ComputeFans({7}), std::make_pair(7.0, 7.0));
  EXPECT_EQ(initializers::ComputeFans({}), std::make_pair(1.0, 1.0));
}

TEST(Initializers, GlorotUniformStaysInsideItsLimit) {
  const Moments m = Draw(initializers::GlorotUniform(), {100, 400});
  const double limit = std::sqrt(6.0 / 500);
  EXPECT_LE(m.largest, limit);
  EXPECT_GT(m.largest, 0.99 * limit);
  EXPECT_NEAR(m.stddev, limit / std::sqrt(3.0), 0.02 * limit);
}

TEST(Initializers, HeNormalHasVarianceTwoByFanInAndIsCutAtTwoSigma) {
  const Moments m = Draw(initializers::HeNormal(), {100, 400});
  const double stddev = std::sqrt(2.0 / 100);
  EXPECT_NEAR(m.stddev, stddev, 0.02 * stddev);
  EXPECT_LE(m.largest, 2 * stddev / 0.8796);
  EXPECT_NEAR(m.mean, 0, 0.02 * stddev);
}

TEST(Initializers, UntruncatedNormalReachesBeyondTwoSigma) {
  const Moments m =
      Draw(initializers::VarianceScaling(
               {.scale = 1, .distribution = initializers::Distribution::kUntruncatedNormal}),
           {100, 400});
  EXPECT_NEAR(m.stddev, 0.1, 0.002);
  EXPECT_GT(m.largest, 0.3);
}

TEST(Initializers, TruncatedNormalOfBert) {
  const Moments m = Draw(initializers::TruncatedNormal({.stddev = 0.02}), {100, 400});
  EXPECT_NEAR(m.stddev, 0.02 * 0.8796, 0.0004);
  EXPECT_LE(m.largest, 0.04);
}

TEST(Initializers, ConstantsFillTheShape) {
  Graph graph;
  const GraphScope scope(graph);
  ExpectNear(*testing::Eval(initializers::Constant(0.25)({3}, DType::kFloat32)),
             {0.25, 0.25, 0.25});
  ExpectNear(*testing::Eval(initializers::Ones()({2}, DType::kInt64)), {1, 1});
  ExpectNear(
      *testing::Eval(initializers::Constant(Array::Of<double>({2}, {1, 2}))({2}, DType::kFloat32)),
      {1, 2});
  initializers::Constant(Array::Of<float>({2}, {1, 2}))({3}, DType::kFloat32);
  ExpectError(graph, {"f32 [2]", "[3]"});
}

}  // namespace
}  // namespace estimator
