#include "models/common/graph_flops.h"

#include <gtest/gtest.h>

#include <vector>

#include "estimator/graph/gradients.h"
#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/ops/ops.h"

namespace estimator {
namespace {

using ProductFlopsTest = GraphTest;

// An op that is no product and that nothing reads, as an update.
void Use(const Tensor& x) { (void)Negate(x); }

TEST_F(ProductFlopsTest, CountsTwoForEachMultiplyAdd) {
  Use(MatMul(Ones({2, 3}), Ones({3, 4})));
  EXPECT_EQ(ProductFlops(graph_), 2 * 2 * 3 * 4);
}

TEST_F(ProductFlopsTest, OfATransposedBatchOfProducts) {
  Use(MatMul(Ones({5, 3, 2}), Ones({5, 3, 4}), {.transpose_a = true}));
  EXPECT_EQ(ProductFlops(graph_), 2 * 5 * 2 * 3 * 4);
}

TEST_F(ProductFlopsTest, OfAConvolutionWithStrides) {
  // 4x4 outputs of 6 channels, each of a window of 3x3 with 5 channels.
  Use(Conv2D(Ones({2, 8, 8, 5}), Ones({3, 3, 5, 6}),
             {.strides = {2, 2}, .padding = Padding::kSame}));
  EXPECT_EQ(ProductFlops(graph_), 2 * 2 * 4 * 4 * 6 * 3 * 3 * 5);
}

TEST_F(ProductFlopsTest, OfADepthwiseConvolution) {
  Use(DepthwiseConv2dNative(Ones({1, 4, 4, 5}), Ones({3, 3, 5, 2}), {.padding = Padding::kSame}));
  EXPECT_EQ(ProductFlops(graph_), 2 * 4 * 4 * 10 * 3 * 3);
}

TEST_F(ProductFlopsTest, TheGradientsOfAConvolutionCostAsMuchAsItself) {
  const Tensor x = Ones({2, 8, 8, 5}), filter = Ones({3, 3, 5, 6});
  const Tensor loss = ReduceSum(Square(Conv2D(x, filter, {.padding = Padding::kSame})));
  const double forward = ProductFlops(graph_);
  for (const Tensor& gradient : Gradients({loss}, std::vector<Tensor>{x, filter})) Use(gradient);
  EXPECT_EQ(ProductFlops(graph_), 3 * forward);
}

TEST_F(ProductFlopsTest, LeavesAGradientOutThatNothingUses) {
  const Tensor x = Ones({2, 8, 8, 5}), filter = Ones({3, 3, 5, 6});
  const Tensor loss = ReduceSum(Square(Conv2D(x, filter, {.padding = Padding::kSame})));
  const double forward = ProductFlops(graph_);
  for (const Tensor& gradient : Gradients({loss}, std::vector<Tensor>{filter})) Use(gradient);
  EXPECT_EQ(ProductFlops(graph_), 2 * forward);
}

}  // namespace
}  // namespace estimator
