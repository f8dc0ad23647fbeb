// Training on replicas: gradients are those of the whole batch, whoever sums them.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "estimator/base/testing/captured_log.h"
#include "estimator/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tpu/testing/train_fixture.h"

namespace estimator::tpu {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using TPUGradientsTest = TPUTrainFixture;

// Behaviour N8, by its effect: 20 losses in a row need the same gradients.
TEST_F(TPUGradientsTest, OneReplicaAndSeveralGiveTheSameLosses) {
  const std::vector<double> local = Losses(TinyTPUOptions(Dir(), 0), 20);
  for (const int replicas : {1, 2, 4, 8})
    ExpectSameLosses(Losses(TinyTPUOptions(Dir(), replicas), 20), local, 1e-5);
}

// Wrapped by hand, by the loop, or not at all.
TinyTPUEstimator::Options Wrapped(const std::string& dir, int replicas, const std::string& how) {
  auto options = TinyTPUOptions(dir, replicas);
  options.model_fn = [how](const Features& features, const Labels& labels, Mode, const Params&) {
    const Tensor loss = TinyLoss(labels, TinyNetwork(features, true, 0));
    train::Momentum bare(0.02, 0.9);
    Operation train_op;
    if (how == "bare") train_op = bare.Minimize(loss);
    if (how == "mean") train_op = CrossShardOptimizer(bare).Minimize(loss);
    if (how == "sum") train_op = CrossShardOptimizer(bare, Reduction::kSum).Minimize(loss);
    if (how == "pointer" || how == "pointer, twice") {
      std::shared_ptr<train::Optimizer> optimizer = std::make_shared<train::Momentum>(bare);
      optimizer = CrossShardOptimizer(optimizer);
      if (how == "pointer, twice") optimizer = CrossShardOptimizer(optimizer);
      train_op = optimizer->Minimize(loss);
    }
    if (how == "two calls") train_op = bare.ApplyGradients(bare.ComputeGradients(loss));
    if (how == "clips, in a wrapper")
      train_op = CrossShardOptimizer(train::ClipByGlobalNorm(bare, 0.5)).Minimize(loss);
    if (how == "clips") train_op = train::ClipByGlobalNorm(bare, 0.5).Minimize(loss);
    if (how == "clips, around a wrapper")
      train_op = train::ClipByGlobalNorm(CrossShardOptimizer(bare), 0.5).Minimize(loss);
    if (how == "clips by hand in a wrapper") {
      CrossShardOptimizer optimizer(bare);
      train_op =
          optimizer.ApplyGradients(train::ClipByGlobalNorm(optimizer.ComputeGradients(loss), 0.5));
    }
    if (how == "wrapper twice around clipping") {
      train_op =
          CrossShardOptimizer(train::ClipByGlobalNorm(CrossShardOptimizer(bare), 1)).Minimize(loss);
    }
    if (how == "summed by hand in a wrapper" || how == "four times in a wrapper") {
      CrossShardOptimizer optimizer(bare);
      const bool times = how == "four times in a wrapper";
      std::vector<train::GradientAndVariable> pairs =
          optimizer.ComputeGradients(times ? loss * 4.0f : loss);
      for (train::GradientAndVariable& pair : pairs) {
        if (!times) pair.gradient = CrossReplicaSum(pair.gradient);
      }
      train_op = optimizer.ApplyGradients(pairs);
    }
    if (how == "gradients" || how == "summed by hand") {  // of the program's own: the sum
      std::vector<train::GradientAndVariable> pairs;
      const std::vector<Variable> variables = Graph::Current().TrainableVariables();
      std::vector<Tensor> gradients = Gradients(loss, variables);
      if (how == "summed by hand") {
        for (Tensor& gradient : gradients) gradient = CrossReplicaSum(gradient);
        gradients = ClipByGlobalNorm(gradients, 1e6).tensors;
      }
      for (size_t i = 0; i < variables.size(); ++i) pairs.push_back({gradients[i], variables[i]});
      train_op = bare.ApplyGradients(pairs);
    }
    if (how == "unsummed") {
      std::vector<Operation> updates = {AssignAdd(GetOrCreateGlobalStep(), Constant<int64_t>(1))};
      const std::vector<Variable> variables = Graph::Current().TrainableVariables();
      const std::vector<Tensor> gradients = Gradients(loss, variables);
      for (size_t i = 0; i < variables.size(); ++i)
        updates.push_back(AssignAdd(variables[i], Multiply(gradients[i], -0.1)));
      train_op = Group(updates);
    }
    return TPUEstimatorSpec::Train(loss, train_op);
  };
  return options;
}

// Behaviour M3, and TensorFlow's split of the work: the mean scales the loss, applying sums.
TEST_F(TPUGradientsTest, WrappingByHandByTheLoopAndLocallyGivesTheSameNumbersNeverTwice) {
  const std::vector<double> expected = Losses(Wrapped(Dir(), 0, "bare"), 8);
  for (const int replicas : {0, 4}) {
    for (const char* how : {"bare", "mean", "pointer", "two calls"}) {
      SCOPED_TRACE(std::string(how) + " on " + std::to_string(replicas));
      ExpectSameLosses(Losses(Wrapped(Dir(), replicas, how), 8), expected, 1e-5);
    }
  }
  // The sum over 4 replicas is 4 times the mean: another run, and the same one both ways.
  const std::vector<double> sum = Losses(Wrapped(Dir(), 4, "sum"), 3);
  EXPECT_GT(std::abs(sum[1] - expected[1]), 1e-3 * expected[1]);
  ExpectSameLosses(Losses(Wrapped(Dir(), 4, "gradients"), 3), sum, 1e-5);
  // So is that of a program that sums and clips before it hands the gradients on.
  ExpectSameLosses(Losses(Wrapped(Dir(), 4, "summed by hand"), 3), sum, 1e-5);
}

// Of the promise in cross_shard_optimizer.h: the wrapper does not see a sum of the model_fn's own.
TEST_F(TPUGradientsTest, ASumByHandBeforeAWrapperIsSummedAgainAsInTensorFlow) {
  ExpectSameLosses(Losses(Wrapped(Dir(), 4, "summed by hand in a wrapper"), 3),
                   Losses(Wrapped(Dir(), 4, "four times in a wrapper"), 3), 1e-5);
}

TEST_F(TPUGradientsTest, AnOptimizerThatClipsTakesTheNormOfTheSum) {
  const std::vector<double> local = Losses(Wrapped(Dir(), 0, "clips"), 6);
  EXPECT_GT(std::abs(local[1] - Losses(Wrapped(Dir(), 0, "bare"), 2)[1]), 1e-3 * local[1])
      << "the norm is clipped";
  for (const char* how : {"clips", "clips, in a wrapper"})
    ExpectSameLosses(Losses(Wrapped(Dir(), 4, how), 6), local, 1e-5);
  // TensorFlow's, too, clips the parts if it is outside.
  const std::vector<double> parts = Losses(Wrapped(Dir(), 4, "clips, around a wrapper"), 6);
  ExpectSameLosses(parts, Losses(Wrapped(Dir(), 4, "clips by hand in a wrapper"), 6), 1e-6);
  EXPECT_THAT(TrainError(Wrapped(Dir(), 4, "wrapper twice around clipping")),
              HasSubstr("the optimizer is a CrossShardOptimizer already"));
}

TEST_F(TPUGradientsTest, ACrossShardOptimizerOfACrossShardOptimizerIsRefused) {
  EXPECT_THAT(TrainError(Wrapped(Dir(), 4, "pointer, twice")),
              HasSubstr("the optimizer is a CrossShardOptimizer already"));
}

// x [m, k] of every replica, one below the other: [num_shards * m, k].
Tensor Gathered(const Tensor& x, int num_shards) {
  const Tensor here = Reshape(OneHot(ReplicaId(), num_shards), {num_shards, 1, 1});
  const Tensor all = CrossReplicaSum(here * Reshape(x, {1, x.dim(0), x.dim(1)}));
  return Reshape(all, {num_shards * x.dim(0), x.dim(1)});
}

// `temperature` is reached through nothing but gathered features and constants, as CLIP's is.
TinyTPUEstimator::Options WithTemperature(const std::string& dir, int replicas,
                                          const std::string& how) {
  auto options = TinyTPUOptions(dir, replicas);
  options.model_fn = [how, replicas](const Features& features, const Labels&, Mode, const Params&) {
    const Tensor rows = Gathered(features["x"], std::max(replicas, 1));
    const Variable temperature =
        GetVariable("temperature", {}, {.initializer = initializers::Constant(0.5)});
    const Tensor predictions = ReduceSum(rows, {1}, {.keepdims = true}) * temperature;
    const Tensor loss = TinyLoss(Ones(predictions.shape()), predictions);
    train::GradientDescent bare(0.1);
    std::vector<train::GradientAndVariable> pairs = bare.ComputeGradients(loss);
    if (how == "summed and clipped by hand") {
      for (train::GradientAndVariable& pair : pairs) pair.gradient = CrossReplicaSum(pair.gradient);
      pairs = train::ClipByGlobalNorm(pairs, 0.3);
    }
    return TPUEstimatorSpec::Train(loss, bare.ApplyGradients(pairs));
  };
  return options;
}

// A sum in the forward pass once passed for one of gradients, and the step was num_shards times
// too small.
TEST_F(TPUGradientsTest, SumsOfTheForwardPassAreNoSumsOfGradients) {
  std::vector<std::vector<double>> of;
  for (const char* how : {"bare", "summed and clipped by hand"}) {
    SCOPED_TRACE(how);
    of.push_back(Losses(WithTemperature(Dir(), 0, how), 5));
    ExpectSameLosses(Losses(WithTemperature(Dir(), 4, how), 5), of.back(), 1e-5);
  }
  EXPECT_GT(std::abs(of[0][1] - of[1][1]), 1e-3 * of[0][1]) << "the norm is clipped";
}

TEST_F(TPUGradientsTest, WrappingByTheLoopIsSaidOnceAndOnlyWhereItHappens) {
  const auto said = [this](int replicas, const std::string& how) {
    const testing::CapturedLog log;
    TinyTPUEstimator estimator(Wrapped(Dir(), replicas, how));
    const InputFn input = estimator.Input(TinyTrainInput);
    for (int call = 0; call < 3; ++call) EST_EXPECT_OK(estimator.Train(input, Steps(1)));
    return std::count_if(log.infos.begin(), log.infos.end(), [](const std::string& line) {
      return absl::StrContains(line, "sums its gradients over 4 replicas");
    });
  };
  EXPECT_EQ(said(4, "bare"), 1);
  EXPECT_EQ(said(4, "mean"), 0);
  EXPECT_EQ(said(0, "bare"), 0);
}

TEST_F(TPUGradientsTest, GradientsThatNobodySumsAreRefusedOnReplicasOnly) {
  EXPECT_THAT(TrainError(Wrapped(Dir(), 4, "unsummed")),
              AllOf(HasSubstr("no gradient is summed over the 4 replicas"),
                    HasSubstr("tpu::CrossShardOptimizer")));
  Losses(Wrapped(Dir(), 0, "unsummed"), 2);
  Losses(Wrapped(Dir(), 1, "unsummed"), 2);
}

// Gradients of two steps added up in variables, and applied in every step.
TinyTPUEstimator::Options Accumulated(const std::string& dir, int replicas,
                                      const std::string& how) {
  auto options = TinyTPUOptions(dir, replicas);
  options.model_fn = [how](const Features& features, const Labels& labels, Mode, const Params&) {
    const Tensor loss = TinyLoss(labels, TinyNetwork(features, true, 0));
    train::GradientDescent bare(0.02);
    std::vector<Operation> updates;
    std::vector<train::GradientAndVariable> pairs = bare.ComputeGradients(loss);
    for (train::GradientAndVariable& pair : pairs) {
      const Variable kept = GetVariable(pair.variable.name() + "/Gradient", pair.variable.shape(),
                                        {.initializer = initializers::Zeros(), .trainable = false});
      if (how == "summed") pair.gradient = CrossReplicaSum(pair.gradient);
      updates.push_back(Assign(kept, pair.gradient));
      pair.gradient = pair.gradient + kept;
    }
    updates.push_back(bare.ApplyGradients(pairs));
    return TPUEstimatorSpec::Train(loss, Group(updates));
  };
  return options;
}

// A fixed bug: the variables held replica 0's gradients alone, and the losses were others.
TEST_F(TPUGradientsTest, GradientsAddedUpOverStepsAreThoseOfAllReplicasOrRefused) {
  const std::vector<double> local = Losses(Accumulated(Dir(), 0, "left"), 5);
  ExpectSameLosses(Losses(Accumulated(Dir(), 0, "summed"), 5), local, 1e-5);
  ExpectSameLosses(Losses(Accumulated(Dir(), 4, "summed"), 5), local, 1e-5);
  EXPECT_THAT(TrainError(Accumulated(Dir(), 4, "left")),
              AllOf(HasSubstr("train_op keeps gradients of one replica in '"),
                    HasSubstr("/Gradient'"), HasSubstr("not summed over the 4 replicas"),
                    HasSubstr("Apply CrossReplicaSum to them first")));
}

// Moving averages are updates of the graph's own: nobody can forget them.
TEST_F(TPUGradientsTest, BatchNormsAveragesMoveOnReplicasWithoutBeingAskedFor) {
  auto options = TinyTPUOptions(Dir(), 2);
  options.model_fn = [](const Features& features, const Labels& labels, Mode mode, const Params&) {
    const Tensor normal =
        layers::BatchNormalization(features["x"], {.training = mode == Mode::kTrain});
    const Tensor loss = TinyLoss(labels, layers::Dense(normal, {.units = 1}));
    return TPUEstimatorSpec::Train(loss, train::GradientDescent(0.01).Minimize(loss));
  };
  TinyTPUEstimator estimator(options);
  EST_ASSERT_OK(estimator.Train(TinyTrainInput, Steps(3)));
  EXPECT_NE(estimator.GetVariableValue("batch_normalization/moving_mean")->AsDouble(0), 0);
  EXPECT_NE(estimator.GetVariableValue("batch_normalization/moving_variance")->AsDouble(0), 1);
}

// Of inputs that are moved along their gradient, as in adversarial training: they were taken for
// gradients that train_op keeps.
TEST_F(TPUGradientsTest, BatchNormsAveragesMayDescendFromGradients) {
  auto options = TinyTPUOptions(Dir(), 2);
  options.model_fn = [](const Features& features, const Labels& labels, Mode, const Params&) {
    const Tensor& x = features["x"];
    const Tensor plain = TinyLoss(labels, layers::Dense(x, {.units = 1}));
    const Tensor moved = StopGradient(x + Sign(Gradients({plain}, {x})[0]) * 0.1f);
    const Tensor normal = layers::BatchNormalization(moved, {.training = true});
    const Tensor loss = plain + TinyLoss(labels, layers::Dense(normal, {.units = 1}));
    return TPUEstimatorSpec::Train(loss, train::GradientDescent(0.01).Minimize(loss));
  };
  EST_EXPECT_OK(TinyTPUEstimator(options).Train(TinyTrainInput, Steps(2)));
}

}  // namespace
}  // namespace estimator::tpu
