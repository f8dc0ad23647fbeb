// Clipping against TF 2.15 tf.clip_by_norm and tf.clip_by_global_norm.
#include "estimator/nn/train/clip.h"

#include <cmath>
#include <limits>
#include <string>

#include "estimator/graph/gradients.h"
#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/nn/initializers.h"
#include "estimator/nn/testing/step.h"
#include "estimator/nn/train/clipping_optimizer.h"
#include "estimator/nn/train/momentum.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/testing/eval.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using testing::Eval;
using testing::ExpectNear;

using Clip = GraphTest;

TEST_F(Clip, TheGlobalNormIsSharedOut) {
  const ClippedByGlobalNorm clipped =
      ClipByGlobalNorm({Constant({3.f, 4.f}), Tensor(), Constant({12.f})}, 6.5);
  ExpectNear(*Eval(clipped.global_norm), {13});
  ExpectNear(*Eval(clipped.tensors[0]), {1.5, 2});
  EXPECT_FALSE(clipped.tensors[1].valid());
  ExpectNear(*Eval(clipped.tensors[2]), {6});
}

TEST_F(Clip, SmallGradientsStayAsTheyAre) {
  ExpectNear(*Eval(ClipByGlobalNorm({Constant({3.f, 4.f})}, 100).tensors[0]), {3, 4});
}

TEST_F(Clip, AnInfiniteNormGivesNan) {
  const Tensor x = Constant({std::numeric_limits<float>::infinity(), 1.f});
  EXPECT_TRUE(std::isnan(Eval(ClipByGlobalNorm({x}, 1).tensors[0])->AsDouble(1)));
}

// Fixed bug: the gradients were turned around.
TEST_F(Clip, ANegativeNormIsAnError) {
  ClipByGlobalNorm({Constant({3.f, 4.f})}, -1);
  EXPECT_THAT(std::string(graph_.status().message()),
              ::testing::HasSubstr("ClipByGlobalNorm: clip_norm is -1, but must be 0 or more"));
}

// A norm of 13 is clipped to 6.5: the step is half of the gradient.
TEST_F(Clip, AnOptimizerClipsWhatAnotherApplies) {
  testing::Stepper stepper(graph_);
  const Variable a = GetVariable("a", {2}, {.initializer = initializers::Zeros()});
  const Variable b = GetVariable("b", {}, {.initializer = initializers::Zeros()});
  const Tensor loss = ReduceSum(a * Constant({3.f, 4.f})) + b * 12.f;
  const Operation step = train::ClipByGlobalNorm(train::Momentum(1.0, 0.5), 6.5).Minimize(loss);
  stepper.Run(step, {}, 2);
  ExpectNear(stepper.Value("a"), {-1.5 * 2.5, -2 * 2.5}, 1e-5);
  ExpectNear(stepper.Value("b/Momentum"), {9}, 1e-5);
}

TEST_F(Clip, ClipByNormOfAllOrOfRows) {
  ExpectNear(*Eval(ClipByNorm(Constant({3.f, 4.f}), 2)), {1.2, 1.6});
  ExpectNear(*Eval(ClipByNorm(Constant({2, 2}, {3.f, 4.f, .3f, .4f}), 2, 1)), {1.2, 1.6, 0.3, 0.4});
}

TEST_F(Clip, TheGradientOfClipByNormIsFiniteAtZero) {
  const Tensor x = Placeholder(DType::kFloat32, {2});
  const Tensor gradient = Gradients(std::vector<Tensor>{ClipByNorm(x, 2)}, {x})[0];
  ExpectNear(*Eval(gradient, {{x, Array::Of<float>({2}, {0, 0})}}), {1, 1});
}

}  // namespace
}  // namespace estimator
