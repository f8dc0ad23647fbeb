#include "estimator/kernels/flops.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "estimator/kernels/layout.h"
#include "estimator/kernels/testing/attrs.h"

namespace estimator {
namespace {

TensorSpec F32(const Shape& shape) { return {DType::kFloat32, shape}; }
// 2 images, 8x8x3 to 4x4x16, 5x5 taps.
constexpr int64_t kConvFlops = 2 * (2 * 4 * 4 * 16) * (5 * 5 * 3);

TEST(EstimatedFlops, AConvolutionAndItsGradientsDoTheSameWork) {
  const TensorSpec x = F32({2, 8, 8, 3}), filter = F32({5, 5, 3, 16}), y = F32({2, 4, 4, 16}),
                   sizes{DType::kInt32, {4}};
  const auto flops = [](const char* op, std::vector<TensorSpec> in, std::vector<TensorSpec> out) {
    return EstimatedFlops(
        {.op = op, .attrs = WithPool(ConvAttrs(2), "VALID"), .inputs = in, .outputs = out});
  };
  EXPECT_EQ(flops("Conv2D", {x, filter}, {y}), kConvFlops);
  EXPECT_EQ(flops("Conv2DBackpropInput", {sizes, filter, y}, {x}), kConvFlops);
  EXPECT_EQ(flops("Conv2DBackpropFilter", {x, sizes, y}, {filter}), kConvFlops);
  const TensorSpec pooled = F32({2, 2, 2, 16}), bytes{DType::kUint8, {2, 2, 2, 16}};
  EXPECT_EQ(flops("_FusedConv2DMaxPool", {x, filter, F32({16})}, {pooled, bytes}), kConvFlops);
  EXPECT_EQ(flops("_Conv2DMaxPoolBackpropInput", {filter, pooled, bytes}, {x}), kConvFlops);
}

TEST(EstimatedFlops, ADepthwiseConvolutionHasOneChannelATap) {
  for (const char* op : {"DepthwiseConv2dNative", "_FusedDepthwiseConv2dNative"}) {
    EXPECT_EQ(EstimatedFlops({.op = op,
                              .attrs = ConvAttrs(2),
                              .inputs = {F32({2, 8, 8, 3}), F32({5, 5, 3, 2})},
                              .outputs = {F32({2, 4, 4, 6})}}),
              2 * (2 * 4 * 4 * 6) * (5 * 5));
  }
}

TEST(EstimatedFlops, BlocksChangeNothing) {
  Attrs attrs = ConvAttrs(2);
  attrs.Set("data_format", std::string(kBlockedFormat));
  EXPECT_EQ(EstimatedFlops({.op = "Conv2D",
                            .attrs = attrs,
                            .inputs = {F32({2, 3, 8, 8, 1}), F32({5, 5, 3, 16})},
                            .outputs = {F32({2, 1, 4, 4, 16})}}),
            kConvFlops);
}

TEST(EstimatedFlops, MatrixProductsCountTheInnerAxis) {
  EXPECT_EQ(EstimatedFlops({.op = "MatMul",
                            .attrs = {{"transpose_a", true}, {"transpose_b", false}},
                            .inputs = {F32({7, 4}), F32({7, 5})},
                            .outputs = {F32({4, 5})}}),
            2 * 4 * 5 * 7);
  EXPECT_EQ(EstimatedFlops({.op = "BatchMatMulV2",
                            .attrs = {{"adj_x", false}, {"adj_y", false}},
                            .inputs = {F32({3, 4, 7}), F32({3, 7, 5})},
                            .outputs = {F32({3, 4, 5})}}),
            2 * 3 * 4 * 5 * 7);
}

TEST(EstimatedFlops, OtherOpsCountElements) {
  EXPECT_EQ(EstimatedFlops({.op = "Sum", .inputs = {F32({8, 9})}, .outputs = {F32({8})}}), 72);
  EXPECT_EQ(EstimatedFlops({.op = "_FusedElementwise",
                            .attrs = {{"ops", std::vector<std::string>{"Mul", "AddV2", "Relu"}}},
                            .inputs = {F32({10})},
                            .outputs = {F32({10})}}),
            30);
}

}  // namespace
}  // namespace estimator
