#include "estimator/runtime/passes/pattern.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "estimator/runtime/passes/rewriter.h"
#include "estimator/runtime/passes/testing/pass_module.h"

namespace estimator::ir {
namespace {

const Shape kShape = {4, 8};

class PatternTest : public testing::Test {
 protected:
  Value Op(const std::string& op, std::vector<Value> inputs) {
    return b_.Op(op, std::move(inputs), kShape);
  }
  bool Matches(const Pattern& pattern, Value value) {
    match_ = {};
    return MatchPattern(b_.module, pattern, value, &match_);
  }

  ModuleBuilder b_;
  Match match_;
  const Value x_ = b_.Feed(kShape), y_ = b_.Feed(kShape);
};

TEST_F(PatternTest, ProductsAndSumsMatchInEitherOrder) {
  const Pattern pattern = OpOf("Mul", {OpOf("Neg", {Any("a")}), Any("b")});
  const Value negated = Op("Neg", {x_});
  EXPECT_TRUE(Matches(pattern, Op("Mul", {negated, y_})));
  EXPECT_TRUE(Matches(pattern, Op("Mul", {y_, negated})));
  EXPECT_EQ(match_["a"], x_);
  EXPECT_EQ(match_["b"], y_);
  EXPECT_FALSE(Matches(OpOf("Sub", {OpOf("Neg", {Any("a")}), Any("b")}), Op("Sub", {y_, negated})));
}

TEST_F(PatternTest, ANameIsOneValue) {
  const Pattern pattern = OpOf("Sub", {Any("a"), OpOf("Neg", {Any("a")})});
  EXPECT_TRUE(Matches(pattern, Op("Sub", {x_, Op("Neg", {x_})})));
  EXPECT_FALSE(Matches(pattern, Op("Sub", {x_, Op("Neg", {y_})})));
  EXPECT_TRUE(match_.values.empty());
  EXPECT_TRUE(match_.nodes.empty());
}

TEST_F(PatternTest, ViewsOfAValueMatch) {
  const Value negated = Op("Neg", {x_});
  b_.module.nodes.push_back(MakeReshape(negated, {DType::kFloat32, {32}}, "flat"));
  const Value flat{static_cast<int>(b_.module.nodes.size()) - 1, 0};
  const Value root = b_.Op("Sqrt", {flat}, {32});
  EXPECT_TRUE(Matches(OpOf("Sqrt", {OpOf("Neg", {Any("a")}, "n")}), root));
  EXPECT_EQ(match_["n"], negated);
  EXPECT_EQ(match_.nodes, (std::set<int>{negated.node, flat.node, root.node}));
}

TEST_F(PatternTest, OnlyConstantsMayFollowTheOperands) {
  const Value axes = b_.Constant(Array::Of<int32_t>({1}, {1}));
  EXPECT_TRUE(Matches(OpOf("Sum", {Any("a")}), Op("Sum", {x_, axes})));
  EXPECT_FALSE(Matches(OpOf("Sub", {Any("a")}), Op("Sub", {x_, y_})));
}

TEST_F(PatternTest, AScalarIsAConstantOfOneElement) {
  const Pattern pattern = OpOf("Mul", {Any("a"), ScalarOf("c")});
  EXPECT_TRUE(Matches(pattern, Op("Mul", {b_.Scalar(2.5f), x_})));
  EXPECT_EQ(ScalarValue(b_.module, match_["c"]), 2.5);
  EXPECT_FALSE(Matches(pattern, Op("Mul", {x_, y_})));
}

TEST_F(PatternTest, ANumberIsRoundedToItsDtype) {
  const Pattern pattern = OpOf("Mul", {Any("a"), NumberOf(0.044715)});
  EXPECT_TRUE(Matches(pattern, Op("Mul", {b_.Scalar(0.044715f), x_})));
  EXPECT_FALSE(Matches(pattern, Op("Mul", {x_, b_.Scalar(0.04472f)})));
  EXPECT_FALSE(Matches(pattern, Op("Mul", {x_, y_})));
  const auto bfloat16 = [&](float number) {
    return b_.Constant(Array::Scalar(number).Cast(DType::kBfloat16));
  };
  EXPECT_TRUE(Matches(pattern, Op("Mul", {x_, bfloat16(0.044715f)})));
  EXPECT_FALSE(Matches(pattern, Op("Mul", {x_, bfloat16(0.0452f)})));
  const Value two = b_.Constant(Array::Of<float>({2}, {0.044715f, 0.044715f}));
  EXPECT_FALSE(Matches(pattern, Op("Mul", {x_, two})));
}

TEST_F(PatternTest, TheFirstAlternativeThatMatchesIsTaken) {
  const Pattern pattern =
      EitherOf({OpOf("Neg", {OpOf("Sqrt", {Any("a")})}), OpOf("Neg", {Any("b")}), Any("c")});
  EXPECT_TRUE(Matches(pattern, Op("Neg", {x_})));
  EXPECT_EQ(match_.values, (std::map<std::string, Value>{{"b", x_}}));
  EXPECT_FALSE(Matches(EitherOf({OpOf("Neg", {Any("a")}), OpOf("Exp", {Any("a")})}), x_));
}

TEST_F(PatternTest, ReductionsOfTheLastAxisOrOfAllOthers) {
  const auto sum = [&](std::initializer_list<int32_t> axes) {
    const Value x = b_.Feed({2, 3, 4});
    const Array list = Array::Of<int32_t>({static_cast<int64_t>(axes.size())}, axes);
    return b_.Op("Sum", {x, b_.Constant(list)}, {4});
  };
  for (const bool last : {true, false}) {
    EXPECT_EQ(ReducesOnly(b_.module, sum({2}), last), last);
    EXPECT_EQ(ReducesOnly(b_.module, sum({-1}), last), last);
    EXPECT_EQ(ReducesOnly(b_.module, sum({0, 1}), last), !last);
    EXPECT_FALSE(ReducesOnly(b_.module, sum({0}), last));
    EXPECT_FALSE(ReducesOnly(b_.module, sum({1, 2}), last));
  }
}

TEST_F(PatternTest, NodesThatOthersReadAreNotOnlyReadInside) {
  const Value a = Op("Neg", {x_}), b = Op("Sqrt", {a});
  b_.Fetch(b);
  const std::set<int> nodes = {a.node, b.node};
  EXPECT_TRUE(Rewriter(b_.module).OnlyReadInside(nodes, {b}));
  EXPECT_FALSE(Rewriter(b_.module).OnlyReadInside(nodes, {}));
  b_.Fetch(a);
  EXPECT_FALSE(Rewriter(b_.module).OnlyReadInside(nodes, {b}));
}

}  // namespace
}  // namespace estimator::ir
