// Losses against numbers of TF 2.15 tf.compat.v1.losses for the same inputs.
#include "estimator/nn/losses/losses.h"

#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/gradients.h"
#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/nn/testing/step.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/testing/eval.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using testing::ExpectError;
using testing::ExpectNear;

class Losses : public GraphTest {
 protected:
  static void Expect(const Tensor& loss, std::vector<double> expected) {
    const absl::StatusOr<Array> value = testing::Eval(loss);
    EST_ASSERT_OK(value);
    ExpectNear(*value, expected, 2e-6);
  }
  const Tensor labels_ = Constant({2, 3}, {0.f, 1.f, .5f, 1.f, 0.f, 2.f});
  const Tensor binary_ = Constant({2, 3}, {0.f, 1.f, 1.f, 1.f, 0.f, 0.f});
  const Tensor one_hot_ = Constant({2, 3}, {0.f, 1.f, 0.f, 1.f, 0.f, 0.f});
  const Tensor predictions_ = Constant({2, 3}, {.2f, .7f, 1.f, 2.5f, .1f, .9f});
  const Tensor weights_ = Constant({2, 3}, {2.f, 0.f, 1.f, 1.f, .5f, 3.f});
};

TEST_F(Losses, WeightsAndReductionsOfMeanSquaredError) {
  using losses::MeanSquaredError;
  Expect(MeanSquaredError(labels_, predictions_), {0.6416667});
  Expect(MeanSquaredError(labels_, predictions_, {.weights = Constant({2, 1}, {1.f, 0.f})}),
         {0.12666667});
  Expect(MeanSquaredError(labels_, predictions_, {.weights = Constant({1.f, 0.f})}), {0.12666667});
  Expect(MeanSquaredError(labels_, predictions_, {.weights = 0.5}), {0.32083336});
  const auto reduced = [this](Reduction reduction) {
    return MeanSquaredError(labels_, predictions_, {.weights = weights_, .reduction = reduction});
  };
  Expect(reduced(Reduction::kSum), {6.215});
  Expect(reduced(Reduction::kSumOverBatchSize), {1.0358334});
  Expect(reduced(Reduction::kSumByNonzeroWeights), {1.243});
  Expect(reduced(Reduction::kSumOverNonzeroWeights), {1.243});
  Expect(reduced(Reduction::kMean), {0.8286667});
  Expect(reduced(Reduction::kNone), {0.08, 0, 0.25, 2.25, 0.005, 3.63});
}

TEST_F(Losses, AllWeightsZeroGiveZero) {
  Expect(losses::MeanSquaredError(labels_, predictions_, {.weights = 0}), {0});
  Expect(losses::MeanSquaredError(labels_, predictions_,
                                  {.weights = 0, .reduction = Reduction::kMean}),
         {0});
}

TEST_F(Losses, RegressionLosses) {
  const Tensor probabilities = Constant({2, 3}, {.2f, .7f, .9f, .9f, .1f, .9f});
  Expect(losses::AbsoluteDifference(labels_, predictions_), {0.6166666});
  Expect(losses::HuberLoss(labels_, predictions_), {0.29916668});
  Expect(losses::HuberLoss(labels_, predictions_, {.delta = 0.3}), {0.14416668});
  Expect(losses::HingeLoss(binary_, predictions_), {0.75});
  Expect(losses::LogLoss(binary_, probabilities), {0.5330805});
  Expect(losses::CosineDistance(labels_, predictions_, 1), {-1.7500001});
}

TEST_F(Losses, CrossEntropies) {
  Expect(losses::SigmoidCrossEntropy(binary_, predictions_), {0.59650445});
  Expect(losses::SigmoidCrossEntropy(binary_, predictions_, {.label_smoothing = 0.1}), {0.6215045});
  Expect(losses::SoftmaxCrossEntropy(one_hot_, predictions_), {0.6703178});
  Expect(losses::SoftmaxCrossEntropy(one_hot_, predictions_, {.label_smoothing = 0.1}),
         {0.7403179});
  Expect(losses::SparseSoftmaxCrossEntropy(Constant({1, 0}), predictions_), {0.6703178});
  Expect(losses::SparseSoftmaxCrossEntropy(Constant(Shape{2, 1}, {1, 0}), predictions_),
         {0.6703178});
  Expect(losses::SparseSoftmaxCrossEntropy(Constant({1, 0}), predictions_,
                                           {.weights = Constant({1.f, 3.f})}),
         {0.92698467});
}

TEST_F(Losses, GradientOfTheMeanIsSoftmaxMinusOneHotByTheBatch) {
  const Tensor logits = Constant({2, 2}, {0.f, 0.f, 0.f, 0.f});
  const Tensor loss = losses::SparseSoftmaxCrossEntropy(Constant({1, 0}), logits);
  Expect(Gradients(std::vector<Tensor>{loss}, {logits})[0], {0.25, -0.25, -0.25, 0.25});
}

TEST_F(Losses, TotalLossAddsLossesAndPenalties) {
  losses::MeanSquaredError(labels_, predictions_);
  losses::MeanSquaredError(labels_, predictions_, {.add_to_collection = false});
  losses::AddLoss(Constant(1.0f));
  graph_.regularization_losses().push_back(Constant(0.25f));
  EXPECT_EQ(losses::GetLosses().size(), 2u);
  Expect(losses::GetTotalLoss(), {0.6416667 + 1.25});
  Expect(losses::GetTotalLoss(false), {0.6416667 + 1});
  Expect(losses::GetRegularizationLoss(), {0.25});
}

TEST_F(Losses, AGraphWithoutLossesHasNoTotal) {
  EXPECT_FALSE(losses::GetTotalLoss().valid());
  ExpectError(graph_, {"no losses"});
}

TEST_F(Losses, DifferentShapesAreBothNamed) {
  losses::MeanSquaredError(Constant({1.f, 2.f}), predictions_);
  ExpectError(graph_, {"mean_squared_error", "f32 [2]", "f32 [2,3]"});
}

// Fixed bug: they were "invalid []".
TEST_F(Losses, LabelsThatAreNotThereAreCalledSo) {
  losses::SparseSoftmaxCrossEntropy(Tensor(), predictions_);
  ExpectError(graph_, {"labels are not a tensor", "the dataset of input_fn returns none"});
}

TEST_F(Losses, LabelsThatAreNotThereAreCalledSoByLossesOfOneShapeToo) {
  losses::MeanSquaredError(Tensor(), predictions_);
  ExpectError(graph_,
              {"labels are not a tensor", "check that the dataset of input_fn returns labels"});
}

TEST_F(Losses, ClassesWithAScoreOfEachClassAreToldWhatToTake) {
  losses::SoftmaxCrossEntropy(Constant({1, 0}), predictions_);
  ExpectError(graph_, {"labels are i32 [2], predictions f32 [2,3]", "OneHot(labels, C)"});
}

TEST_F(Losses, FloatingClassNumbersAreRefused) {
  losses::SparseSoftmaxCrossEntropy(Constant({1.f, 0.f}), predictions_);
  ExpectError(graph_, {"f32 [2]", "f32 [2,3]", "i32 or i64"});
}

TEST_F(Losses, ScalarLogitsAreRefused) {
  losses::SoftmaxCrossEntropy(Constant(1.f), Constant(2.f));
  ExpectError(graph_, {"softmax_cross_entropy_loss", "rank 0"});
}

TEST_F(Losses, WeightsThatDoNotBroadcastAreRefused) {
  losses::MeanSquaredError(labels_, predictions_, {.weights = Constant({3, 1}, {1.f, 1.f, 1.f})});
  ExpectError(graph_, {"f32 [3,1]", "f32 [2,3]"});
}

}  // namespace
}  // namespace estimator
