#include "estimator/ops/batch_norm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "estimator/array/compare.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/testing/eval.h"
#include "estimator/ops/testing/pattern.h"

namespace estimator {
namespace {

using testing::CheckGradients;
using testing::Eval;
using testing::Pattern;
using testing::Scrambled;

class BatchNormTest : public GraphTest {
 protected:
  Tensor X() { return Constant(Pattern({2, 2, 2, 3}, 1)); }
  Tensor scale_value() { return Constant({1.f, 2.f, 0.5f}); }
  Tensor offset_value() { return Constant({0.5f, 0.f, -1.f}); }
};

TEST_F(BatchNormTest, GradientMatchesFiniteDifferences) {
  const Array x = Scrambled({2, 3, 2}, -1, 1), scale = Scrambled({2}, 0.5, 2),
              offset = Scrambled({2}, -1, 1);
  for (const bool training : {true, false}) {
    const auto fn = [&](const std::vector<Tensor>& in) {
      return FusedBatchNorm(in[0], in[1], in[2],
                            {.mean = Constant({0.25, -0.5}),
                             .variance = Constant({1.5, 0.75}),
                             .is_training = training})
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
}

TEST_F(BatchNormTest, LayerNormsGradientMatchesFiniteDifferences) {
  const auto fn = [](const std::vector<Tensor>& in) { return LayerNorm(in[0], in[1], in[2]); };
  EXPECT_EQ(
      CheckGradients(fn, {Scrambled({2, 4}, -1, 1), Scrambled({4}, 0.5, 2), Scrambled({4}, -1, 1)},
                     1e-5),
      absl::OkStatus());
}

TEST_F(BatchNormTest, L2NormalizesGradientMatchesFiniteDifferences) {
  const auto fn = [](const std::vector<Tensor>& in) { return L2Normalize(in[0], {0, 1}); };
  EXPECT_EQ(CheckGradients(fn, {Scrambled({2, 3}, -1, 1)}), absl::OkStatus());
}

TEST_F(BatchNormTest, Bfloat16InputsHaveFloat32Parameters) {
  const Tensor x = Constant(Pattern({2, 2, 2, 3}, 1).Cast(DType::kBfloat16));
  const FusedBatchNormOutputs out = FusedBatchNorm(x, scale_value(), offset_value());
  EXPECT_EQ(out.y.dtype(), DType::kBfloat16);
  EXPECT_EQ(out.batch_mean.dtype(), DType::kFloat32);
  const Tensor mean = FusedBatchNorm(X(), scale_value(), offset_value()).batch_mean;
  EXPECT_EQ(Compare(*Eval(out.batch_mean), *Eval(mean), {.relative = 1e-6}).report, "");
}

TEST_F(BatchNormTest, AScaleOfAnotherSizeIsAnError) {
  EXPECT_FALSE(FusedBatchNorm(X(), Ones({4}), Ones({3}), {.name = "bn"}).y.valid());
  EXPECT_THAT(
      graph_.status(),
      ErrorIs(
          "bn: scale is [4], but x has 3 channels (f32 [2,2,2,3] and f32 [4] and f32 [3] and f32 "
          "[0] and f32 [0])"));
}

TEST_F(BatchNormTest, InferenceWithoutMomentsIsAnError) {
  EXPECT_FALSE(FusedBatchNorm(X(), Ones({3}), Ones({3}), {.is_training = false}).y.valid());
  EXPECT_THAT(graph_.status(), StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace estimator
