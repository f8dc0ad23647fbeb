#include "estimator/runtime/passes/fusion/fuse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "estimator/runtime/passes/testing/pass_module.h"

namespace estimator::ir {
namespace {

using ::testing::ElementsAre;

const KernelTier kFastest = KernelTier::kNative;

class FuseTest : public ::testing::Test {
 protected:
  // Applies `pass` and holds the values of fetches and updates against those before.
  void Apply(void (*pass)(Module&, KernelTier), const std::vector<Array>& feeds) {
    Module before = b_.module;
    Compact(before);
    pass(b_.module, kFastest);
    EXPECT_EQ(DifferenceOf(before, b_.module, feeds), "");
  }

  ModuleBuilder b_;
};

TEST_F(FuseTest, ThePoolsGradientReadsItsArgmax) {
  const Value x = b_.Feed({2, 5, 6, 3}), dy = b_.Feed({2, 3, 3, 3});
  const Value y = b_.Op("MaxPool", {x}, {2, 3, 3, 3}, PoolWindow());
  b_.Fetch(y);
  b_.Fetch(b_.Op("MaxPoolGrad", {x, y, dy}, {2, 5, 6, 3}, PoolWindow()));
  Apply(FusePool, {Numbers({2, 5, 6, 3}), Numbers({2, 3, 3, 3}, 2)});
  const Node& backward = Only(b_.module, "_MaxPoolGradWithArgmax");
  EXPECT_EQ(b_.module.node(backward.inputs[0]).op, "_MaxPoolWithArgmax");
  EXPECT_EQ(backward.inputs.size(), 2u);
  EXPECT_EQ(Count(b_.module, "MaxPool") + Count(b_.module, "MaxPoolGrad"), 0);
}

TEST_F(FuseTest, ThePoolsGradientTakesTheReluBeforeIt) {
  const Value z = b_.Feed({2, 6, 6, 3}), dy = b_.Feed({2, 3, 3, 3});
  const Value x = b_.Op("Relu", {z}, {2, 6, 6, 3});
  const Value y = b_.Op("MaxPool", {x}, {2, 3, 3, 3}, PoolWindow());
  const Value dx = b_.Op("MaxPoolGrad", {x, y, dy}, {2, 6, 6, 3}, PoolWindow());
  b_.Fetch(b_.Op("ReluGrad", {dx, x}, {2, 6, 6, 3}));
  b_.Fetch(y);
  Apply(FusePool, {Numbers({2, 6, 6, 3}), Numbers({2, 3, 3, 3}, 2)});
  EXPECT_EQ(Only(b_.module, "_MaxPoolGradWithArgmax").inputs.size(), 3u);
  EXPECT_EQ(Count(b_.module, "ReluGrad"), 0);
}

TEST_F(FuseTest, AnotherPoolsGradientStays) {
  const Value x = b_.Feed({2, 6, 6, 3}), dy = b_.Feed({2, 3, 3, 3});
  const Value y = b_.Op("MaxPool", {x}, {2, 3, 3, 3}, PoolWindow());
  Attrs other = PoolWindow();
  other.Set("padding", std::string("VALID"));
  b_.Fetch(b_.Op("MaxPoolGrad", {x, y, dy}, {2, 6, 6, 3}, other));
  Apply(FusePool, {Numbers({2, 6, 6, 3}), Numbers({2, 3, 3, 3}, 2)});
  EXPECT_EQ(Count(b_.module, "MaxPoolGrad"), 1);
}

TEST_F(FuseTest, ElementWiseChainsBecomeOne) {
  const Shape shape{7, 300};
  const Value x = b_.Feed(shape), y = b_.Feed(shape), rate = b_.Feed({});
  const Value product = b_.Op("Mul", {x, rate}, shape);
  const Value mask = b_.Op("Greater", {product, b_.Scalar(0)}, shape, {}, DType::kBool);
  const Value chosen = b_.Op("SelectV2", {mask, product, y}, shape);
  b_.Fetch(b_.Op("Tanh", {b_.Op("AddV2", {chosen, y}, shape)}, shape));
  Apply(FuseElementwise, {Numbers(shape), Numbers(shape, 2), Array::Scalar(0.5f)});
  const Node& fused = Only(b_.module, "_FusedElementwise");
  EXPECT_THAT(fused.attrs.get<std::vector<std::string>>("ops"),
              ElementsAre("Mul", "Greater", "SelectV2", "AddV2", "Tanh"));
  EXPECT_EQ(fused.outputs.size(), 1u);
  EXPECT_EQ(fused.inputs.size(), 4u);
  EXPECT_THAT(fused.attrs.ints("outputs"), ElementsAre(4 + 4));
}

TEST_F(FuseTest, ChainsBeginWithTheCastOfAnImage) {
  const Shape shape{3, 100};
  const Value image = b_.Feed(shape, DType::kUint8);
  const Value wide = b_.Op("Cast", {image}, shape);
  b_.Fetch(b_.Op("Mul", {wide, b_.Scalar(1.0f / 255)}, shape));
  Array bytes(DType::kUint8, shape);
  for (int64_t i = 0; i < bytes.num_elements(); ++i) bytes.data<uint8_t>()[i] = i % 256;
  Apply(FuseElementwise, {bytes});
  EXPECT_THAT(Only(b_.module, "_FusedElementwise").attrs.get<std::vector<std::string>>("ops"),
              ElementsAre("Cast", "Mul"));
}

TEST_F(FuseTest, ChainsOfActivationsKeepTheAlphaOfEach) {
  const Shape shape{7, 300};
  const Value x = b_.Feed(shape), dy = b_.Feed(shape);
  const Value inner = b_.Op("Elu", {b_.Op("LeakyRelu", {x}, shape, {{"alpha", 0.3f}})}, shape);
  const Value y = b_.Op("LeakyRelu", {inner}, shape, {{"alpha", 0.1f}});
  b_.Fetch(
      b_.Op("EluGrad", {b_.Op("LeakyReluGrad", {dy, y}, shape, {{"alpha", 0.1f}}), inner}, shape));
  Apply(FuseElementwise, {Numbers(shape), Numbers(shape, 2)});
  const Node& fused = Only(b_.module, "_FusedElementwise");
  EXPECT_THAT(fused.attrs.get<std::vector<std::string>>("ops"),
              ElementsAre("LeakyRelu", "Elu", "LeakyRelu", "LeakyReluGrad", "EluGrad"));
  EXPECT_THAT(fused.attrs.get<std::vector<float>>("alphas"), ElementsAre(0.3f, 0, 0.1f, 0.1f, 0));
}

TEST_F(FuseTest, ValuesThatOthersReadAreOutputs) {
  const Value x = b_.Feed({100});
  const Value e = b_.Op("Exp", {x}, {100});
  b_.Fetch(e);
  b_.Fetch(b_.Op("Neg", {e}, {100}));
  Apply(FuseElementwise, {Numbers({100})});
  EXPECT_EQ(Only(b_.module, "_FusedElementwise").outputs.size(), 2u);
}

TEST_F(FuseTest, AChainThatLeavesAndComesBackIsNotJoined) {
  // Exp -> MatMul -> Mul, and Exp -> Mul: one node of Exp and Mul would wait for itself.
  const Value x = b_.Feed({4, 4});
  const Value e = b_.Op("Exp", {x}, {4, 4});
  const Value m = b_.Op("MatMul", {e, e}, {4, 4}, {{"transpose_a", false}, {"transpose_b", false}});
  b_.Fetch(b_.Op("Mul", {e, m}, {4, 4}));
  Apply(FuseElementwise, {Numbers({4, 4})});
  EXPECT_EQ(Count(b_.module, "_FusedElementwise"), 0);
}

TEST_F(FuseTest, TwoChainsThatWouldWaitForEachOtherAreNotBothJoined) {
  // a1 -> s1 -> b2 and b1 -> s2 -> a2, where a1, a2 and b1, b2 each want to be one node.
  const Attrs plain = {{"transpose_a", false}, {"transpose_b", false}};
  const Value x = b_.Feed({4, 4}), y = b_.Feed({4, 4});
  const Value a1 = b_.Op("Exp", {x}, {4, 4}), b1 = b_.Op("Exp", {y}, {4, 4});
  const Value s1 = b_.Op("MatMul", {a1, x}, {4, 4}, plain),
              s2 = b_.Op("MatMul", {b1, y}, {4, 4}, plain);
  b_.Fetch(b_.Op("Mul", {a1, s2}, {4, 4}));
  b_.Fetch(b_.Op("Mul", {b1, s1}, {4, 4}));
  Apply(FuseElementwise, {Numbers({4, 4}), Numbers({4, 4}, 2)});  // Compact checks for cycles
  EXPECT_EQ(Count(b_.module, "_FusedElementwise"), 1);
}

TEST_F(FuseTest, OtherShapesAndTypesStayApart) {
  const Value x = b_.Feed({4, 4}), row = b_.Feed({4});
  const Value e = b_.Op("Exp", {row}, {4});
  b_.Fetch(b_.Op("Mul", {b_.Op("Neg", {x}, {4, 4}), e}, {4, 4}));  // broadcasts a row
  Apply(FuseElementwise, {Numbers({4, 4}), Numbers({4})});
  EXPECT_EQ(Count(b_.module, "_FusedElementwise"), 0);
}

TEST_F(FuseTest, UpdatesReadTheirVariableFirst) {
  // Momentum by hand: the kernel can write both over their variables.
  const Value grad = b_.Feed({50}), w = b_.Variable("w", {50}), m = b_.Variable("m", {50});
  const Value momentum = b_.Op("AddV2", {b_.Op("Mul", {m, b_.Scalar(0.9f)}, {50}), grad}, {50});
  b_.Update("m", momentum);
  b_.Update("w", b_.Op("Sub", {w, b_.Op("Mul", {b_.Scalar(0.1f), momentum}, {50})}, {50}));
  Apply(FuseElementwise, {Numbers({50})});
  const Node& fused = Only(b_.module, "_FusedElementwise");
  ASSERT_EQ(fused.outputs.size(), 2u);
  EXPECT_EQ(b_.module.node(fused.inputs[0]).name, "m");
  EXPECT_EQ(b_.module.node(fused.inputs[1]).name, "w");
  EXPECT_EQ(KernelOf(b_.module, fused)->AliasInput(0), 0);
  EXPECT_EQ(KernelOf(b_.module, fused)->AliasInput(1), 1);
}

TEST_F(FuseTest, LongChainsAreCut) {
  Value x = b_.Feed({100});
  for (int i = 0; i < 100; ++i) x = b_.Op("Neg", {x}, {100});
  b_.Fetch(x);
  Apply(FuseElementwise, {Numbers({100})});
  EXPECT_EQ(Count(b_.module, "Neg"), 0);
  EXPECT_EQ(Count(b_.module, "_FusedElementwise"), 5);
}

// Each merge looked at all nodes, so that networks of many time steps took long to compile.
TEST_F(FuseTest, ManyGroupsTakeTimeInProportionToTheirNumber) {
  const auto seconds = [](int num_groups) {
    ModuleBuilder b;
    Value x = b.Feed({4, 4});
    std::vector<Value> steps;
    for (int i = 0; i < num_groups; ++i) {
      x = b.Op("MatMul", {x, x}, {4, 4});
      x = b.Op("Tanh", {b.Op("Neg", {b.Op("Exp", {x}, {4, 4})}, {4, 4})}, {4, 4});
      steps.push_back(x);
    }
    // As the gradient does: backwards, each step reads what it was forwards.
    for (; !steps.empty(); steps.pop_back())
      x = b.Op("Mul", {b.Op("MatMul", {x, x}, {4, 4}), steps.back()}, {4, 4});
    b.Fetch(x);
    const std::clock_t start = std::clock();  // of this process: other ones do not count
    FuseElementwise(b.module, kFastest);
    EXPECT_EQ(Count(b.module, "_FusedElementwise"), num_groups);
    return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  };
  seconds(1000);
  EXPECT_LT(seconds(16000), 64 * seconds(1000));  // 16 times; 256 times if it is quadratic
}

TEST_F(FuseTest, TheReferenceTierFusesNothing) {
  const Value x = b_.Feed({100});
  b_.Fetch(b_.Op("Neg", {b_.Op("Exp", {x}, {100})}, {100}));
  Fuse(b_.module, {.fastest = KernelTier::kReference});
  EXPECT_EQ(Count(b_.module, "_FusedElementwise"), 0);
}

}  // namespace
}  // namespace estimator::ir
