// TensorFlow's bits: ops/golden_test.
#include "estimator/ops/categorical.h"

#include <array>
#include <limits>
#include <vector>

#include "estimator/graph/graph.h"
#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/testing/eval.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using testing::Doubles;
using ::testing::Each;
using testing::ErrorOf;
using ::testing::HasSubstr;

using RandomCategoricalTest = GraphTest;

TEST_F(RandomCategoricalTest, DrawsByTheSoftmaxOfTheLogits) {
  const float never = -std::numeric_limits<float>::infinity();
  // Probabilities 1/4, 0, 3/4.
  const Tensor logits = Constant({1, 3}, {0.0f, never, 1.0986123f});
  const std::vector<double> drawn =
      Doubles(RandomCategorical(logits, 20000, {.dtype = DType::kInt32, .seed = 3}));
  std::array<double, 3> share{};
  for (const double x : drawn) share[static_cast<size_t>(x)] += 1.0 / 20000;
  EXPECT_NEAR(share[0], 0.25, 0.012);  // four standard deviations
  EXPECT_EQ(share[1], 0);
  EXPECT_NEAR(share[2], 0.75, 0.012);
}

TEST_F(RandomCategoricalTest, DrawsAnewInEveryStepAndOnEveryReplicaAndRepeatsItself) {
  const Tensor drawn = RandomCategorical(Zeros({2, 1000}), 5, {.seed = 3});
  const std::vector<double> first = Doubles(drawn);
  EXPECT_EQ(Doubles(drawn), first);
  EXPECT_NE(Doubles(drawn, {.step = 1}), first);
  EXPECT_NE(Doubles(drawn, {.replica = 1}), first);
  EXPECT_EQ(drawn.shape(), (Shape{2, 5}));
  EXPECT_THAT(Doubles(RandomCategorical(Zeros({2, 1}), 5)), Each(0));
}

// The first three runs of tf.random.categorical(logits, 5, seed=5), graph seed 87, on TF 2.15.1.
TEST_F(RandomCategoricalTest, RunsOfASessionAreTensorFlows) {
  const std::vector<std::vector<double>> runs = {{1, 2, 1, 2, 2, 2, 2, 1, 0, 1},
                                                 {2, 1, 2, 0, 0, 1, 1, 0, 0, 0},
                                                 {2, 1, 1, 2, 1, 0, 2, 1, 1, 1}};
  for (int64_t run = 0; run < 3; ++run) {
    Graph graph;
    graph.set_seed(87);
    const GraphScope scope(graph);
    const Tensor logits = Constant({2, 3}, {0.0f, 1.0f, 2.0f, 0.5f, 0.0f, -0.5f});
    EXPECT_EQ(Doubles(RandomCategorical(logits, 5, {.seed = 5}), {.step = run}),
              runs[static_cast<size_t>(run)])
        << "run " << run;
  }
}

TEST_F(RandomCategoricalTest, RefusesWhatHasNoClasses) {
  EXPECT_THAT(ErrorOf([] { RandomCategorical(Zeros({2}), 1); }), HasSubstr("[N, C]"));
  EXPECT_THAT(ErrorOf([] { RandomCategorical(Zeros({2, 0}), 1); }), HasSubstr("[N, C]"));
  EXPECT_THAT(ErrorOf([] { RandomCategorical(Zeros({2, 3}), -1); }), HasSubstr("num_samples"));
  EXPECT_THAT(ErrorOf([] {
                RandomCategorical(Zeros({2, 3}), 1, {.dtype = DType::kFloat32});
              }),
              HasSubstr("int32 or int64"));
}

TEST_F(RandomCategoricalTest, CandidateSamplersRefuseWhatCannotBeDrawn) {
  const auto error = [](int64_t num_true, int64_t num_sampled, bool unique) {
    return ErrorOf([=] {
      AddOp("LogUniformCandidateSampler", {Constant({2, 1}, {int64_t{3}, int64_t{0}})},
            {{"num_true", num_true},
             {"num_sampled", num_sampled},
             {"unique", unique},
             {"range_max", int64_t{4}},
             {"seed", int64_t{1}},
             {"seed2", int64_t{2}}});
    });
  };
  EXPECT_EQ(error(1, 4, true), "");
  EXPECT_EQ(error(1, 5, false), "");
  EXPECT_THAT(error(1, 5, true), HasSubstr("cannot draw 5 different classes of 4"));
  EXPECT_THAT(error(2, 4, true), HasSubstr("true_classes must be i64 [N,2], not i64 [2,1]"));
  EXPECT_THAT(error(1, 0, true), HasSubstr("must be positive"));
}

}  // namespace
}  // namespace estimator
