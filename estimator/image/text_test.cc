#include "estimator/image/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "estimator/base/testing/status_matchers.h"

namespace estimator::image {
namespace {

class TextTest : public ::testing::Test {
 protected:
  // The pixels of a text on white.
  std::vector<uint8_t> Draw(absl::string_view text, int64_t max_width = 1000, int64_t x = 0,
                            const Color& color = kBlack) {
    Array image(DType::kUint8, {font_->line_height(), 64, 3});
    for (uint8_t& value : image.values<uint8_t>()) value = 255;
    font_->Draw(text, x, 0, max_width, color, image);
    const auto values = image.values<uint8_t>();
    return {values.begin(), values.end()};
  }
  const std::unique_ptr<TextFont> font_ = TextFont::Open(12).value();
};

TEST_F(TextTest, APrintableCharacterHasAGlyphOfItsOwn) {
  std::set<std::vector<uint8_t>> glyphs;
  for (char c = ' '; c <= '~'; ++c) {
    EXPECT_TRUE(glyphs.insert(Draw(std::string(1, c))).second) << c;
  }
  EXPECT_TRUE(glyphs.insert(Draw("\xEA\xB0\x80")).second) << "the box";
  EXPECT_TRUE(glyphs.insert(Draw("\xC3\xA4")).second) << "a with two dots";
  EXPECT_NE(Draw("\xC3\xA4"), Draw("\xC3\xB6"));
}

TEST_F(TextTest, WhatIsNotUtf8IsABoxForEachByte) {
  for (const char* text : {"\xFF", "\xC3", "\x80", "\xE2\x82"})
    EXPECT_EQ(Draw(absl::string_view(text).substr(0, 1)), Draw("\xEF\xBF\xBD"));
  EXPECT_EQ(Draw("\xE2\x82"), Draw("\xEF\xBF\xBD\xEF\xBF\xBD"));
  EXPECT_EQ(Draw("\xC3g"), Draw("\xEF\xBF\xBDg"));
}

TEST_F(TextTest, TheWidthIsTheSumOfThoseOfItsCharacters) {
  EXPECT_EQ(font_->Width("WiW"), 2 * font_->Width("W") + font_->Width("i"));
  EXPECT_GT(font_->Width("W"), font_->Width("i"));
}

TEST_F(TextTest, WhatDoesNotFitIsCutOffByWholeCharacters) {
  const int64_t one = font_->Width("8");
  EXPECT_EQ(Draw("88", 2 * one - 1), Draw("8"));
  EXPECT_NE(Draw("88", 2 * one), Draw("8"));
  Draw("88", 1000, 60);  // writes nothing outside of the image
  Draw("88", 1000, -60);
}

TEST_F(TextTest, HasItsColorAndBlendsItsEdges) {
  const std::vector<uint8_t> pixels = Draw("H", 1000, 0, kRed);
  int full = 0;
  for (size_t i = 0; i < pixels.size(); i += 3) {
    full += pixels[i] == kRed[0] && pixels[i + 1] == kRed[1] && pixels[i + 2] == kRed[2] ? 1 : 0;
    EXPECT_GE(pixels[i], kRed[0]);
  }
  EXPECT_GT(full, 3);
}

}  // namespace
}  // namespace estimator::image
