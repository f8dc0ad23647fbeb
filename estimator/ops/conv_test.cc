#include "estimator/ops/conv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "estimator/array/compare.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/testing/eval.h"
#include "estimator/ops/testing/pattern.h"

namespace estimator {
namespace {

using testing::CheckGradients;
using testing::Eval;
using testing::Pattern;
using testing::Scrambled;

class ConvTest : public GraphTest {
 protected:
  Tensor X() { return Constant(Pattern({2, 5, 4, 3}, 1)); }
  Tensor Filter() { return Constant(Pattern({3, 2, 3, 4}, 2)); }
  Tensor DepthwiseFilter() { return Constant(Pattern({3, 2, 3, 2}, 2)); }
};

TEST_F(ConvTest, AddsUpProductsByHand) {
  // Rows 1 2 3 / 4 5 6 / 7 8 9 with the kernel 1 0 / 0 1: each pixel plus the one below to its
  // right.
  const Tensor x = Constant({1, 3, 3, 1}, {1.f, 2.f, 3.f, 4.f, 5.f, 6.f, 7.f, 8.f, 9.f});
  const Tensor filter = Constant({2, 2, 1, 1}, {1.f, 0.f, 0.f, 1.f});
  EXPECT_EQ(Compare(*Eval(Conv2D(x, filter, {.padding = Padding::kValid})),
                    Array::Of<float>({1, 2, 2, 1}, {6, 8, 12, 14}))
                .report,
            "");
  EXPECT_EQ(Compare(*Eval(Conv2D(x, filter, {.strides = {2, 2}})),
                    Array::Of<float>({1, 2, 2, 1}, {6, 3, 7, 9}))
                .report,
            "");
}

TEST_F(ConvTest, ExplicitPaddingsAreTensorFlowsAttribute) {
  const Tensor padded = Conv2D(X(), Filter(), {.explicit_paddings = {1, 0, 2, 1}});
  EXPECT_EQ(padded.node()->attrs().s("padding"), "EXPLICIT");
}

TEST_F(ConvTest, Bfloat16RoundsTheSumOnce) {
  const auto bf16 = [](const Array& a) { return Constant(a.Cast(DType::kBfloat16)); };
  const Array exact = *Eval(Conv2D(X(), Filter()));  // eighths are exact in both types
  const Array actual =
      *Eval(Conv2D(bf16(Pattern({2, 5, 4, 3}, 1)), bf16(Pattern({3, 2, 3, 4}, 2))));
  EXPECT_EQ(Compare(actual, exact.Cast(DType::kBfloat16)).report, "");
}

TEST_F(ConvTest, GradientMatchesFiniteDifferences) {
  const std::vector<Conv2DOptions> cases = {{},
                                            {.strides = {2, 1}},
                                            {.strides = {1, 2}, .padding = Padding::kValid},
                                            {.explicit_paddings = {2, 0, 1, 1}},
                                            {.dilations = {2, 1}}};
  for (const Conv2DOptions& options : cases) {
    const Array x = Scrambled({1, 5, 4, 2}, -1, 1);
    EXPECT_EQ(
        CheckGradients([&](const std::vector<Tensor>& in) { return Conv2D(in[0], in[1], options); },
                       {x, Scrambled({2, 3, 2, 2}, -1, 1)}),
        absl::OkStatus());
    EXPECT_EQ(CheckGradients(
                  [&](const std::vector<Tensor>& in) {
                    return DepthwiseConv2dNative(in[0], in[1], options);
                  },
                  {x, Scrambled({2, 3, 2, 2}, -1, 1)}),
              absl::OkStatus());
  }
}

TEST_F(ConvTest, AGroupReadsItsOwnChannels) {
  const auto grouped = [](const std::vector<Tensor>& in) {
    return Conv2D(in[0], in[1], {.strides = {1, 2}});
  };
  EXPECT_EQ(
      CheckGradients(grouped, {Scrambled({2, 3, 4, 4}, -1, 1), Scrambled({2, 3, 2, 6}, -1, 1)}),
      absl::OkStatus());
  const Tensor x = Constant({1, 1, 1, 4}, {1.f, 2.f, 3.f, 4.f});
  const Tensor filter = Constant({1, 1, 2, 2}, {1.f, 10.f, 1.f, 10.f});
  EXPECT_EQ(Compare(*Eval(Conv2D(x, filter)), Array::Of<float>({1, 1, 1, 2}, {3, 70})).report, "");
}

TEST_F(ConvTest, GradientOpsHaveGradients) {
  const Conv2DOptions options = {.strides = {2, 1}};
  const Array filter = Scrambled({2, 3, 2, 3}, -1, 1), g = Scrambled({1, 2, 3, 3}, -1, 1);
  EXPECT_EQ(CheckGradients(
                [&](const std::vector<Tensor>& in) {
                  return Conv2DBackpropInput({1, 4, 3, 2}, in[0], in[1], options);
                },
                {filter, g}),
            absl::OkStatus());
  EXPECT_EQ(CheckGradients(
                [&](const std::vector<Tensor>& in) {
                  return Conv2DBackpropFilter(in[0], {2, 3, 2, 3}, in[1], options);
                },
                {Scrambled({1, 4, 3, 2}, -1, 1), g}),
            absl::OkStatus());
}

TEST_F(ConvTest, TransposeWritesEachPixelTimesTheFilter) {
  const Tensor x = Constant({1, 1, 2, 1}, {1.f, 10.f}),
               filter = Constant({1, 3, 1, 1}, {1.f, 2.f, 3.f});
  const Tensor y =
      Conv2DTranspose(x, filter, {1, 1, 5, 1}, {.strides = {1, 2}, .padding = Padding::kValid});
  EXPECT_EQ(Compare(*Eval(y), Array::Of<float>({1, 1, 5, 1}, {1, 2, 13, 20, 30})).report, "");
  const auto fn = [](const std::vector<Tensor>& in) {
    return Conv2DTranspose(in[0], in[1], {1, 4, 4, 2}, {.strides = {2, 2}});
  };
  EXPECT_EQ(CheckGradients(fn, {Scrambled({1, 2, 2, 3}, -1, 1), Scrambled({3, 3, 2, 3}, -1, 1)}),
            absl::OkStatus());
}

TEST_F(ConvTest, SeparableIsDepthwiseThenPointwise) {
  const Tensor pointwise = Constant(Pattern({1, 1, 6, 2}, 4));
  const Tensor y = SeparableConv2d(X(), DepthwiseFilter(), pointwise, {.strides = {2, 2}});
  const Tensor by_hand =
      Conv2D(DepthwiseConv2dNative(X(), DepthwiseFilter(), {.strides = {2, 2}}), pointwise);
  EXPECT_EQ(Compare(*Eval(y), *Eval(by_hand)).report, "");
}

TEST_F(ConvTest, ChannelsThatDifferAreAnErrorWithBothTypes) {
  EXPECT_FALSE(Conv2D(Ones({8, 32, 32, 3}), Ones({5, 5, 4, 64}), {.name = "conv2d_1"}).valid());
  EXPECT_THAT(
      graph_.status(),
      StatusIs(
          absl::StatusCode::kInvalidArgument,
          "conv2d_1: input has 3 channels, kernel expects 4 (f32 [8,32,32,3] and f32 [5,5,4,64])"));
}

TEST_F(ConvTest, AFlatInputIsAnErrorNamingTheRank) {
  EXPECT_FALSE(Conv2D(Ones({8, 784}), Ones({5, 5, 1, 32})).valid());
  EXPECT_THAT(
      graph_.status(),
      ErrorIs("Conv2D: input has rank 2, expected 4 (batch, rows, columns, channels) (f32 [8,784] "
              "and f32 [5,5,1,32])"));
}

TEST_F(ConvTest, ATransposeToAnImpossibleSizeIsAnError) {
  EXPECT_FALSE(
      Conv2DTranspose(Ones({1, 2, 2, 1}), Ones({3, 3, 1, 1}), {1, 8, 8, 1}, {.strides = {2, 2}})
          .valid());
  EXPECT_THAT(graph_.status(),
              ErrorHas("for an input of [1,8,8,1], out_backprop is [1,2,2,1], expected [1,4,4,1]"));
}

}  // namespace
}  // namespace estimator
