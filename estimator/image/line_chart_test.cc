#include "estimator/image/line_chart.h"

#include <gtest/gtest.h>

#include <cmath>

#include "estimator/base/testing/status_matchers.h"

namespace estimator::image {
namespace {

bool IsFirstCurve(const Array& image, int64_t x, int64_t y) {
  const uint8_t* const pixel = image.data<uint8_t>() + (y * image.shape()[1] + x) * 3;
  return pixel[0] == 31 && pixel[1] == 119 && pixel[2] == 180;
}

// The rows of the first curve in a column, from the top.
std::vector<int64_t> Rows(const Array& image, int64_t x) {
  std::vector<int64_t> rows;
  for (int64_t y = 0; y < image.shape()[0]; ++y)
    if (IsFirstCurve(image, x, y)) rows.push_back(y);
  return rows;
}

TEST(LineChart, ALineRisesFromTheLeftBelowToTheRightAbove) {
  const auto image = DrawLineChart({.curves = {{{0, 0}, {10, 5}}}, .width = 400, .height = 200});
  EST_ASSERT_OK(image);
  EXPECT_EQ(image->shape(), (Shape{200, 400, 3}));
  const std::vector<int64_t> left = Rows(*image, 80), right = Rows(*image, 380);
  ASSERT_FALSE(left.empty());
  ASSERT_FALSE(right.empty());
  EXPECT_GT(left[0], 150);  // the axis is at 160
  EXPECT_LT(right[0], 45);  // the margin ends at 26
  EXPECT_TRUE(Rows(*image, 60).empty()) << "left of the axis";
}

// Where the values are, and how long: a step.
TEST(LineChart, TheHeightIsInProportionToTheValue) {
  const auto image =
      DrawLineChart({.curves = {{{0, 1}, {5, 1}, {5, 2}, {10, 2}}}, .width = 400, .height = 200});
  EST_ASSERT_OK(image);
  const double zero = 160, one = static_cast<double>(Rows(*image, 100)[0]),
               two = static_cast<double>(Rows(*image, 350)[0]);
  EXPECT_NEAR((zero - two) / (zero - one), 2, 0.05);
}

TEST(LineChart, ALogarithmicAxisGivesEachPowerTheSameWidth) {
  const auto image = DrawLineChart({.curves = {{{1, 0}, {10, 0}, {10, 1}, {100, 1}}},
                                    .log_x = true,
                                    .width = 292,
                                    .height = 200});
  EST_ASSERT_OK(image);
  // The axis has 200 pixels from 76 on.
  EXPECT_GT(Rows(*image, 174)[0], 150);
  EXPECT_LT(Rows(*image, 179)[0], 45);
}

TEST(LineChart, PointsThatAreNotFiniteInterruptTheCurve) {
  const auto image =
      DrawLineChart({.curves = {{{0, 1}, {4, 1}, {5, std::nan("")}, {6, 1}, {10, 1}}},
                     .width = 400,
                     .height = 200});
  EST_ASSERT_OK(image);
  EXPECT_FALSE(Rows(*image, 150).empty());
  EXPECT_TRUE(Rows(*image, 76 + 154).empty());
}

TEST(LineChart, WhatCannotBeDrawnIsRefused) {
  EXPECT_THAT(DrawLineChart({}), ErrorHas("a finite point"));
  EXPECT_THAT(DrawLineChart({.curves = {{{0, 1}}}, .log_x = true}), ErrorHas("x is 0"));
  EXPECT_THAT(DrawLineChart({.curves = {{{0, 1}}}, .width = 10}), ErrorHas("not 10 x 420"));
  EST_EXPECT_OK(DrawLineChart({.curves = {{{0, 0}}}}));
}

}  // namespace
}  // namespace estimator::image
