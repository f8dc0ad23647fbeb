#include "estimator/kernels/window.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "estimator/base/testing/status_matchers.h"

namespace estimator {
namespace {

TEST(Window, SameRoundsTheOutputUpAndPutsTheOddPaddingLast) {
  const Window w = *MakeWindow(5, 2, 1, 1, "SAME");
  EXPECT_EQ(w.output, 5);
  EXPECT_EQ(w.pad_before, 0);
  EXPECT_EQ(w.pad_after, 1);
  // ResNet's first convolution: 224, 7, stride 2.
  const Window first = *MakeWindow(224, 7, 2, 1, "SAME");
  EXPECT_EQ(first.output, 112);
  EXPECT_EQ(first.pad_before, 2);
  EXPECT_EQ(first.pad_after, 3);
}

TEST(Window, ValidKeepsWholeWindowsOnly) {
  EXPECT_EQ(MakeWindow(5, 2, 2, 1, "VALID")->output, 2);
  EXPECT_EQ(MakeWindow(5, 2, 1, 3, "VALID")->output, 2);  // extent 4
  EXPECT_EQ(MakeWindow(5, 5, 1, 1, "VALID")->output, 1);
}

TEST(Window, ExplicitPaddingCountsBothSides) {
  EXPECT_EQ(MakeWindow(224, 7, 2, 1, "EXPLICIT", 3, 3)->output, 112);
}

TEST(Window, TapsInsideTheInputAreThoseThatInputSays) {
  for (const int64_t dilation : {1, 2, 3}) {
    for (const int64_t stride : {1, 2, 3}) {
      const Window w = *MakeWindow(7, 3, stride, dilation, "SAME");
      for (int64_t o = 0; o < w.output; ++o) {
        for (int64_t k = 0; k < w.kernel; ++k) {
          const bool inside = w.Input(o, k) >= 0 && w.Input(o, k) < w.input;
          EXPECT_EQ(inside, k >= w.FirstTap(o) && k < w.EndTap(o)) << stride << dilation << o << k;
        }
      }
    }
  }
}

TEST(Window, AWindowThatDoesNotFitIsNamedWithTheCure) {
  EXPECT_THAT(
      MakeWindow(3, 5, 1, 1, "VALID"),
      ErrorIs(
          "a window of 5 does not fit into 3 with padding VALID; use SAME, or a smaller window"));
  EXPECT_FALSE(MakeWindow(3, 2, 0, 1, "SAME").ok());
  EXPECT_FALSE(MakeWindow(3, 2, 1, 1, "FULL").ok());
}

TEST(ConvGeometry, DepthwiseMultipliesChannels) {
  const Attrs attrs{{"strides", std::vector<int64_t>{1, 2, 1, 1}},
                    {"padding", std::string("SAME")}};
  const ConvGeometry g = *MakeConvGeometry(attrs, {8, 10, 9, 4}, {3, 3, 4, 2}, /*depthwise=*/true);
  EXPECT_EQ(g.output(), (Shape{8, 5, 9, 8}));
  EXPECT_EQ(g.input(), (Shape{8, 10, 9, 4}));
}

TEST(ConvGeometry, FiltersOfFewerChannelsMakeGroups) {
  const Attrs attrs{{"strides", std::vector<int64_t>{1, 1, 1, 1}},
                    {"padding", std::string("SAME")}};
  EXPECT_EQ(MakeConvGeometry(attrs, {1, 4, 4, 6}, {3, 3, 2, 9})->groups, 3);
  EXPECT_EQ(MakeConvGeometry(attrs, {1, 4, 4, 6}, {3, 3, 6, 9})->groups, 1);
  EXPECT_THAT(MakeConvGeometry(attrs, {1, 4, 4, 6}, {3, 3, 4, 9}),
              ErrorIs("input has 6 channels, kernel expects 4"));
  EXPECT_THAT(
      MakeConvGeometry(attrs, {1, 4, 4, 6}, {3, 3, 2, 8}),
      ErrorIs("input has 6 channels, kernel expects 2 of them: the 8 output channels are not a "
              "multiple of the 3 groups"));
}

TEST(ConvGeometry, StridesAlongChannelsAndOtherFormatsAreErrors) {
  Attrs attrs{{"strides", std::vector<int64_t>{1, 1, 1, 2}}, {"padding", std::string("SAME")}};
  EXPECT_THAT(MakeConvGeometry(attrs, {1, 4, 4, 1}, {3, 3, 1, 1}),
              ErrorIs("strides along batch and channels must be 1, got 1 and 2"));
  attrs.Set("strides", std::vector<int64_t>{1, 1, 1, 1});
  attrs.Set("data_format", std::string("NCHW"));
  EXPECT_THAT(MakeConvGeometry(attrs, {1, 4, 4, 1}, {3, 3, 1, 1}),
              ErrorIs("data_format is NCHW, only NHWC is supported: transpose the input to NHWC"));
}

}  // namespace
}  // namespace estimator
