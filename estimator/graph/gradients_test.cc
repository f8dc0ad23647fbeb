#include "estimator/graph/gradients.h"

#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/constant_value.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/testing/graph_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using ::testing::HasSubstr;

class GradientsTest : public GraphTest {
 protected:
  Tensor Const(float value) {
    return graph_.AddOp("Const", {}, {{"value", Array::Scalar(value)}, {"dtype", DType::kFloat32}});
  }
  Tensor Mul(const Tensor& a, const Tensor& b) { return graph_.AddOp("Mul", {a, b}); }
  double Value(const Tensor& tensor) { return ConstantValue(tensor)->AsDouble(); }
};

TEST_F(GradientsTest, SumOverAllPaths) {
  const Tensor x = Const(3);
  const Tensor y = Mul(Mul(x, x), x);
  const std::vector<Tensor> grads = Gradients(std::vector<Tensor>{y}, {x});
  EST_ASSERT_OK(graph_.status());
  EXPECT_EQ(Value(grads[0]), 27);
}

TEST_F(GradientsTest, OfAnInnerAndAnOuterTensorTogether) {
  const Tensor x = Const(3), inner = Mul(x, x), y = Mul(inner, inner);
  const std::vector<Tensor> grads = Gradients(std::vector<Tensor>{y}, {x, inner});
  EXPECT_EQ(Value(grads[0]), 4 * 27);
  EXPECT_EQ(Value(grads[1]), 18);
}

TEST_F(GradientsTest, GradYsScaleWhatFlowsIn) {
  const Tensor x = Const(3);
  EXPECT_EQ(Value(Gradients({Mul(x, x)}, {x}, {Const(10)})[0]), 60);
}

TEST_F(GradientsTest, AreInvalidWhereNothingDepends) {
  const Tensor x = Const(3), other = Const(1);
  const Tensor cut = graph_.AddOp("Cut", {x});
  const std::vector<Tensor> grads = Gradients(std::vector<Tensor>{Mul(cut, cut)}, {x, other});
  EXPECT_FALSE(grads[0].valid());
  EXPECT_FALSE(grads[1].valid());
  EST_EXPECT_OK(graph_.status());
}

TEST_F(GradientsTest, AnOpWithoutGradientIsNamed) {
  const Tensor x = Const(3);
  Gradients(std::vector<Tensor>{Mul(graph_.AddOp("Opaque", {x}), x)}, {x});
  EXPECT_THAT(graph_.status(), StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("Opaque")));
}

}  // namespace
}  // namespace estimator
