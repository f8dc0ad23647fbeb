#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/kernels/testing/reference_as_native.h"
#include "estimator/runtime/passes/choose_layouts.h"
#include "estimator/runtime/passes/fusion/fuse.h"
#include "estimator/runtime/passes/select_kernels.h"
#include "estimator/runtime/passes/testing/pass_module.h"

namespace estimator::ir {
namespace {

// The ops whose native kernels refuse everything.
std::set<std::string>& Refused() {
  static auto& refused = *new std::set<std::string>();
  return refused;
}
bool IsAccepted(const KernelSpec& spec) { return Refused().count(spec.op) == 0; }

[[maybe_unused]] const bool registered[] = {
    RegisterReferenceAsNative("_FusedConv2DMaxPool", IsAccepted),
    RegisterReferenceAsNative("_Conv2DMaxPoolBackpropFilter", IsAccepted),
    RegisterReferenceAsNative("_Conv2DMaxPoolBackpropInput", IsAccepted),
    RegisterReferenceAsNative("_FusedConv2DBackpropFilter", IsAccepted)};

class FuseConvBlockTest : public ::testing::Test {
 protected:
  ~FuseConvBlockTest() override { Refused().clear(); }

  Value Feed(const Shape& shape) {
    feeds_.push_back(Numbers(shape, 1 + static_cast<int>(feeds_.size())));
    return b_.Feed(shape);
  }
  Value Sizes(const Shape& shape) {
    Array sizes(DType::kInt32, {shape.rank()});
    for (int i = 0; i < shape.rank(); ++i)
      sizes.data<int32_t>()[i] = static_cast<int32_t>(shape[i]);
    return b_.Constant(sizes);
  }
  const Shape& ShapeOf(Value value) { return b_.module.spec(value).shape; }

  struct Block {
    Value x, filter, bias, relu = {}, pool = {};
  };
  Block Forward(Value x, int64_t channels) {
    Shape shape = ShapeOf(x);
    const Shape filter{3, 3, shape[3], channels};
    shape.set_dim(3, channels);
    Block block{.x = x, .filter = Feed(filter), .bias = Feed({channels})};
    const Value conv = b_.Op("Conv2D", {x, block.filter}, shape, ConvAttrs());
    block.relu = b_.Op("Relu", {b_.Op("BiasAdd", {conv, block.bias}, shape)}, shape);
    shape.set_dim(1, shape[1] / 2);
    shape.set_dim(2, shape[2] / 2);
    block.pool = b_.Op("MaxPool", {block.relu}, shape, PoolWindow());
    return block;
  }
  // The gradient of the convolution's output.
  Value GradientBeforePool(const Block& block, Value dy) {
    const Shape& full = ShapeOf(block.relu);
    const Value grad = b_.Op("MaxPoolGrad", {block.relu, block.pool, dy}, full, PoolWindow());
    return b_.Op("ReluGrad", {grad, block.relu}, full);
  }
  void FetchFilterGradient(const Block& block, Value g) {
    const Shape& filter = ShapeOf(block.filter);
    b_.Fetch(b_.Op("Conv2DBackpropFilter", {block.x, Sizes(filter), g}, filter, ConvAttrs()));
  }
  void FetchBiasGradient(const Block& block, Value g) {
    b_.Fetch(b_.Op("BiasAddGrad", {g}, ShapeOf(block.bias)));
  }
  Value InputGradient(const Block& block, Value g) {
    const Shape& x = ShapeOf(block.x);
    return b_.Op("Conv2DBackpropInput", {Sizes(x), block.filter, g}, x, ConvAttrs());
  }
  // A block and all of its gradients.
  void TrainOneBlock() {
    const Block block = Forward(Feed({2, 6, 6, 3}), 8);
    b_.Fetch(block.pool);
    const Value g = GradientBeforePool(block, Feed({2, 3, 3, 8}));
    FetchFilterGradient(block, g);
    FetchBiasGradient(block, g);
    b_.Fetch(InputGradient(block, g));
  }

  void Apply(KernelTier fastest = KernelTier::kNative) {
    Module before = b_.module;
    Compact(before);
    FuseBias(b_.module, fastest);
    FusePool(b_.module, fastest);
    FuseConvBlock(b_.module, fastest);
    EXPECT_EQ(DifferenceOf(before, b_.module, feeds_), "");
  }
  void ExpectNoBlock() {
    for (const char* op :
         {"_FusedConv2DMaxPool", "_Conv2DMaxPoolBackpropFilter", "_Conv2DMaxPoolBackpropInput"}) {
      EXPECT_EQ(Count(b_.module, op), 0) << ToString(b_.module);
    }
  }

  ModuleBuilder b_;
  std::vector<Array> feeds_;
};

TEST_F(FuseConvBlockTest, ABlockIsFusedForwardAndBackward) {
  TrainOneBlock();
  Apply();
  EST_ASSERT_OK(SelectKernels(b_.module, KernelTier::kNative));
  const Node& forward = Only(b_.module, "_FusedConv2DMaxPool");
  EXPECT_EQ(forward.attrs.ints("pool_ksize"), (std::vector<int64_t>{1, 2, 2, 1}));
  EXPECT_EQ(forward.attrs.s("pool_padding"), "SAME");
  EXPECT_EQ(forward.kernel->tier(), KernelTier::kNative);
  const Node& to_filter = Only(b_.module, "_Conv2DMaxPoolBackpropFilter");
  EXPECT_EQ(to_filter.outputs[1].shape, Shape{8});
  EXPECT_EQ(Count(b_.module, "_Conv2DMaxPoolBackpropInput"), 1);
  // 4 feeds and 3 ops; nothing reads the constants of the sizes any more.
  EXPECT_EQ(b_.module.nodes.size(), 7u) << ToString(b_.module);
  for (const Node& node : b_.module.nodes) {
    for (const TensorSpec& output : node.outputs)
      EXPECT_NE(output.shape, (Shape{2, 6, 6, 8})) << "the activation is written: " << node.op;
  }
}

TEST_F(FuseConvBlockTest, BlocksOneAfterTheOtherAreAllFused) {
  const Block first = Forward(Feed({2, 8, 8, 3}), 4);
  const Block second = Forward(first.pool, 6);
  b_.Fetch(second.pool);
  const Value g2 = GradientBeforePool(second, Feed({2, 2, 2, 6}));
  const Value g1 = GradientBeforePool(first, InputGradient(second, g2));
  for (const auto& [block, g] : {std::pair(second, g2), std::pair(first, g1)}) {
    FetchBiasGradient(block, g);
    FetchFilterGradient(block, g);
  }
  Apply();
  EXPECT_EQ(Count(b_.module, "_FusedConv2DMaxPool"), 2) << ToString(b_.module);
  EXPECT_EQ(Count(b_.module, "_Conv2DMaxPoolBackpropFilter"), 2);
  EXPECT_EQ(Count(b_.module, "_Conv2DMaxPoolBackpropInput"), 1);
  EXPECT_EQ(Count(b_.module, "_MaxPoolGradWithArgmax") + Count(b_.module, "BiasAddGrad"), 0);
}

TEST_F(FuseConvBlockTest, WithoutAGradientTheForwardPassIsFused) {
  b_.Fetch(Forward(Feed({2, 6, 6, 3}), 8).pool);
  Apply();
  EXPECT_EQ(Only(b_.module, "_FusedConv2DMaxPool").outputs.size(), 2u);
  EXPECT_EQ(Count(b_.module, "MaxPool"), 0);
}

TEST_F(FuseConvBlockTest, AConstantShortcutIsAdded) {
  const Shape shape{2, 6, 6, 8};
  const Value conv = b_.Op("Conv2D", {Feed({2, 6, 6, 3}), Feed({3, 3, 3, 8})}, shape, ConvAttrs());
  const Value biased = b_.Op("BiasAdd", {conv, Feed({8})}, shape);
  const Value sum = b_.Op("AddV2", {biased, b_.Constant(Numbers(shape))}, shape);
  b_.Fetch(b_.Op("MaxPool", {b_.Op("Relu", {sum}, shape)}, {2, 3, 3, 8}, PoolWindow()));
  Apply();
  ExpectNoBlock();
}

TEST_F(FuseConvBlockTest, AFrozenBiasNeedsNoGradient) {
  const Block block = Forward(Feed({2, 6, 6, 3}), 8);
  FetchFilterGradient(block, GradientBeforePool(block, Feed({2, 3, 3, 8})));
  Apply();
  EXPECT_EQ(Count(b_.module, "_Conv2DMaxPoolBackpropFilter"), 1) << ToString(b_.module);
}

TEST_F(FuseConvBlockTest, ABiasGradientAloneHasNoKernel) {
  const Block block = Forward(Feed({2, 6, 6, 3}), 8);
  FetchBiasGradient(block, GradientBeforePool(block, Feed({2, 3, 3, 8})));
  Apply();
  ExpectNoBlock();
}

TEST_F(FuseConvBlockTest, AnActivationThatOthersReadIsKept) {
  const Block block = Forward(Feed({2, 6, 6, 3}), 8);
  b_.Fetch(block.pool);
  b_.Fetch(block.relu);
  Apply();
  ExpectNoBlock();
}

TEST_F(FuseConvBlockTest, AGradientThatOthersReadIsKept) {
  const Block block = Forward(Feed({2, 6, 6, 3}), 8);
  const Value g = GradientBeforePool(block, Feed({2, 3, 3, 8}));
  FetchFilterGradient(block, g);
  b_.Fetch(g);
  Apply();
  ExpectNoBlock();
}

TEST_F(FuseConvBlockTest, AllOrNothingIsFused) {
  for (const char* refused :
       {"_FusedConv2DMaxPool", "_Conv2DMaxPoolBackpropFilter", "_Conv2DMaxPoolBackpropInput"}) {
    b_ = {};
    feeds_.clear();
    Refused() = {refused};
    TrainOneBlock();
    Apply();
    ExpectNoBlock();
    EXPECT_EQ(Count(b_.module, "_MaxPoolWithArgmax"), 1) << refused;
  }
}

// The reference tier has kernels of all the ops, but they are only definitions.
TEST_F(FuseConvBlockTest, ReferenceKernelsAreNotAGain) {
  TrainOneBlock();
  Apply(KernelTier::kOneDnn);
  ExpectNoBlock();
}

TEST_F(FuseConvBlockTest, FilterAndBiasGradientsWithoutABlockAreOne) {
  const Value x = Feed({2, 6, 6, 16}), dy = Feed({2, 6, 6, 32});
  b_.Fetch(b_.Op("BiasAddGrad", {dy}, {32}));
  b_.Fetch(
      b_.Op("Conv2DBackpropFilter", {x, Sizes({3, 3, 16, 32}), dy}, {3, 3, 16, 32}, ConvAttrs()));
  Apply();
  EXPECT_EQ(Only(b_.module, "_FusedConv2DBackpropFilter").outputs.size(), 2u);
  EXPECT_EQ(Count(b_.module, "BiasAddGrad") + Count(b_.module, "Conv2DBackpropFilter"), 0);
}

// x depends on the gradient of the bias: one node would wait for itself.
TEST_F(FuseConvBlockTest, AnImageThatDependsOnTheBiasGradientIsNotJoinedWithIt) {
  const Value dy = Feed({2, 6, 6, 16});
  const Value dbias = b_.Op("BiasAddGrad", {dy}, {16});
  const Value x = b_.Op("BiasAdd", {Feed({2, 6, 6, 16}), dbias}, {2, 6, 6, 16});
  b_.Fetch(
      b_.Op("Conv2DBackpropFilter", {x, Sizes({3, 3, 16, 16}), dy}, {3, 3, 16, 16}, ConvAttrs()));
  Apply();
  EXPECT_EQ(Count(b_.module, "_FusedConv2DBackpropFilter"), 0);
}

// Our own kernels take NHWC, so no image is reordered for them.
TEST_F(FuseConvBlockTest, NativeBlocksStayInNhwc) {
  const Block block = Forward(Feed({2, 6, 6, 16}), 16);
  b_.Fetch(block.pool);
  const Value g = GradientBeforePool(block, Feed({2, 3, 3, 16}));
  FetchFilterGradient(block, g);
  FetchBiasGradient(block, g);
  Apply();
  const Module before = b_.module;
  ChooseLayouts(b_.module, KernelTier::kNative);
  EXPECT_EQ(DifferenceOf(before, b_.module, feeds_), "");
  EXPECT_EQ(Count(b_.module, "_Reorder"), 0) << ToString(b_.module);
}

}  // namespace
}  // namespace estimator::ir
