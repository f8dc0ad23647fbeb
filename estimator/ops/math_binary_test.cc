#include "estimator/ops/math_binary.h"

#include <cmath>
#include <limits>
#include <vector>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/gradients.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/testing/eval.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using testing::CheckGradients;
using testing::Doubles;
using ::testing::ElementsAre;
using testing::ErrorOf;
using testing::Eval;
using ::testing::HasSubstr;
using testing::Scrambled;
using Inputs = std::vector<Tensor>;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::vector<double> Ints(Tensor (*fn)(const Operand&, const Operand&, StringArg),
                         std::initializer_list<int> x, std::initializer_list<int> y) {
  Graph graph;
  const GraphScope scope(graph);
  return Doubles(fn(Constant(x), Constant(y), "op"));
}
std::vector<double> Floats(Tensor (*fn)(const Operand&, const Operand&, StringArg),
                           std::initializer_list<float> x, std::initializer_list<float> y) {
  Graph graph;
  const GraphScope scope(graph);
  return Doubles(fn(Constant(x), Constant(y), "op"));
}

using ArithmeticTest = GraphTest;
using AddNTest = GraphTest;
using ClipByValueTest = GraphTest;

TEST_F(ArithmeticTest, ComputesElementByElement) {
  EXPECT_THAT(Floats(Add, {1, 2}, {10, 20}), ElementsAre(11, 22));
  EXPECT_THAT(Floats(Subtract, {1, 2}, {10, 20}), ElementsAre(-9, -18));
  EXPECT_THAT(Floats(Multiply, {3, 2}, {10, 20}), ElementsAre(30, 40));
  EXPECT_THAT(Floats(Divide, {3, 1}, {2, 4}), ElementsAre(1.5, 0.25));
  EXPECT_THAT(Floats(SquaredDifference, {3, 1}, {1, 4}), ElementsAre(4, 9));
  EXPECT_THAT(Floats(Maximum, {3, 1}, {2, 4}), ElementsAre(3, 4));
  EXPECT_THAT(Floats(Minimum, {3, 1}, {2, 4}), ElementsAre(2, 1));
  EXPECT_THAT(Floats(Pow, {3, 4}, {2, 0.5}), ElementsAre(9, 2));
  EXPECT_THAT(Floats(DivideNoNan, {3, 4}, {0, 2}), ElementsAre(0, 2));
  EXPECT_FLOAT_EQ(Floats(Atan2, {1}, {-1})[0], 2.3561945f);
}

TEST_F(ArithmeticTest, MaximumAndMinimumKeepNaN) {
  const float nan = static_cast<float>(kNan);
  for (const auto fn : {Maximum, Minimum}) {
    EXPECT_TRUE(std::isnan(Floats(fn, {nan, 1}, {1, 1})[0]));
    EXPECT_TRUE(std::isnan(Floats(fn, {1, 1}, {nan, 1})[0]));
  }
}

TEST_F(ArithmeticTest, DividesIntegersAsPythonAndAsC) {
  EXPECT_THAT(Ints(FloorDiv, {7, -7, 7, -7}, {2, 2, -2, -2}), ElementsAre(3, -4, -4, 3));
  EXPECT_THAT(Ints(FloorMod, {7, -7, 7, -7}, {3, 3, -3, -3}), ElementsAre(1, 2, -2, -1));
  EXPECT_THAT(Ints(TruncateDiv, {7, -7, 7, -7}, {2, 2, -2, -2}), ElementsAre(3, -3, -3, 3));
  EXPECT_THAT(Ints(Divide, {7, 1}, {2, 4}), ElementsAre(3.5, 0.25));
  EXPECT_THAT(Floats(FloorDiv, {7, -7}, {2, 2}), ElementsAre(3, -4));
  EXPECT_THAT(Floats(FloorMod, {-7, 7.5}, {3, -2}), ElementsAre(2, -0.5));
  EXPECT_THAT(Ints(Pow, {2, -3}, {10, 3}), ElementsAre(1024, -27));
}

TEST_F(ArithmeticTest, IntegersWrapAround) {
  const int most = std::numeric_limits<int>::max(), least = std::numeric_limits<int>::min();
  EXPECT_THAT(Ints(Add, {most}, {1}), ElementsAre(least));
  EXPECT_THAT(Ints(TruncateDiv, {least}, {-1}), ElementsAre(least));
}

TEST_F(ArithmeticTest, DividingAnIntegerByZeroIsAnErrorNotACrash) {
  const absl::StatusOr<Array> result = Eval(FloorDiv(Constant({1, 2}), Constant({1, 0})));
  EXPECT_THAT(result, ErrorHas("element 1 of the divisor"));
  EXPECT_THAT(Eval(Pow(Constant(2), Constant(-1))), ErrorHas("-1"));
}

TEST_F(ArithmeticTest, BroadcastsAsNumPy) {
  const Tensor sum = Constant({2, 1}, {1.0f, 2.0f}) + Constant({10.0f, 20.0f, 30.0f});
  EXPECT_EQ(sum.shape(), (Shape{2, 3}));
  EXPECT_THAT(Doubles(sum), ElementsAre(11, 21, 31, 12, 22, 32));
  EXPECT_EQ((Constant(1.0f) + Zeros({0, 2})).shape(), (Shape{0, 2}));
}

TEST_F(ArithmeticTest, NumbersTakeTheTensorsDType) {
  const Tensor x = Constant({Bfloat16(1.5f), Bfloat16(2.0f)});
  EXPECT_EQ((x * 0.5).dtype(), DType::kBfloat16);
  EXPECT_THAT(Doubles(1 - x * 2), ElementsAre(-2, -3));
  Tensor total = x;
  total += 1;
  total /= x;
  EXPECT_THAT(Doubles(total), ElementsAre(1.6640625, 1.5));  // 5/3 rounded to bf16
  EXPECT_THAT(ErrorOf([] { Constant({1, 2}) * 0.5; }), HasSubstr("not an integer"));
}

TEST_F(ArithmeticTest, RefusesOtherDTypesAndShapes) {
  EXPECT_THAT(ErrorOf([] { Constant(1.0f) + Constant(1); }), HasSubstr("float32 and int32"));
  EXPECT_THAT(ErrorOf([] { Zeros({2, 3}) + Zeros({2}); }), HasSubstr("[2,3]"));
  EXPECT_THAT(ErrorOf([] { Constant(true) + Constant(true); }), HasSubstr("bool"));
  EXPECT_THAT(ErrorOf([] { Atan2(Constant(1), Constant(1)); }), HasSubstr("floating"));
}

TEST_F(ArithmeticTest, GradientsMatchFiniteDifferences) {
  const Array x = Scrambled({2, 3}, 0.5, 2), y = Scrambled({3}, 2.5, 4),
              column = Scrambled({2, 1}, -2, -1);
  using Fn = Tensor (*)(const Operand&, const Operand&, StringArg);
  for (const Fn fn :
       std::initializer_list<Fn>{Add, Subtract, Multiply, Divide, TruncateDiv, Maximum, Minimum,
                                 Pow, SquaredDifference, Atan2, FloorMod, DivideNoNan}) {
    const auto build = [fn](const Inputs& in) { return fn(in[0], in[1], ""); };
    EXPECT_EQ(CheckGradients(build, {x, y}).ToString(), "OK");
    EXPECT_EQ(CheckGradients(build, {y, x}).ToString(), "OK");
    if (fn != static_cast<Fn>(Pow)) {
      EXPECT_EQ(CheckGradients(build, {column, x}).ToString(), "OK");
    }
  }
}

TEST_F(ArithmeticTest, GradientOfEqualElementsGoesToTheFirst) {
  const Array one = Array::Scalar(1.0);
  // max(x, x) has derivative 1, not 2 or 0.
  EXPECT_EQ(
      CheckGradients([](const Inputs& in) { return Maximum(in[0], in[0]); }, {one}).ToString(),
      "OK");
}

TEST_F(ArithmeticTest, AConstantHasAGradientWhereItIsAskedFor) {
  const Tensor x = Constant(3.0), y = Constant(5.0);
  EXPECT_THAT(Doubles(Gradients({x * y}, {x})[0]), ElementsAre(5));
  // What nobody asks for is not built: no product for y's gradient.
  const Tensor z = x * y;
  const size_t before = graph_.nodes().size();
  Gradients({z}, {x});
  size_t num_products = 0;
  for (size_t i = before; i < graph_.nodes().size(); ++i)
    num_products += graph_.nodes()[i]->op() == "Mul";
  EXPECT_EQ(num_products, 1u);
}

TEST_F(AddNTest, SumsAndSpreadsItsGradient) {
  EXPECT_THAT(Doubles(AddN({Constant({1, 2}), Constant({3, 4}), Constant({5, 6})})),
              ElementsAre(9, 12));
  EXPECT_EQ(CheckGradients(
                [](const Inputs& in) {
                  return AddN({in[0], in[1], in[0]});
                },
                {Scrambled({2}, 0, 1), Scrambled({2}, 1, 2)})
                .ToString(),
            "OK");
  EXPECT_THAT(ErrorOf([] { AddN({Zeros({2}), Zeros({3})}); }), HasSubstr("f32 [3]"));
}

TEST_F(ClipByValueTest, ClipsAndCutsTheGradient) {
  EXPECT_THAT(Doubles(ClipByValue(Constant({-5.0f, 0.5f, 5.0f}), -1, 1)), ElementsAre(-1, 0.5, 1));
  EXPECT_EQ(CheckGradients([](const Inputs& in) { return ClipByValue(in[0], -0.9, 0.9); },
                           {Scrambled({7}, -2, 2)})
                .ToString(),
            "OK");
}

}  // namespace
}  // namespace estimator
