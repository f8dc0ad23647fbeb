#include "estimator/ops/random.h"

#include <cmath>
#include <vector>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/testdata/random/goldens.h"
#include "estimator/ops/testing/eval.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using testing::CheckGradients;
using testing::Doubles;
using testing::ErrorOf;
using testing::Eval;
using ::testing::HasSubstr;
using testing::Scrambled;
using Inputs = std::vector<Tensor>;

constexpr int64_t kGraphSeed = 87, kOpSeed = 5;  // as in generate.py

uint64_t Fnv1a(const Array& array) {
  uint64_t value = 0xcbf29ce484222325u;
  const auto* bytes = static_cast<const unsigned char*>(array.raw());
  for (size_t i = 0; i < array.num_bytes(); ++i) value = (value ^ bytes[i]) * 0x100000001b3u;
  return value;
}

Tensor Draw(const std::string& op, int64_t n, DType dtype) {
  if (op == "RandomUniform") return RandomUniform({n}, {.dtype = dtype, .seed = kOpSeed});
  if (op == "RandomStandardNormal") return RandomNormal({n}, {.dtype = dtype, .seed = kOpSeed});
  if (op == "TruncatedNormal") return TruncatedNormal({n}, {.dtype = dtype, .seed = kOpSeed});
  return RandomUniformInt({n}, -5, 100, {.dtype = dtype, .seed = kOpSeed});
}

using RandomTest = GraphTest;
using DropoutTest = GraphTest;

TEST_F(RandomTest, UniformNumbersAreTensorFlowsBitForBit) {
  for (const goldens::DrawHash& golden : goldens::kDrawHashes) {
    Graph graph;
    graph.set_seed(kGraphSeed);
    const GraphScope scope(graph);
    const absl::StatusOr<Array> drawn =
        Eval(Draw(golden.op, golden.n, golden.dtype), {}, {.step = golden.run});
    EST_ASSERT_OK(drawn);
    EXPECT_EQ(Fnv1a(*drawn), golden.hash)
        << golden.op << " " << golden.dtype << " n " << golden.n << " run " << golden.run;
  }
}

// The first three runs of tf.compat.v1.random_shuffle(tf.range(10), seed=5), graph seed 87.
TEST_F(RandomTest, ShufflesOfEveryStepAreTensorFlows) {
  const std::vector<std::vector<double>> runs = {{7, 9, 3, 4, 5, 0, 6, 2, 8, 1},
                                                 {2, 8, 5, 1, 0, 7, 9, 6, 3, 4},
                                                 {9, 6, 1, 2, 8, 4, 5, 7, 3, 0}};
  for (int64_t run = 0; run < 3; ++run) {
    Graph graph;
    graph.set_seed(kGraphSeed);
    const GraphScope scope(graph);
    EXPECT_EQ(Doubles(RandomShuffle(Range(0, 10), kOpSeed), {.step = run}),
              runs[static_cast<size_t>(run)])
        << "run " << run;
  }
}

TEST_F(RandomTest, NormalNumbersAreTensorFlows) {
  for (const goldens::DrawLast& golden : goldens::kDrawLast) {
    Graph graph;
    graph.set_seed(kGraphSeed);
    const GraphScope scope(graph);
    const std::vector<double> drawn =
        Doubles(Draw(golden.op, golden.n, golden.dtype), {.step = golden.run});
    ASSERT_EQ(drawn.size(), golden.n);
    // A few units in the last place of log, sin and cos; in 16 bits that may move a rounding.
    const double tolerance = DTypeSize(golden.dtype) == 2 ? 1e-2 : 1e-6;
    EXPECT_NEAR(drawn.back(), golden.last, tolerance)
        << golden.op << " " << golden.dtype << " n " << golden.n << " run " << golden.run;
  }
}

TEST_F(RandomTest, StepsAndReplicasDrawOtherNumbersAndRepeatThem) {
  const Tensor x = RandomUniform({4});
  const std::vector<double> first = Doubles(x);
  EXPECT_EQ(Doubles(x), first);
  EXPECT_NE(Doubles(x, {.step = 1}), first);
  EXPECT_NE(Doubles(x, {.replica = 1, .num_replicas = 2}), first);
  EXPECT_EQ(Doubles(x, {.step = 1}), Doubles(x, {.step = 1}));
  EXPECT_NE(Doubles(RandomUniform({4})), first);  // another op, another seed
}

TEST_F(RandomTest, NumbersHaveTheWantedMoments) {
  const auto moments = [](const std::vector<double>& x) {
    double sum = 0, squares = 0;
    for (const double v : x) sum += v, squares += v * v;
    const double n = static_cast<double>(x.size()), mean = sum / n;
    return std::pair(mean, std::sqrt(squares / n - mean * mean));
  };
  // 20000 numbers: the standard error of a mean is 0.7% of the standard deviation.
  const auto [uniform_mean, uniform_dev] =
      moments(Doubles(RandomUniform({20000}, {.minval = -1, .maxval = 3})));
  EXPECT_NEAR(uniform_mean, 1, 0.05);
  EXPECT_NEAR(uniform_dev, 4 / std::sqrt(12), 0.05);
  const auto [normal_mean, normal_dev] =
      moments(Doubles(RandomNormal({20000}, {.mean = 5, .stddev = 2})));
  EXPECT_NEAR(normal_mean, 5, 0.1);
  EXPECT_NEAR(normal_dev, 2, 0.1);
  // Cut at 2 standard deviations: 0.8796 of them is left.
  const std::vector<double> truncated = Doubles(TruncatedNormal({20000}));
  EXPECT_NEAR(moments(truncated).second, 0.8796, 0.03);
  for (const double x : truncated) EXPECT_LT(std::abs(x), 2);
}

TEST_F(RandomTest, RefusesIntegersAndEmptyRanges) {
  EXPECT_THAT(ErrorOf([] { RandomNormal({2}, {.dtype = DType::kInt32}); }), HasSubstr("floating"));
  EXPECT_THAT(ErrorOf([] { RandomUniformInt({2}, 3, 3); }),
              HasSubstr("minval must be less than maxval"));
  EXPECT_THAT(ErrorOf([] { RandomUniformInt({2}, 0, 3, {.dtype = DType::kInt8}); }),
              HasSubstr("int8"));
  EXPECT_THAT(ErrorOf([] { RandomUniform({-1}); }), HasSubstr("-1"));
}

TEST_F(DropoutTest, DropsWhatTensorFlowDrops) {
  for (int run = 0; run < 2; ++run) {
    Graph graph;
    graph.set_seed(kGraphSeed);
    const GraphScope scope(graph);
    const std::vector<double> y =
        Doubles(Dropout(Ones({64}), {.rate = 0.4, .seed = kOpSeed}), {.step = run});
    ASSERT_EQ(y.size(), 64);
    for (size_t i = 0; i < y.size(); ++i) {
      EXPECT_FLOAT_EQ(y[i], goldens::kDropoutKept[static_cast<size_t>(run)][i] / 0.6f) << i;
    }
  }
}

TEST_F(DropoutTest, SharesTheChoiceAlongNoiseAxesOfSizeOne) {
  const std::vector<double> y =
      Doubles(Dropout(Ones({50, 4}), {.rate = 0.5, .noise_shape = Shape{50, 1}}));
  ASSERT_EQ(y.size(), 200);
  int num_kept = 0;
  for (size_t row = 0; row < 50; ++row) {
    for (size_t i = 1; i < 4; ++i) EXPECT_EQ(y[row * 4 + i], y[row * 4]);
    num_kept += y[row * 4] != 0;
  }
  EXPECT_GT(num_kept, 10);
  EXPECT_LT(num_kept, 40);
}

TEST_F(DropoutTest, OfNothingIsTheInput) {
  const Tensor x = Ones({3});
  EXPECT_EQ(Dropout(x, {.rate = 0}), x);
}

TEST_F(DropoutTest, RefusesWhatCannotBe) {
  EXPECT_THAT(ErrorOf([] { Dropout(Ones({3}), {.rate = 1}); }), HasSubstr("[0, 1)"));
  EXPECT_THAT(ErrorOf([] { Dropout(Ones({3}, DType::kInt32), {.rate = 0.5}); }),
              HasSubstr("floating"));
  EXPECT_THAT(ErrorOf([] { Dropout(Ones({3}), {.rate = 0.5, .noise_shape = Shape{2}}); }),
              HasSubstr("noise_shape [2]"));
}

TEST_F(DropoutTest, GradientFlowsThroughWhatIsKept) {
  EXPECT_EQ(CheckGradients(
                [](const Inputs& in) { return Dropout(in[0], {.rate = 0.4, .seed = kOpSeed}); },
                {Scrambled({10}, -1, 1)})
                .ToString(),
            "OK");
}

}  // namespace
}  // namespace estimator
