#include "estimator/image/picture_grid.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>

#include "estimator/base/testing/status_matchers.h"

namespace estimator::image {
namespace {

TEST(FitIntoSquare, ShrinksToTheMeanOfThePixels) {
  const Array image = Array::Of<uint8_t>({2, 4, 3}, {0, 0, 0, 10, 20, 30, 1, 1, 1, 1, 1, 1,  //
                                                     0, 0, 0, 10, 20, 30, 1, 1, 1, 1, 1, 1});
  const Array small = FitIntoSquare(image, 2);
  EXPECT_EQ(small.shape(), (Shape{1, 2, 3}));
  EXPECT_THAT(small.values<uint8_t>(), ::testing::ElementsAre(5, 10, 15, 1, 1, 1));
}

TEST(FitIntoSquare, EnlargesByAWholeNumber) {
  const Array image = Array::Of<uint8_t>({1, 2, 3}, {1, 2, 3, 4, 5, 6});
  const Array large = FitIntoSquare(image, 5);
  EXPECT_EQ(large.shape(), (Shape{2, 4, 3}));
  EXPECT_THAT(large.Row(1).values<uint8_t>(),
              ::testing::ElementsAre(1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6));
}

// A picture of one gray.
GridPicture Gray(uint8_t gray) { return {Array::Of<uint8_t>({1, 1, 3}, {gray, gray, gray})}; }

TEST(PictureGrid, HasPicturesInRowsAndTheirTextBelow) {
  std::vector<GridPicture> pictures = {Gray(10), Gray(20), Gray(30)};
  pictures[1].lines = {{"a [incorrect, should be b]", kRed}};
  EST_ASSERT_OK_AND_ASSIGN(const Array sheet,
                           DrawPictureGrid(pictures, {.side = 100, .font_pixels = 12}));
  const int64_t text = TextFont::Open(12).value()->line_height();
  ASSERT_EQ(sheet.shape(), (Shape{6 + 2 * (106 + text), 6 + 2 * 106, 3}));
  const auto pixel = [&](int64_t y, int64_t x) {
    return sheet.data<uint8_t>() + (y * sheet.shape()[1] + x) * 3;
  };
  EXPECT_EQ(pixel(6, 6)[0], 10);
  EXPECT_EQ(pixel(105, 112)[0], 20);
  EXPECT_EQ(pixel(6 + 106 + text, 6)[0], 30);
  int red = 0, other = 0;
  for (int64_t y = 106; y < 106 + text; ++y) {
    for (int64_t x = 0; x < sheet.shape()[1]; ++x) {
      const uint8_t* const p = pixel(y, x);
      if (p[0] == 255 && p[1] == 255) continue;
      ++(p[0] > p[1] && x >= 112 && x < 212 ? red : other);
    }
  }
  EXPECT_GT(red, 50);
  EXPECT_EQ(other, 0) << "text of another color or place";
}

TEST(PictureGrid, RefusesWhatCannotBeDrawn) {
  EXPECT_THAT(DrawPictureGrid({}), ErrorHas("there are no pictures"));
  EXPECT_THAT(DrawPictureGrid({Gray(0)}, {.side = 1 << 20}), ErrorHas("is too large"));
}

}  // namespace
}  // namespace estimator::image
