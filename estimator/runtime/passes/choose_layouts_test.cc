#include "estimator/runtime/passes/choose_layouts.h"

#include <gtest/gtest.h>

#include "estimator/base/cpu/cpu_isa.h"
#include "estimator/kernels/bfloat16/tiles.h"
#include "estimator/kernels/layout.h"
#include "estimator/runtime/passes/testing/pass_module.h"

namespace estimator::ir {
namespace {

// oneDNN chooses blocks of 16 with AVX-512 only.
bool CpuHasBlocks() { return MayUse(CpuIsa::kAvx512); }

class ChooseLayoutsTest : public ::testing::Test {
 protected:
  // Without kernels of our own, which may know only NHWC.
  ChooseLayoutsTest() { b_.module.conv_algorithm = ConvAlgorithm::kDirect; }
  Value Feed(const Shape& shape) {
    feeds_.push_back(Numbers(shape, 1 + static_cast<int>(feeds_.size())));
    return b_.Feed(shape);
  }
  Value Conv(Value x, const Shape& filter) {
    Shape shape = b_.module.spec(x).shape;
    shape.set_dim(3, filter[3]);
    return b_.Op("Conv2D", {x, Feed(filter)}, shape, ConvAttrs());
  }
  Value Relu(Value x) { return b_.Op("Relu", {x}, b_.module.spec(x).shape); }
  // The gradient of a filter, which no block of 16 fits: it makes the program one that trains.
  void Train() {
    Array sizes(DType::kInt32, {4});
    for (int i = 0; i < 4; ++i) sizes.data<int32_t>()[i] = i < 2 ? 1 : 5;
    b_.Fetch(b_.Op("Conv2DBackpropFilter",
                   {Feed({1, 4, 4, 5}), b_.Constant(sizes), Feed({1, 4, 4, 5})}, {1, 1, 5, 5},
                   ConvAttrs()));
  }
  void Apply() {
    Module before = b_.module;
    ChooseLayouts(b_.module, KernelTier::kNative);
    EXPECT_EQ(DifferenceOf(before, b_.module, feeds_), "");
  }

  ModuleBuilder b_;
  std::vector<Array> feeds_;
};

TEST_F(ChooseLayoutsTest, BetweenConvolutionsThereIsNoReorder) {
  if (!CpuHasBlocks()) GTEST_SKIP() << "this CPU has no AVX-512";
  Train();
  const Value x = Feed({2, 6, 6, 16});
  b_.Fetch(Relu(Conv(Relu(Conv(x, {3, 3, 16, 32})), {3, 3, 32, 16})));
  Apply();
  EXPECT_EQ(Count(b_.module, "Conv2D"), 2);
  for (const Node& node : b_.module.nodes) {
    if (node.op == "Conv2D") {
      EXPECT_TRUE(IsBlocked(node.attrs)) << ToString(b_.module);
    }
  }
  EXPECT_EQ(Count(b_.module, kReorderOp), 2) << ToString(b_.module);  // the feed and the fetch
  EXPECT_EQ(b_.module.spec(b_.module.fetches[1]).shape, (Shape{2, 6, 6, 16}));
}

TEST_F(ChooseLayoutsTest, EqualReordersAreMadeOnce) {
  if (!CpuHasBlocks()) GTEST_SKIP() << "this CPU has no AVX-512";
  Train();
  const Value x = Feed({2, 6, 6, 16});
  const Value a = Conv(x, {3, 3, 16, 16}), b = Conv(x, {1, 1, 16, 16});
  const Value sum = b_.Op("AddV2", {a, b}, {2, 6, 6, 16});
  b_.Fetch(sum);
  b_.Fetch(b_.Op("Reshape", {sum}, {2, 576}));
  Apply();
  EXPECT_EQ(Count(b_.module, kReorderOp), 2) << ToString(b_.module);
}

TEST_F(ChooseLayoutsTest, AGreyImageCostsNoReorder) {
  if (!CpuHasBlocks()) GTEST_SKIP() << "this CPU has no AVX-512";
  Train();
  b_.Fetch(Conv(Feed({2, 6, 6, 1}), {3, 3, 1, 16}));
  Apply();
  EXPECT_TRUE(IsBlocked(Only(b_.module, "Conv2D").attrs));
  EXPECT_EQ(Count(b_.module, kReorderOp), 1) << ToString(b_.module);  // the fetch
}

TEST_F(ChooseLayoutsTest, ChannelsThatFillNoBlockStayPlain) {
  Train();
  b_.Fetch(Relu(Conv(Feed({2, 6, 6, 5}), {3, 3, 5, 7})));
  Apply();
  EXPECT_FALSE(IsBlocked(Only(b_.module, "Conv2D").attrs));
  EXPECT_EQ(Count(b_.module, kReorderOp), 0);
}

TEST_F(ChooseLayoutsTest, AShortcutIsBroughtIntoBlocks) {
  if (!CpuHasBlocks()) GTEST_SKIP() << "this CPU has no AVX-512";
  Train();
  const Value y = Conv(Feed({2, 6, 6, 16}), {3, 3, 16, 16});
  b_.Fetch(Relu(b_.Op("AddV2", {y, Feed({2, 6, 6, 16})}, {2, 6, 6, 16})));
  Apply();
  EXPECT_EQ(Only(b_.module, "Relu").outputs[0].shape.rank(), 5);
  EXPECT_EQ(Count(b_.module, kReorderOp), 3) << ToString(b_.module);
}

// A row that is added to every pixel is not of the images' shape.
TEST_F(ChooseLayoutsTest, WhatIsBroadcastIsLeftAlone) {
  Train();
  const Value y = Conv(Feed({2, 6, 6, 16}), {3, 3, 16, 16});
  b_.Fetch(b_.Op("AddV2", {y, Feed({16})}, {2, 6, 6, 16}));
  Apply();
  EXPECT_EQ(Only(b_.module, "AddV2").outputs[0].shape.rank(), 4);
}

TEST_F(ChooseLayoutsTest, KernelsForNhwcOnlyKeepTheOthersInNhwc) {
  if (!CpuHasBlocks()) GTEST_SKIP() << "this CPU has no AVX-512";
  Train();
  b_.module.conv_algorithm = ConvAlgorithm::kAuto;
  const Value x = Conv(Feed({16, 6, 6, 16}), {1, 1, 16, 32});
  b_.Fetch(Conv(Conv(x, {1, 1, 32, 16}), {1, 1, 16, 5}));
  Apply();
  EXPECT_EQ(Count(b_.module, kReorderOp), bfloat16::HasAmx() ? 0 : 2) << ToString(b_.module);
}

// Blocks before a convolution of our own whose channels fill no block.
TEST_F(ChooseLayoutsTest, WinogradOfOtherChannelsReadsNhwc) {
  if (!CpuHasBlocks()) GTEST_SKIP() << "this CPU has no AVX-512";
  Train();
  b_.module.conv_algorithm = ConvAlgorithm::kWinograd;
  const Value x = Conv(Feed({16, 6, 6, 16}), {1, 1, 16, 32});
  b_.Fetch(Conv(x, {3, 3, 32, 40}));
  Apply();
  EXPECT_EQ(Count(b_.module, kReorderOp), 2) << ToString(b_.module);
  EXPECT_EQ(b_.module.spec(b_.module.fetches.back()).shape, (Shape{16, 6, 6, 40}));
  EXPECT_EQ(b_.module.node(b_.module.fetches.back()).op, "Conv2D");
}

TEST_F(ChooseLayoutsTest, ForwardPassesAloneStayPlain) {
  b_.Fetch(Conv(Feed({2, 6, 6, 16}), {3, 3, 16, 16}));
  Apply();
  EXPECT_FALSE(IsBlocked(Only(b_.module, "Conv2D").attrs));
}

TEST_F(ChooseLayoutsTest, ReferenceProgramsKeepTheirLayout) {
  Train();
  b_.Fetch(Conv(Feed({2, 6, 6, 16}), {3, 3, 16, 16}));
  ChooseLayouts(b_.module, KernelTier::kFused);
  EXPECT_FALSE(IsBlocked(Only(b_.module, "Conv2D").attrs));
}

}  // namespace
}  // namespace estimator::ir
