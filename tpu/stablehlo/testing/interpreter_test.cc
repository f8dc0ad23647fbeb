// The interpreter itself: numbers by hand, and modules that are refused.
#include "tpu/stablehlo/testing/interpreter.h"

#include <functional>

#include "absl/strings/str_replace.h"
#include "estimator/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tpu/stablehlo/writer.h"

namespace estimator::tpu::stablehlo::testing {
namespace {

using ::testing::ElementsAre;

// The text of a module that returns what `body` writes.
std::string Text(const std::vector<Type>& arguments,
                 const std::function<Values(Writer&, const Values&)>& body) {
  std::vector<Type> results;
  for (int pass = 0;; ++pass) {  // the first one finds the types of the results
    Writer w;
    const Values values = body(
        w, w.BeginFunction("main", arguments, std::vector<std::string>(arguments.size()), results));
    w.EndFunction(values);
    if (pass == 1) return w.Module("m", "");
    for (const Value& value : values) results.push_back(value.type);
  }
}
Array Floats(const Shape& shape, std::initializer_list<float> values) {
  return Array::Of<float>(shape, values);
}

TEST(Interpreter, ConvolvesByHand) {
  const Type x(DType::kFloat32, {1, 2, 3, 1}), filter(DType::kFloat32, {1, 2, 1, 1});
  const std::string text = Text({x, filter}, [](Writer& w, const Values& in) {
    return Values{
        w.Op("convolution", in, {DType::kFloat32, {1, 2, 2, 1}},
             "batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, "
             "f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, lhs_dilation "
             "= array<i64: 1, 1>, padding = dense<[[0, 0], [0, 0]]> : tensor<2x2xi64>, "
             "rhs_dilation = array<i64: 1, 1>, window_strides = array<i64: 1, 1>")};
  });
  const auto results =
      Interpret(text, {{Floats({1, 2, 3, 1}, {1, 2, 3, 4, 5, 6}), Floats({1, 2, 1, 1}, {10, 1})}});
  EST_ASSERT_OK(results);
  EXPECT_THAT((*results)[0][0].values<float>(), ElementsAre(12, 23, 45, 56));
}

TEST(Interpreter, LoopsUntilTheConditionFails) {
  const Type scalar(DType::kInt32, Shape{});
  const std::string text = Text({scalar}, [&](Writer& w, const Values& in) {
    return w.While(
        {w.FillInt(scalar, 0), w.FillInt(scalar, 1)},
        [&](const Values& s) { return w.Compare("LT", s[0], in[0]); },
        [&](const Values& s) {
          return Values{w.Add(s[0], w.FillInt(scalar, 1)), w.Mul(s[1], w.FillInt(scalar, 3))};
        });
  });
  const auto results = Interpret(text, {{Array::Scalar<int32_t>(4)}});
  EST_ASSERT_OK(results);
  EXPECT_EQ((*results)[0][1].scalar<int32_t>(), 81);
}

TEST(Interpreter, RunsTheBranchOfEachReplica) {
  const Type scalar(DType::kInt32, Shape{});
  const std::string text = Text({scalar}, [&](Writer& w, const Values& in) {
    const auto branch = [&w, &in](int64_t add) {
      return Region{{}, [&w, &in, add](const Values&) {
                      return Values{w.Add(in[0], w.FillInt(in[0].type, add))};
                    }};
    };
    const Value is_small = w.Compare("LT", in[0], w.FillInt(scalar, 1));
    return Values{w.Ops("case", {in[0]}, {scalar}, "", {branch(10), branch(20), branch(30)})[0],
                  w.Ops("if", {is_small}, {scalar}, "", {branch(100), branch(200)})[0]};
  });
  const auto results = Interpret(text, {{Array::Scalar<int32_t>(0)},
                                        {Array::Scalar<int32_t>(1)},
                                        {Array::Scalar<int32_t>(7)},
                                        {Array::Scalar<int32_t>(-1)}});
  EST_ASSERT_OK(results);
  std::vector<int32_t> of_case, of_if;
  for (const std::vector<Array>& of_replica : *results) {
    of_case.push_back(of_replica[0].scalar<int32_t>());
    of_if.push_back(of_replica[1].scalar<int32_t>());
  }
  EXPECT_THAT(of_case, ElementsAre(10, 21, 37, 29));  // the last branch for other indices
  EXPECT_THAT(of_if, ElementsAre(100, 201, 207, 99));
}

TEST(Interpreter, ReducesAndPadsWithNegativeEdges) {
  const std::string text = Text({{DType::kFloat32, {2, 3}}}, [](Writer& w, const Values& in) {
    const Value zero = w.Scalar(DType::kFloat32, 9);
    return Values{w.Reduce("add", in[0], {1}), w.Pad(in[0], zero, {0, -1}, {0, 0}, {1, 0})};
  });
  const auto results = Interpret(text, {{Floats({2, 3}, {1, 2, 3, 4, 5, 6})}});
  EST_ASSERT_OK(results);
  EXPECT_THAT((*results)[0][0].values<float>(), ElementsAre(6, 15));
  EXPECT_THAT((*results)[0][1].values<float>(), ElementsAre(2, 3, 9, 9, 5, 6));
}

TEST(Interpreter, RefusesWhatIsNoValidModule) {
  const std::vector<std::vector<Array>> x = {{Floats({2}, {1, 2})}};
  const std::string text = Text({{DType::kFloat32, {2}}}, [](Writer& w, const Values& in) {
    return Values{w.Add(in[0], w.Scalar(DType::kFloat32, 1))};
  });
  EST_EXPECT_OK(Interpret(text, x));
  const auto changed = [&](const char* from, const char* to) {
    return Interpret(absl::StrReplaceAll(text, {{from, to}}), x).status();
  };
  EXPECT_THAT(changed("stablehlo.add", "stablehlo.addd"), ErrorHas("the interpreter has no addd"));
  EXPECT_THAT(changed("(%arg0, ", "(%arg1, "), ErrorHas("%arg1 has no value here"));
  EXPECT_THAT(changed("array<i64>", "array<i64: 0>"), ErrorHas("needs an axis for each"));
  EXPECT_THAT(changed("-> tensor<2xf32>\n", "-> tensor<3xf32>\n"),
              ErrorHas("and it is tensor<3xf32>"));
  EXPECT_THAT(Interpret(text, {{Floats({3}, {1, 2, 3})}}).status(), ErrorHas("is written as"));
  EXPECT_THAT(Interpret("module @m {}", x).status(), ErrorHas("no function @main"));
}

}  // namespace
}  // namespace estimator::tpu::stablehlo::testing
