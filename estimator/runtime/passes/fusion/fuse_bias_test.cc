#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "estimator/kernels/kernel_list.h"
#include "estimator/runtime/passes/fusion/fuse.h"
#include "estimator/runtime/passes/testing/pass_module.h"

namespace estimator::ir {
namespace {

using ::testing::ElementsAre;

const KernelTier kFastest = KernelTier::kNative;

class FuseBiasTest : public ::testing::Test {
 protected:
  // Fuses, and compares the values of fetches and updates with those before.
  void Apply(const std::vector<Array>& feeds) {
    Module before = b_.module;
    Compact(before);
    FuseBias(b_.module, kFastest);
    EXPECT_EQ(DifferenceOf(before, b_.module, feeds), "");
  }

  Value Conv(Value x, Value filter, const Shape& shape) {
    return b_.Op("Conv2D", {x, filter}, shape, ConvAttrs());
  }
  // The product of the feeds 0, [rows, in], and 1, plus the bias in feed 2.
  Value Biased(int64_t rows, int64_t in, int64_t out) {
    const Value x = b_.Feed({rows, in}), w = b_.Feed({in, out}), bias = b_.Feed({out});
    const Value product =
        b_.Op("MatMul", {x, w}, {rows, out}, {{"transpose_a", false}, {"transpose_b", false}});
    return b_.Op("BiasAdd", {product, bias}, {rows, out});
  }

  ModuleBuilder b_;
};

TEST_F(FuseBiasTest, ConvolutionTakesBiasAndRelu) {
  const Value x = b_.Feed({2, 6, 6, 3}), filter = b_.Feed({3, 3, 3, 8}), bias = b_.Feed({8});
  const Value conv = Conv(x, filter, {2, 6, 6, 8});
  b_.Fetch(b_.Op("Relu", {b_.Op("BiasAdd", {conv, bias}, {2, 6, 6, 8})}, {2, 6, 6, 8}));
  Apply({Numbers({2, 6, 6, 3}), Numbers({3, 3, 3, 8}, 2), Numbers({8}, 3)});
  const Node& fused = Only(b_.module, "_FusedConv2D");
  EXPECT_THAT(fused.attrs.get<std::vector<std::string>>("fused_ops"),
              ElementsAre("BiasAdd", "Relu"));
  EXPECT_EQ(fused.attrs.s("padding"), "SAME");
  EXPECT_EQ(b_.module.nodes.size(), 4u);
  EXPECT_EQ(b_.module.num_fused_nodes, 3);
}

TEST_F(FuseBiasTest, ConvolutionTakesTheShortcutBeforeRelu) {
  for (const bool relu : {true, false}) {
    b_ = {};
    const Value x = b_.Feed({2, 6, 6, 3}), filter = b_.Feed({3, 3, 3, 8}), bias = b_.Feed({8});
    const Value side = b_.Feed({2, 6, 6, 8});
    const Value conv = Conv(x, filter, {2, 6, 6, 8});
    const Value sum =
        b_.Op("AddV2", {side, b_.Op("BiasAdd", {conv, bias}, {2, 6, 6, 8})}, {2, 6, 6, 8});
    b_.Fetch(relu ? b_.Op("Relu", {sum}, {2, 6, 6, 8}) : sum);
    Apply({Numbers({2, 6, 6, 3}), Numbers({3, 3, 3, 8}, 2), Numbers({8}, 3),
           Numbers({2, 6, 6, 8}, 4)});
    EXPECT_EQ(Only(b_.module, "_FusedConv2D").inputs.size(), 4u);
    EXPECT_EQ(Count(b_.module, "AddV2") + Count(b_.module, "Relu"), 0);
  }
}

TEST_F(FuseBiasTest, DepthwiseConvolutionTakesBiasShortcutAndActivation) {
  const Shape shape{2, 6, 6, 8};
  for (const bool shortcut : {false, true}) {
    for (const std::string activation : {"", "Relu", "Relu6"}) {
      b_ = {};
      const Value x = b_.Feed(shape), filter = b_.Feed({3, 3, 8, 1}), bias = b_.Feed({8});
      const Value side = b_.Feed(shape);
      const Value conv = b_.Op("DepthwiseConv2dNative", {x, filter}, shape, ConvAttrs());
      Value y = b_.Op("BiasAdd", {conv, bias}, shape);
      if (shortcut) y = b_.Op("AddV2", {y, side}, shape);
      if (!activation.empty()) y = b_.Op(activation, {y}, shape);
      b_.Fetch(y);
      Array large = Numbers({8}, 3);
      for (float& number : large.values<float>()) number *= 10;  // some results are above 6
      Apply({Numbers(shape), Numbers({3, 3, 8, 1}, 2), large, Numbers(shape, 4)});
      EXPECT_EQ(Only(b_.module, "_FusedDepthwiseConv2dNative").inputs.size(), shortcut ? 4u : 3u);
      EXPECT_EQ(b_.module.num_fused_nodes, 2 + (shortcut ? 1 : 0) + (activation.empty() ? 0 : 1));
    }
  }
}

TEST_F(FuseBiasTest, BothBiasesOfASumAreFused) {
  for (const bool relu : {true, false}) {
    b_ = {};
    const Shape shape{2, 6, 6, 8};
    const Value x = b_.Feed({2, 6, 6, 3});
    std::vector<Value> biased;
    for (int i = 0; i < 2; ++i) {
      const Value conv = Conv(x, b_.Feed({3, 3, 3, 8}), shape);
      biased.push_back(b_.Op("BiasAdd", {conv, b_.Feed({8})}, shape));
    }
    const Value sum = b_.Op("AddV2", biased, shape);
    b_.Fetch(relu ? b_.Op("Relu", {sum}, shape) : sum);
    Apply({Numbers({2, 6, 6, 3}), Numbers({3, 3, 3, 8}, 2), Numbers({8}, 3),
           Numbers({3, 3, 3, 8}, 4), Numbers({8}, 5)});
    EXPECT_EQ(Count(b_.module, "_FusedConv2D"), 2) << ToString(b_.module);
    EXPECT_EQ(Count(b_.module, "BiasAdd") + Count(b_.module, "Conv2D"), 0);
    EXPECT_EQ(b_.module.num_fused_nodes, relu ? 6 : 5);
  }
}

TEST_F(FuseBiasTest, MatMulTakesBias) {
  const Value sum = Biased(4, 6, 8);
  b_.Fetch(sum);
  b_.Fetch(b_.Op("Relu", {sum}, {4, 8}));  // the sum itself is fetched: no Relu inside
  Apply({Numbers({4, 6}), Numbers({6, 8}, 2), Numbers({8}, 3)});
  EXPECT_THAT(Only(b_.module, "_FusedMatMul").attrs.get<std::vector<std::string>>("fused_ops"),
              ElementsAre("BiasAdd"));
  EXPECT_EQ(Count(b_.module, "Relu"), 1);
}

TEST_F(FuseBiasTest, MatMulTakesTheShortcut) {
  for (const bool relu : {false, true}) {
    b_ = {};
    const Value biased = Biased(4, 6, 8);
    const Value sum = b_.Op("AddV2", {b_.Feed({4, 8}), biased}, {4, 8});
    b_.Fetch(relu ? b_.Op("Relu", {sum}, {4, 8}) : sum);
    FuseBias(b_.module, KernelTier::kReference);
    EXPECT_EQ(Count(b_.module, "_FusedMatMul"), 0);
    Module before = b_.module;
    FuseBias(b_.module, KernelTier::kOneDnn);
    EXPECT_EQ(
        DifferenceOf(before, b_.module,
                     {Numbers({4, 6}), Numbers({6, 8}, 2), Numbers({8}, 3), Numbers({4, 8}, 4)}),
        "");
    EXPECT_EQ(Only(b_.module, "_FusedMatMul").inputs.size(), 4u);
    EXPECT_EQ(Count(b_.module, "AddV2") + Count(b_.module, "Relu"), 0);
  }
}

// The native kernel for these shapes may have no shortcut. Then the add is not fused.
TEST_F(FuseBiasTest, TheShortcutOfAMatMulCostsNoFasterTier) {
  for (const int64_t rows : {4, 64, 512}) {
    b_ = {};
    const Value biased = Biased(rows, 256, 512), side = b_.Feed({rows, 512});
    b_.Fetch(biased);
    Module without = b_.module;
    b_.module.fetches.clear();
    b_.Fetch(b_.Op("AddV2", {biased, side}, {rows, 512}));
    FuseBias(without, kFastest);
    FuseBias(b_.module, kFastest);
    EXPECT_EQ(KernelOf(b_.module, Only(b_.module, "_FusedMatMul"))->tier(),
              KernelOf(without, Only(without, "_FusedMatMul"))->tier());
  }
}

TEST_F(FuseBiasTest, AMatMulTakesTheActivationsOfItsKernel) {
  for (const int64_t rows : {4, 256}) {  // on some CPUs, the native tier computes 256 rows
    for (const std::string op :
         {"Relu", "Relu6", "LeakyRelu", "Tanh", "Sigmoid", "Elu", "Selu", "Softplus", "Softsign"}) {
      SCOPED_TRACE(::testing::Message() << op << " of " << rows << " rows");
      b_ = {};
      const Value biased = Biased(rows, 64, 1024);
      b_.Fetch(biased);
      Module without = b_.module;
      FuseBias(without, kFastest);
      b_.module.fetches.clear();
      b_.Fetch(b_.Op(op, {biased}, {rows, 1024}, {{"alpha", 0.25f}}));
      Apply({Numbers({rows, 64}), Numbers({64, 1024}, 2), Numbers({1024}, 3)});
      const auto tier = KernelOf(b_.module, Only(b_.module, "_FusedMatMul"))->tier();
      EXPECT_EQ(tier, KernelOf(without, Only(without, "_FusedMatMul"))->tier());
      const auto native = NativeKernelOf(SpecOf(without, Only(without, "_FusedMatMul")));
      const bool exact = op == "Relu" || op == "Relu6";  // all kernels have them
      const bool takes =
          exact || native == NativeKernel::kGemm || (op == "LeakyRelu" && !native.has_value());
      EXPECT_EQ(Count(b_.module, op), takes ? 0 : 1);
    }
  }
}

// With compute_dtype bf16, products get bf16 factors if they would without the activation.
TEST_F(FuseBiasTest, AnActivationKeepsNoProductFromBfloat16) {
  for (const char* op : {"Identity", "Relu", "Relu6", "Tanh"}) {
    b_ = {};
    const Value biased = Biased(256, 64, 1024);
    b_.Fetch(biased);
    Module without = b_.module;
    b_.module.fetches.clear();
    b_.Fetch(b_.Op(op, {biased}, {256, 1024}));
    for (Module* module : {&without, &b_.module})
      Fuse(*module, {.compute_dtype = DType::kBfloat16});
    const auto factor = [](const Module& module) {
      return module.spec(Only(module, "_FusedMatMul").inputs[0]).dtype;
    };
    EXPECT_EQ(factor(b_.module), factor(without)) << op;
  }
}

// A gradient reads what the activation reads.
TEST_F(FuseBiasTest, AnActivationWhoseInputIsReadStaysApart) {
  const Shape shape{256, 1024};
  const Value biased = Biased(256, 64, 1024);
  const Value y = b_.Op("Softplus", {biased}, shape);
  b_.Fetch(b_.Op("SoftplusGrad", {y, biased}, shape));
  Apply({Numbers({256, 64}), Numbers({64, 1024}, 2), Numbers({1024}, 3)});
  EXPECT_EQ(Count(b_.module, "_FusedMatMul"), 1);
  EXPECT_EQ(Count(b_.module, "Softplus"), 1);
}

// On CPUs without AMX, Winograd's algorithm computes the convolution of 32 channels, and oneDNN
// that of 8.
TEST_F(FuseBiasTest, AnActivationOfAConvolutionCostsNoFasterTier) {
  for (const int64_t channels : {8, 32}) {
    for (const char* op : {"Relu", "Relu6", "Tanh"}) {
      b_ = {};
      const Shape image{4, 12, 12, channels}, taps{3, 3, channels, channels};
      const Value x = b_.Feed(image), filter = b_.Feed(taps), bias = b_.Feed({channels});
      const Value biased = b_.Op("BiasAdd", {Conv(x, filter, image), bias}, image);
      b_.Fetch(biased);
      Module without = b_.module;
      FuseBias(without, kFastest);
      b_.module.fetches.clear();
      b_.Fetch(b_.Op(op, {biased}, image));
      FuseBias(b_.module, kFastest);
      const auto tier = KernelOf(b_.module, Only(b_.module, "_FusedConv2D"))->tier();
      EXPECT_EQ(tier, KernelOf(without, Only(without, "_FusedConv2D"))->tier()) << op;
      const bool separate = Count(b_.module, op) == 1;
      const auto native = NativeKernelOf(SpecOf(without, Only(without, "_FusedConv2D")));
      if (std::string(op) == "Relu") {
        EXPECT_FALSE(separate);
      } else if (std::string(op) == "Tanh") {
        EXPECT_TRUE(separate);
      } else {
        EXPECT_EQ(separate, native == NativeKernel::kWinograd);
      }
    }
  }
}

TEST_F(FuseBiasTest, AProductThatOthersReadStaysApart) {
  const Value x = b_.Feed({4, 6}), w = b_.Feed({6, 8}), bias = b_.Feed({8});
  const Value product =
      b_.Op("MatMul", {x, w}, {4, 8}, {{"transpose_a", false}, {"transpose_b", false}});
  b_.Fetch(product);
  b_.Fetch(b_.Op("BiasAdd", {product, bias}, {4, 8}));
  Apply({Numbers({4, 6}), Numbers({6, 8}, 2), Numbers({8}, 3)});
  EXPECT_EQ(Count(b_.module, "_FusedMatMul"), 0);
}

}  // namespace
}  // namespace estimator::ir
