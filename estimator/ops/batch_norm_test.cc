#include "estimator/ops/batch_norm.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "estimator/graph/gradients.h"
#include "estimator/graph/graph.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/testdata/neural_ops/goldens.h"
#include "estimator/ops/testdata/neural_ops/pattern.h"
#include "estimator/ops/testing/eval.h"

namespace estimator {
namespace {

using goldens::ExpectGolden;
using goldens::Pattern;
using testing::CheckGradients;
using testing::Eval;
using testing::Scrambled;

class BatchNormTest : public ::testing::Test {
 protected:
  Tensor X() { return Constant(Pattern({2, 2, 2, 3}, 1)); }
  Tensor scale_value() { return Constant({1.f, 2.f, 0.5f}); }
  Tensor offset_value() { return Constant({0.5f, 0.f, -1.f}); }
  Tensor mean_value() { return Constant({0.25f, 0.f, -0.5f}); }
  Tensor variance_value() { return Constant({1.f, 2.f, 0.25f}); }

  Graph graph_;
  GraphScope scope_{graph_};
};

TEST_F(BatchNormTest, TrainingEqualsTensorFlows) {
  const Tensor x = X(), scale = scale_value(), offset = offset_value();
  const FusedBatchNormOutputs out = FusedBatchNorm(x, scale, offset);
  ExpectGolden(out.y, goldens::kBatchNormTrainingY);
  ExpectGolden(out.batch_mean, goldens::kBatchNormTrainingMean);
  ExpectGolden(out.batch_variance, goldens::kBatchNormTrainingVariance);
  const std::vector<Tensor> d =
      Gradients({out.y}, {x, scale, offset}, {Constant(Pattern({2, 2, 2, 3}, 3))});
  ExpectGolden(d[0], goldens::kBatchNormTrainingDx);
  ExpectGolden(d[1], goldens::kBatchNormTrainingDscale);
  ExpectGolden(d[2], goldens::kBatchNormTrainingDoffset);
}

TEST_F(BatchNormTest, InferenceEqualsTensorFlows) {
  const Tensor x = X(), scale = scale_value(), offset = offset_value();
  const FusedBatchNormOutputs out =
      FusedBatchNorm(x, scale, offset, {.is_training = false}, mean_value(), variance_value());
  ExpectGolden(out.y, goldens::kBatchNormInferenceY);
  ExpectGolden(out.batch_mean, goldens::kBatchNormInferenceMean);
  ExpectGolden(out.batch_variance, goldens::kBatchNormInferenceVariance);
  const std::vector<Tensor> d =
      Gradients({out.y}, {x, scale, offset}, {Constant(Pattern({2, 2, 2, 3}, 3))});
  ExpectGolden(d[0], goldens::kBatchNormInferenceDx);
  ExpectGolden(d[1], goldens::kBatchNormInferenceDscale);
  ExpectGolden(d[2], goldens::kBatchNormInferenceDoffset);
}

TEST_F(BatchNormTest, AFactorMixesTheGivenMomentsWithTheBatchs) {
  const FusedBatchNormOutputs out =
      FusedBatchNorm(X(), scale_value(), offset_value(), {.exponential_avg_factor = 0.25f},
                     mean_value(), variance_value());
  ExpectGolden(out.batch_mean, goldens::kBatchNormMovingMean);
  ExpectGolden(out.batch_variance, goldens::kBatchNormMovingVariance);
  ExpectGolden(out.y, goldens::kBatchNormTrainingY);
}

TEST_F(BatchNormTest, GradientMatchesFiniteDifferences) {
  const Array x = Scrambled({2, 3, 2}, -1, 1), scale = Scrambled({2}, 0.5, 2),
              offset = Scrambled({2}, -1, 1);
  for (const bool training : {true, false}) {
    const auto fn = [&](const std::vector<Tensor>& in) {
      return FusedBatchNorm(in[0], in[1], in[2], {.is_training = training}, Constant({0.25, -0.5}),
                            Constant({1.5, 0.75}))
          .y;
    };
    EXPECT_EQ(CheckGradients(fn, {x, scale, offset}), absl::OkStatus()) << training;
  }
}

TEST_F(BatchNormTest, ComposedFormFollowsGivenMomentsWithGradientsToAll) {
  const auto fn = [](const std::vector<Tensor>& in) {
    return BatchNormalization(in[0], in[1], in[2], in[3], in[4], 1e-3f);
  };
  EXPECT_EQ(
      CheckGradients(fn, {Scrambled({3, 2}, -1, 1), Scrambled({2}, -1, 1), Scrambled({2}, 1, 2),
                          Scrambled({2}, -1, 1), Scrambled({2}, 0.5, 2)}),
      absl::OkStatus());
  const Tensor composed =
      BatchNormalization(X(), mean_value(), variance_value(), offset_value(), scale_value(), 1e-3f);
  ExpectGolden(composed, goldens::kBatchNormInferenceY);
}

TEST_F(BatchNormTest, LayerNormEqualsTensorFlows) {
  ExpectGolden(LayerNorm(Constant(Pattern({4, 3}, 1)), scale_value(), offset_value(), 1e-3f),
               goldens::kLayerNorm);
  const auto fn = [](const std::vector<Tensor>& in) { return LayerNorm(in[0], in[1], in[2]); };
  EXPECT_EQ(
      CheckGradients(fn, {Scrambled({2, 4}, -1, 1), Scrambled({4}, 0.5, 2), Scrambled({4}, -1, 1)},
                     1e-5),
      absl::OkStatus());
}

TEST_F(BatchNormTest, L2NormalizeEqualsTensorFlows) {
  ExpectGolden(L2Normalize(Constant(Pattern({4, 3}, 1)), -1), goldens::kL2Normalize);
  const auto fn = [](const std::vector<Tensor>& in) { return L2Normalize(in[0], {0, 1}); };
  EXPECT_EQ(CheckGradients(fn, {Scrambled({2, 3}, -1, 1)}), absl::OkStatus());
}

TEST_F(BatchNormTest, Bfloat16InputsHaveFloat32Parameters) {
  const Tensor x = Constant(Pattern({2, 2, 2, 3}, 1).Cast(DType::kBfloat16));
  const FusedBatchNormOutputs out = FusedBatchNorm(x, scale_value(), offset_value());
  EXPECT_EQ(out.y.dtype(), DType::kBfloat16);
  EXPECT_EQ(out.batch_mean.dtype(), DType::kFloat32);
  ExpectGolden(out.batch_mean, goldens::kBatchNormTrainingMean);
}

TEST_F(BatchNormTest, AScaleOfAnotherSizeIsAnError) {
  EXPECT_FALSE(FusedBatchNorm(X(), Ones({4}), Ones({3}), {}, {}, {}, "bn").y.valid());
  EXPECT_EQ(graph_.status().message(),
            "bn: scale is [4], but x has 3 channels (f32 [2,2,2,3] and f32 [4] and f32 [3] and f32 "
            "[0] and f32 [0])");
}

TEST_F(BatchNormTest, InferenceWithoutMomentsIsAnError) {
  EXPECT_FALSE(FusedBatchNorm(X(), Ones({3}), Ones({3}), {.is_training = false}).y.valid());
  EXPECT_EQ(graph_.status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace estimator
