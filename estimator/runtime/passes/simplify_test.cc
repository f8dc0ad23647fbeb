#include "estimator/runtime/passes/simplify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "estimator/runtime/passes/testing/pass_module.h"

namespace estimator::ir {
namespace {

Array Ints(std::initializer_list<int32_t> values) {
  return Array::Of<int32_t>({static_cast<int64_t>(values.size())}, values);
}

class SimplifyTest : public ::testing::Test {
 protected:
  // What is left of `value`.
  Value Simplified(Value value, bool single_replica = false) {
    b_.Fetch(value);
    Simplify(b_.module, single_replica);
    return b_.module.fetches[0];
  }
  // Whether the only fetch is the first feed itself.
  bool IsFeed(Value value) { return b_.node(value).kind == Node::Kind::kFeed; }

  ModuleBuilder b_;
};

TEST_F(SimplifyTest, NodesThatPassTheirInputOnVanish) {
  Value x = b_.Feed({2, 3});
  for (const char* op : {"Identity", "StopGradient", "PreventGradient", "AddN", "Cast"})
    x = b_.Op(op, {x}, {2, 3});
  EXPECT_TRUE(IsFeed(Simplified(x)));
}

TEST_F(SimplifyTest, EachOutputOfAnIdentityNIsItsInput) {
  const Value x = b_.Feed({2, 3}), y = b_.Feed({4});
  const Value both = b_.Op("IdentityN", {x, y}, {2, 3});
  b_.node(both).outputs.push_back(b_.module.spec(y));
  b_.Fetch(b_.Op("Exp", {Value{both.node, 1}}, {4}));
  b_.Fetch(both);
  Simplify(b_.module, false);
  EXPECT_EQ(Count(b_.module, "IdentityN"), 0);
  EXPECT_EQ(b_.node(b_.node(b_.module.fetches[0]).inputs[0]).index, 1);
  EXPECT_EQ(b_.node(b_.module.fetches[1]).index, 0);
}

TEST_F(SimplifyTest, ReshapesBecomeOneOrNone) {
  const Value x = b_.Feed({2, 3});
  const Value flat = b_.Op("Reshape", {x, b_.Constant(Ints({6}))}, {6});
  const Value wide = b_.Op("ExpandDims", {flat, b_.Constant(Ints({0}))}, {1, 6});
  b_.Fetch(b_.Op("Reshape", {wide, b_.Constant(Ints({2, 3}))}, {2, 3}));
  const Value back = b_.Op("Squeeze", {wide}, {6});
  b_.Fetch(back);
  Simplify(b_.module, false);
  EXPECT_TRUE(IsFeed(b_.module.fetches[0]));
  EXPECT_EQ(Count(b_.module, "Reshape"), 1);
  EXPECT_TRUE(IsFeed(b_.node(b_.module.fetches[1]).inputs[0]));
  EXPECT_EQ(b_.module.spec(b_.module.fetches[1]).shape, (Shape{6}));
}

TEST_F(SimplifyTest, NeutralElementsVanish) {
  Value x = b_.Feed({2, 3});
  x = b_.Op("Mul", {x, b_.Scalar(1)}, {2, 3});
  x = b_.Op("Mul", {b_.Scalar(1), x}, {2, 3});
  x = b_.Op("RealDiv", {x, b_.Scalar(1)}, {2, 3});
  x = b_.Op("AddV2", {x, b_.Constant(Array(DType::kFloat32, {3}))}, {2, 3});
  x = b_.Op("Sub", {x, b_.Scalar(0)}, {2, 3});
  EXPECT_TRUE(IsFeed(Simplified(x)));
}

TEST_F(SimplifyTest, WhatIsNotNeutralStays) {
  const Value x = b_.Feed({3});
  b_.Fetch(b_.Op("Sub", {b_.Scalar(0), x}, {3}));      // -x
  b_.Fetch(b_.Op("RealDiv", {b_.Scalar(1), x}, {3}));  // 1 / x
  b_.Fetch(
      b_.Op("AddV2", {x, b_.Constant(Array(DType::kFloat32, {2, 3}))}, {2, 3}));  // broadcasts x
  b_.Fetch(b_.Op("Mul", {x, b_.Scalar(2)}, {3}));
  Simplify(b_.module, false);
  for (const Value& fetch : b_.module.fetches) EXPECT_FALSE(IsFeed(fetch));
}

TEST_F(SimplifyTest, ScalarFactorsBecomeOne) {
  const Value x = b_.Feed({3});
  Value y = b_.Op("Mul", {x, b_.Scalar(0.5f)}, {3});
  y = b_.Op("Mul", {b_.Scalar(4), y}, {3});
  y = b_.Op("Mul", {y, b_.Scalar(3)}, {3});
  const Value result = Simplified(y);
  EXPECT_EQ(Count(b_.module, "Mul"), 1);
  EXPECT_EQ(b_.module.constant(b_.node(result).inputs[1])->scalar<float>(), 6);
}

TEST_F(SimplifyTest, FactorsWhoseProductOverflowsOrVanishesStay) {
  const Value x = b_.Feed({3});
  Value y = b_.Op("Mul", {x, b_.Scalar(1e30f)}, {3});
  y = b_.Op("Mul", {y, b_.Scalar(1e30f)}, {3});
  b_.Fetch(y);
  Value z = b_.Op("Mul", {x, b_.Scalar(1e-30f)}, {3});
  z = b_.Op("Mul", {z, b_.Scalar(1e-30f)}, {3});
  Simplified(z);
  EXPECT_EQ(Count(b_.module, "Mul"), 4);
}

TEST_F(SimplifyTest, AProductThatOthersReadStays) {
  const Value x = b_.Feed({3});
  const Value half = b_.Op("Mul", {x, b_.Scalar(0.5f)}, {3});
  b_.Fetch(half);
  b_.Fetch(b_.Op("Mul", {half, b_.Scalar(4)}, {3}));
  Simplify(b_.module, false);
  EXPECT_EQ(b_.node(b_.module.fetches[1]).inputs[0], b_.module.fetches[0]);
}

struct PowCase {
  float exponent;
  std::vector<std::string> ops;  // sorted
};

class SimplifyPowTest : public SimplifyTest, public ::testing::WithParamInterface<PowCase> {};

TEST_P(SimplifyPowTest, AConstantExponentBecomesProductsAndRoots) {
  const Value x = b_.Feed({3});
  Simplified(b_.Op("Pow", {x, b_.Scalar(GetParam().exponent)}, {3}));
  std::vector<std::string> ops;
  for (const Node& node : b_.module.nodes) {
    if (node.kind == Node::Kind::kOp) ops.push_back(node.op);
  }
  std::sort(ops.begin(), ops.end());
  EXPECT_EQ(ops, GetParam().ops);
}

INSTANTIATE_TEST_SUITE_P(
    Exponents, SimplifyPowTest,
    ::testing::Values(PowCase{0, {"BroadcastTo"}}, PowCase{1, {}}, PowCase{2, {"Square"}},
                      PowCase{3, {"Mul", "Square"}}, PowCase{4, {"Square", "Square"}},
                      PowCase{-1, {"Reciprocal"}}, PowCase{-2, {"Reciprocal", "Square"}},
                      PowCase{0.5f, {"Sqrt"}}, PowCase{1.5f, {"Mul", "Sqrt"}},
                      PowCase{-0.5f, {"Rsqrt"}}, PowCase{-1.5f, {"RealDiv", "Rsqrt"}},
                      PowCase{2.5f, {"Pow"}}, PowCase{7, {"Pow"}}));

TEST_F(SimplifyTest, APowerWhoseExponentIsNotOneNumberStays) {
  const Value x = b_.Feed({2});
  b_.Fetch(b_.Op("Pow", {x, b_.Constant(Array::Of<float>({2}, {2, 3}))}, {2}));
  b_.Fetch(b_.Op("Pow", {x, b_.Feed({2})}, {2}));
  // The exponent broadcasts the base.
  b_.Fetch(b_.Op("Pow", {x, b_.Constant(Array::Of<float>({2, 1}, {2, 2}))}, {2, 2}));
  Simplify(b_.module, false);
  EXPECT_EQ(Count(b_.module, "Pow"), 3);
}

TEST_F(SimplifyTest, InverseTransposesCancel) {
  const Value x = b_.Feed({2, 3, 4});
  const Value first = b_.Op("Transpose", {x, b_.Constant(Ints({2, 0, 1}))}, {4, 2, 3});
  b_.Fetch(b_.Op("Transpose", {first, b_.Constant(Ints({1, 2, 0}))}, {2, 3, 4}));
  b_.Fetch(
      b_.Op("Transpose", {first, b_.Constant(Ints({2, 0, 1}))}, {3, 4, 2}));  // not its inverse
  Simplify(b_.module, false);
  EXPECT_TRUE(IsFeed(b_.module.fetches[0]));
  EXPECT_EQ(Count(b_.module, "Transpose"), 2);
}

TEST_F(SimplifyTest, TransposesOfAxesOfSizeOneAreReshapes) {
  const Value x = b_.Feed({1, 3, 4});
  const Value result = Simplified(b_.Op("Transpose", {x, b_.Constant(Ints({1, 0, 2}))}, {3, 1, 4}));
  EXPECT_EQ(b_.node(result).op, "Reshape");
}

TEST_F(SimplifyTest, ReductionsOfOneElementAreReshapes) {
  const Value x = b_.Feed({3, 1});
  const Value result = Simplified(b_.Op("Mean", {x, b_.Constant(Ints({1}))}, {3}));
  EXPECT_EQ(b_.node(result).op, "Reshape");
}

TEST_F(SimplifyTest, TheGradientOfReluReadsItsOutput) {
  const Value x = b_.Feed({3}), dy = b_.Feed({3});
  b_.Fetch(b_.Op("ReluGrad", {dy, x}, {3}));
  b_.Fetch(b_.Op("Relu", {x}, {3}));
  Simplify(b_.module, false);
  EXPECT_EQ(Only(b_.module, "ReluGrad").inputs[1], b_.module.fetches[1]);
}

TEST_F(SimplifyTest, TheGradientsOfRelu6AndLeakyReluReadTheirOutputs) {
  for (const char* op : {"Relu6", "LeakyRelu"}) {
    b_ = {};
    const Attrs alpha = {{"alpha", 0.25f}};
    const Value x = b_.Feed({3}), dy = b_.Feed({3});
    b_.Fetch(b_.Op(std::string(op) + "Grad", {dy, x}, {3}, alpha));
    b_.Fetch(b_.Op(op, {x}, {3}, alpha));
    Simplify(b_.module, false);
    EXPECT_EQ(Only(b_.module, std::string(op) + "Grad").inputs[1], b_.module.fetches[1]);
  }
}

// With a negative alpha, the result is positive where x is negative.
TEST_F(SimplifyTest, OtherGradientsStillReadTheInput) {
  const Value x = b_.Feed({3}), dy = b_.Feed({3});
  b_.Fetch(b_.Op("LeakyReluGrad", {dy, x}, {3}, {{"alpha", -0.25f}}));
  b_.Fetch(b_.Op("LeakyRelu", {x}, {3}, {{"alpha", -0.25f}}));
  b_.Fetch(b_.Op("SoftplusGrad", {dy, x}, {3}));
  b_.Fetch(b_.Op("Softplus", {x}, {3}));
  b_.Fetch(b_.Op("ReluGrad", {dy, x}, {3}));
  b_.Fetch(b_.Op("Relu6", {x}, {3}));
  Simplify(b_.module, false);
  for (const char* op : {"LeakyReluGrad", "SoftplusGrad", "ReluGrad"})
    EXPECT_TRUE(IsFeed(Only(b_.module, op).inputs[1])) << op;
}

TEST_F(SimplifyTest, ASumOverOneReplicaIsItsInput) {
  const Value x = b_.Feed({3});
  EXPECT_TRUE(IsFeed(Simplified(b_.Op("CrossReplicaSum", {x}, {3}), /*single_replica=*/true)));
}

TEST_F(SimplifyTest, ASumOverReplicasStays) {
  const Value x = b_.Feed({3});
  EXPECT_FALSE(IsFeed(Simplified(b_.Op("CrossReplicaSum", {x}, {3}))));
}

}  // namespace
}  // namespace estimator::ir
