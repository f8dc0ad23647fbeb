// Losses against Keras: value, weighted value, and gradient of two rows. The numbers are those of
// testdata/keras/generate.py, and the calls those of the table in docs/porting.md.
#include "estimator/nn/losses/keras_losses.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/gradients.h"
#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/nn/losses/losses.h"
#include "estimator/nn/testdata/keras/goldens.h"
#include "estimator/nn/testdata/keras/keras_inputs.h"
#include "estimator/nn/testing/step.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/reduction.h"
#include "estimator/ops/slicing.h"
#include "estimator/ops/testing/eval.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using testing::ExpectError;
using testing::ExpectNear;

class KerasLosses : public GraphTest {
 protected:
  // `loss`: a function of labels, predictions and options that are the first three of its own.
  template <typename Options = losses::Options, typename Fn>
  void Expect(const std::string& name, const Tensor& labels, const Tensor& predictions,
              const Fn& loss, const Options& options = {}) {
    SCOPED_TRACE(name);
    const Tensor value = loss(labels, predictions, options);
    Options weighted = options;
    weighted.weights = Operand(Constant(in_.weights));
    weighted.reduction = Reduction::kSumOverBatchSize;
    const Tensor weighted_value = loss(labels, predictions, weighted);
    const Tensor gradient =
        Slice(Gradients(std::vector<Tensor>{value}, {predictions})[0], {0, 0}, {2, -1});
    EST_ASSERT_OK(graph_.status());
    const auto expect = [&](const Tensor& tensor, const std::string& golden, double tolerance) {
      const absl::StatusOr<Array> actual = testing::Eval(tensor);
      EST_ASSERT_OK(actual);
      ASSERT_TRUE(goldens::kKeras.count(golden) > 0) << golden;
      ExpectNear(*actual, goldens::kKeras.at(golden), tolerance);
    };
    // The losses are sums of 48 f32 numbers, some as large as 100.
    const double size = std::max(1.0, std::abs(goldens::kKeras.at(name)[0]));
    expect(value, name, 2e-6 * size);
    expect(weighted_value, absl::StrCat(name, "_weighted"), 2e-6 * size);
    expect(gradient, absl::StrCat(name, "_gradient"), 2e-6 * size);
  }

  // The columns in reverse order, plus `add`.
  static Array Reversed(const Array& array, float add = 0) {
    Array out = array.Clone();
    const int64_t columns = array.shape().dim(1);
    for (int64_t i = 0; i < array.num_elements(); ++i) {
      out.data<float>()[i] =
          array.data<float>()[i / columns * columns + columns - 1 - i % columns] + add;
    }
    return out;
  }

  const goldens::KerasInputs in_;
  const Tensor binary_ = Constant(in_.binary), one_hot_ = Constant(in_.one_hot),
               classes_ = Constant(in_.classes), scores_ = Constant(in_.scores),
               logits_ = Constant(in_.logits), reversed_ = Constant(Reversed(in_.scores));
};

Tensor Clipped(const Tensor& p) { return ClipByValue(p, 1e-7, 1 - 1e-7); }

TEST_F(KerasLosses, CrossEntropiesOfProbabilitiesAndLogits) {
  Expect<losses::LogLossOptions>(
      "binary_crossentropy", binary_, scores_,
      [](const Tensor& l, const Tensor& p, const losses::LogLossOptions& options) {
        return losses::LogLoss(l, Clipped(p), options);
      });
  Expect<losses::SmoothingOptions>("binary_crossentropy_logits", binary_, logits_,
                                   losses::SigmoidCrossEntropy);
  Expect<losses::SmoothingOptions>(
      "categorical_crossentropy", one_hot_, Constant(Reversed(Reversed(in_.scores), 0.01f)),
      [](const Tensor& l, const Tensor& p, const losses::SmoothingOptions& options) {
        // These scores do not sum to 1. Keras divides them by their sum first.
        const Tensor sum = ReduceSum(p, -1, {.keepdims = true});
        return losses::SoftmaxCrossEntropy(l, Log(Clipped(p / sum)), options);
      });
  Expect<losses::SmoothingOptions>("categorical_crossentropy_logits", one_hot_, logits_,
                                   losses::SoftmaxCrossEntropy, {.label_smoothing = 0.1});
  Expect("sparse_categorical_crossentropy", classes_, scores_,
         [](const Tensor& l, const Tensor& p, const losses::Options& options) {
           return losses::SparseSoftmaxCrossEntropy(l, Log(Clipped(p)), options);
         });
  Expect("sparse_categorical_crossentropy_logits", classes_, logits_,
         losses::SparseSoftmaxCrossEntropy);
}

TEST_F(KerasLosses, FocalLosses) {
  Expect<losses::BinaryFocalOptions>("binary_focal", binary_, scores_,
                                     losses::BinaryFocalCrossentropy);
  Expect<losses::BinaryFocalOptions>("binary_focal_logits", binary_, logits_,
                                     losses::BinaryFocalCrossentropy,
                                     {.apply_class_balancing = true,
                                      .alpha = 0.3,
                                      .gamma = 1.5,
                                      .from_logits = true,
                                      .label_smoothing = 0.1});
  Expect<losses::CategoricalFocalOptions>("categorical_focal", one_hot_, scores_,
                                          losses::CategoricalFocalCrossentropy);
  Expect<losses::CategoricalFocalOptions>(
      "categorical_focal_logits", one_hot_, logits_, losses::CategoricalFocalCrossentropy,
      {.alpha = 0.4, .gamma = 3, .from_logits = true, .label_smoothing = 0.1});
}

TEST_F(KerasLosses, AFocusOfZeroIsTheCrossEntropyWithFiniteGradients) {
  const Tensor p = Constant({1.f, 0.f});
  const Tensor loss = losses::BinaryFocalCrossentropy(Constant({1.f, 0.f}), p, {.gamma = 0});
  const absl::StatusOr<Array> gradient =
      testing::Eval(Gradients(std::vector<Tensor>{loss}, {p})[0]);
  EST_ASSERT_OK(gradient);
  ExpectNear(*gradient, {0, 0});  // both are clipped
}

TEST_F(KerasLosses, Hinges) {
  Expect("hinge", binary_, logits_, losses::HingeLoss);
  Expect("squared_hinge", binary_, logits_, losses::SquaredHinge);
  Expect("categorical_hinge", one_hot_, logits_, losses::CategoricalHinge);
}

TEST_F(KerasLosses, LossesOfRegression) {
  Expect("log_cosh", binary_, logits_, losses::LogCosh);
  Expect<losses::HuberOptions>("huber", binary_, logits_, losses::HuberLoss, {.delta = 0.7});
  Expect("mean_squared_error", binary_, logits_, losses::MeanSquaredError);
  Expect("mean_absolute_error", binary_, logits_, losses::AbsoluteDifference);
  Expect("mean_absolute_percentage_error", Constant(Reversed(in_.scores, 1)), scores_,
         losses::MeanAbsolutePercentageError);
  Expect("mean_squared_logarithmic_error", reversed_, scores_, losses::MeanSquaredLogarithmicError);
}

TEST_F(KerasLosses, LossesOfDistributions) {
  Expect("kl_divergence", reversed_, scores_, losses::KLDivergence);
  Expect("poisson", binary_, scores_, losses::Poisson);
  Expect("cosine_similarity", reversed_, logits_, losses::CosineSimilarity);
}

TEST_F(KerasLosses, DiceLossOfEachExample) {
  Expect<losses::DiceOptions>("dice", binary_, scores_, losses::DiceLoss);
  const absl::StatusOr<Array> empty =
      testing::Eval(losses::DiceLoss(Constant({1, 2}, {0.f, 0.f}), Constant({1, 2}, {0.f, 0.f})));
  EST_ASSERT_OK(empty);
  ExpectNear(*empty, {0});
}

TEST_F(KerasLosses, DiceLossOfOneNumberAnExampleIsRefused) {
  losses::DiceLoss(Constant({1.f, 0.f}), Constant({1.f, 0.f}));
  ExpectError(graph_, {"dice_loss: predictions are f32 [2]", "rank 2 or more"});
}

}  // namespace
}  // namespace estimator
