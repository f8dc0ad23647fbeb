#include "estimator/image/bitmap_font.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"

namespace estimator {
namespace {

// Draws text in black on a white image, and returns it as '#' and ' '.
std::string Draw(absl::string_view text, int64_t width, int64_t max_width, int64_t x = 0) {
  Array image(DType::kUint8, {kGlyphHeight, width, 3});
  for (uint8_t& value : image.values<uint8_t>()) value = 255;
  DrawText(text, x, 0, max_width, 0, image);
  std::string art;
  for (int64_t i = 0; i < kGlyphHeight * width; ++i) {
    if (i % width == 0) absl::StrAppend(&art, "\n");
    art += image.data<uint8_t>()[3 * i] == 0 ? '#' : ' ';
  }
  return art;
}

TEST(BitmapFont, DrawsCharactersSideBySide) {
  EXPECT_EQ(Draw("a1", 11, 11),
            "\n        #  "
            "\n       ##  "
            "\n ###    #  "
            "\n    #   #  "
            "\n ####   #  "
            "\n#   #   #  "
            "\n ####  ### ");
}

TEST(BitmapFont, EveryPrintableCharacterHasItsOwnGlyph) {
  std::set<std::string> glyphs = {Draw("\x01", 5, 5)};  // the box
  for (char c = ' '; c <= '~'; ++c) {
    EXPECT_TRUE(glyphs.insert(Draw(std::string(1, c), 5, 5)).second) << c;
  }
}

TEST(BitmapFont, WhatDoesNotFitIsCutOffByWholeCharacters) {
  EXPECT_EQ(Draw("88", 20, 10), Draw("8", 20, 20));
  EXPECT_EQ(Draw("88", 10, 100), Draw("8", 10, 100));
}

}  // namespace
}  // namespace estimator
