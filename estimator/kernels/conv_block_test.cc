#include "estimator/kernels/conv_block.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/kernels/kernel.h"
#include "estimator/kernels/layout.h"
#include "estimator/kernels/testing/tiers.h"

namespace estimator {
namespace {

TensorSpec F32(const Shape& shape) { return {DType::kFloat32, shape}; }

struct Case {
  Shape image, filter;
  int64_t stride = 1;
  std::string padding = "SAME";
  int64_t pool = 2, pool_stride = 2;
  std::string pool_padding = "SAME";

  Attrs attrs() const {
    return WithPool(ConvAttrs(stride, padding), pool_padding, pool, pool_stride);
  }
};

std::vector<Case> Cases() {
  return {{{2, 6, 6, 3}, {3, 3, 3, 8}},
          {{2, 7, 5, 1}, {5, 5, 1, 4}},                              // windows cut off at the edge
          {{1, 9, 9, 4}, {3, 3, 4, 6}, 2, "VALID", 3, 1, "VALID"}};  // overlapping windows
}

std::vector<Array> Plain(const KernelSpec& spec, const std::vector<Array>& inputs) {
  auto outputs = RunReferenceKernel(spec, inputs);
  EST_EXPECT_OK(outputs);
  return outputs.ok() ? *outputs : std::vector<Array>();
}

// One image of 2x2 pixels, a filter of one tap: the pool takes the maximum of relu(x * 2 + 1).
TEST(ConvBlock, GivesTheMaximumAndItsTapOrThatReluIsOff) {
  const Case c{.image = {1, 2, 4, 1}, .filter = {1, 1, 1, 1}};
  const Array x = Array::Of<float>({1, 2, 4, 1}, {0, 1, -1, -2, 3, 3, -3, -1});
  const auto out = Plain({.op = "_FusedConv2DMaxPool",
                          .name = "block",
                          .attrs = c.attrs(),
                          .outputs = {F32({1, 1, 2, 1}), {DType::kUint8, {1, 1, 2, 1}}}},
                         {x, Array::Of<float>({1, 1, 1, 1}, {2}), Array::Of<float>({1}, {1})});
  ASSERT_EQ(out.size(), 2u);
  EXPECT_EQ(out[0].data<float>()[0], 7);  // of two equal maxima, taps 2 and 3, the first
  EXPECT_EQ(out[0].data<float>()[1], 0);
  EXPECT_EQ(out[1].data<uint8_t>()[0], 2);
  EXPECT_EQ(out[1].data<uint8_t>()[1], 4);  // all sums are negative or 0: no tap

  const Array dy = Array::Of<float>({1, 1, 2, 1}, {5, 9});
  const auto filter = Plain({.op = "_Conv2DMaxPoolBackpropFilter",
                             .name = "filter",
                             .attrs = c.attrs(),
                             .outputs = {F32({1, 1, 1, 1}), F32({1})}},
                            {x, dy, out[1]});
  ASSERT_EQ(filter.size(), 2u);
  EXPECT_EQ(filter[0].data<float>()[0], 15);  // dy 5 at x 3
  EXPECT_EQ(filter[1].data<float>()[0], 5);
  const auto input = Plain({.op = "_Conv2DMaxPoolBackpropInput",
                            .name = "input",
                            .attrs = c.attrs(),
                            .outputs = {F32(c.image)}},
                           {Array::Of<float>({1, 1, 1, 1}, {2}), dy, out[1]});
  ASSERT_EQ(input.size(), 1u);
  for (int64_t i = 0; i < 8; ++i) EXPECT_EQ(input[0].data<float>()[i], i == 4 ? 10 : 0) << i;
}

// Forward and backward give what the plain ops of the graph give, among them ReluGrad.
TEST(ConvBlock, EqualsThePlainOps) {
  for (const Case& c : Cases()) {
    const auto block = MakeConvBlock(c.attrs(), c.image, c.filter);
    EST_ASSERT_OK(block);
    const TensorSpec full = F32(block->conv.output()), pooled = F32(block->output());
    const Array x = RandomArray(c.image, 1), filter = RandomArray(c.filter, 2),
                bias = RandomArray({c.filter[3]}, 3), dy = RandomArray(block->output(), 4);
    const Attrs pool = PoolAttrs(c.attrs());
    const auto one = [&](const char* op, const Attrs& attrs, const std::vector<Array>& inputs,
                         const TensorSpec& output) {
      return Plain({.op = op, .name = op, .attrs = attrs, .outputs = {output}}, inputs)[0];
    };
    const Array conv = one("Conv2D", c.attrs(), {x, filter}, full);
    const Array relu = one("Relu", {}, {one("BiasAdd", {}, {conv, bias}, full)}, full);
    const Array y = one("MaxPool", pool, {relu}, pooled);
    const Array to_relu = one("MaxPoolGrad", pool, {relu, y, dy}, full);
    const Array g = one("ReluGrad", {}, {to_relu, relu}, full);
    const Array dx = one("Conv2DBackpropInput", c.attrs(), {x, filter, g}, F32(c.image));
    const Array dfilter = one("Conv2DBackpropFilter", c.attrs(), {x, filter, g}, F32(c.filter));
    const Array dbias = one("BiasAddGrad", {}, {g}, F32({c.filter[3]}));

    const auto forward = Plain({.op = "_FusedConv2DMaxPool",
                                .name = "block",
                                .attrs = c.attrs(),
                                .outputs = {pooled, {DType::kUint8, pooled.shape}}},
                               {x, filter, bias});
    EXPECT_TRUE(Compare(forward[0], y).equal);
    const auto by_filter = Plain({.op = "_Conv2DMaxPoolBackpropFilter",
                                  .name = "filter",
                                  .attrs = c.attrs(),
                                  .outputs = {F32(c.filter), F32({c.filter[3]})}},
                                 {x, dy, forward[1]});
    EXPECT_TRUE(Compare(by_filter[0], dfilter).equal);
    EXPECT_TRUE(Compare(by_filter[1], dbias).equal);
    const auto by_input = Plain({.op = "_Conv2DMaxPoolBackpropInput",
                                 .name = "input",
                                 .attrs = c.attrs(),
                                 .outputs = {F32(c.image)}},
                                {filter, dy, forward[1]});
    EXPECT_TRUE(Compare(by_input[0], dx).equal);
    const auto both = Plain({.op = "_FusedConv2DBackpropFilter",
                             .name = "both",
                             .attrs = c.attrs(),
                             .outputs = {F32(c.filter), F32({c.filter[3]})}},
                            {x, g});
    EXPECT_TRUE(Compare(both[0], dfilter).equal);
    EXPECT_TRUE(Compare(both[1], dbias).equal);
  }
}

TEST(ConvBlock, GeometryOfBlocksIsThatOfNhwc) {
  const Case c{.image = {2, 6, 6, 32}, .filter = {3, 3, 32, 16}};
  Attrs attrs = c.attrs();
  attrs.Set("data_format", std::string(kBlockedFormat));
  const auto block = MakeConvBlock(attrs, BlockedShape(c.image, 16), c.filter);
  EST_ASSERT_OK(block);
  EXPECT_EQ(block->output(), (Shape{2, 3, 3, 16}));
  EXPECT_EQ(block->taps(), 4);
}

TEST(ConvBlock, AWindowOfMoreThan255TapsIsRefused) {
  const Case c{.image = {1, 20, 20, 1}, .filter = {1, 1, 1, 1}, .pool = 16, .pool_stride = 16};
  EXPECT_THAT(MakeConvBlock(c.attrs(), c.image, c.filter).status(), ErrorHas("256 taps"));
}

// Without relu no tap would be off.
TEST(ConvBlock, ABlockWithoutReluHasNoKernel) {
  const Case c = Cases()[0];
  KernelSpec spec{.op = "_FusedConv2DMaxPool",
                  .name = "block",
                  .attrs = c.attrs(),
                  .inputs = {F32(c.image), F32(c.filter), F32({c.filter[3]})},
                  .outputs = {F32({2, 3, 3, 8}), {DType::kUint8, {2, 3, 3, 8}}},
                  .constants = {}};
  EXPECT_TRUE(Accepts(spec, KernelTier::kReference));
  spec.attrs.Set("fused_ops", std::vector<std::string>{"BiasAdd"});
  EXPECT_FALSE(Accepts(spec, KernelTier::kReference));
}

}  // namespace
}  // namespace estimator
