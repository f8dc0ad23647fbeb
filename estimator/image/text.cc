#include "estimator/image/text.h"

#include <freetype/freetype.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"

namespace estimator::image {
namespace {

constexpr char kFontPath[] = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf";
constexpr FT_ULong kReplacement = 0xFFFD;

// Removes the first character, and returns its code point.
FT_ULong NextCodePoint(absl::string_view& text) {
  const auto first = static_cast<uint8_t>(text[0]);
  const size_t length = first < 0x80   ? 1
                        : first < 0xC2 ? 0
                        : first < 0xE0 ? 2
                        : first < 0xF0 ? 3
                        : first < 0xF5 ? 4
                                       : 0;
  FT_ULong code = length <= 1 ? first : first & (0xFFu >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    if (i >= text.size() || (text[i] & 0xC0) != 0x80) {
      text.remove_prefix(1);
      return kReplacement;
    }
    code = code << 6 | (text[i] & 0x3Fu);
  }
  text.remove_prefix(length == 0 ? 1 : length);
  return length == 0 ? kReplacement : code;
}

class FreeTypeFont : public TextFont {
 public:
  ~FreeTypeFont() override {
    if (library_ != nullptr) FT_Done_FreeType(library_);  // with its faces
  }
  absl::Status Init(int64_t pixels) {
    if (FT_Init_FreeType(&library_) != 0) return absl::InternalError("FreeType does not start");
    if (FT_New_Face(library_, kFontPath, 0, &face_) != 0) {
      return NotFound("the font ", kFontPath,
                      " cannot be read; install it: apt-get install fonts-dejavu-core");
    }
    if (FT_Set_Pixel_Sizes(face_, 0, static_cast<FT_UInt>(pixels)) != 0)
      return InvalidArgument("there is no font of ", pixels, " pixels");
    return absl::OkStatus();
  }
  // The distance of lines that the font proposes can be less than its characters take: the low
  // line "_" would be outside.
  int64_t line_height() const override {
    const FT_Size_Metrics& metrics = face_->size->metrics;
    return std::max((metrics.height + 63) >> 6, (metrics.ascender >> 6) - (metrics.descender >> 6));
  }

 protected:
  int64_t Layout(absl::string_view text, int64_t x, int64_t y, int64_t max_width,
                 const Color& color, Array* image) override {
    const int64_t baseline = y + (face_->size->metrics.ascender >> 6);
    int64_t width = 0;
    while (!text.empty()) {
      if (FT_Load_Char(face_, NextCodePoint(text), image == nullptr ? 0 : FT_LOAD_RENDER) != 0)
        continue;
      const FT_GlyphSlot glyph = face_->glyph;
      const int64_t advance = glyph->advance.x >> 6;
      if (width + advance > max_width) break;
      if (image != nullptr)
        Blend(glyph->bitmap, x + width + glyph->bitmap_left, baseline - glyph->bitmap_top, color,
              *image);
      width += advance;
    }
    return width;
  }

 private:
  static void Blend(const FT_Bitmap& glyph, int64_t left, int64_t top, const Color& color,
                    Array& image) {
    const int64_t height = image.shape()[0], width = image.shape()[1];
    for (int64_t row = 0; row < glyph.rows; ++row) {
      for (int64_t column = 0; column < glyph.width; ++column) {
        const int64_t x = left + column, y = top + row;
        if (x < 0 || y < 0 || x >= width || y >= height) continue;
        const int alpha = glyph.buffer[row * glyph.pitch + column];
        uint8_t* const pixel = image.data<uint8_t>() + (y * width + x) * 3;
        for (size_t c = 0; c < 3; ++c)
          pixel[c] =
              static_cast<uint8_t>((color[c] * alpha + pixel[c] * (255 - alpha) + 127) / 255);
      }
    }
  }

  FT_Library library_ = nullptr;
  FT_Face face_ = nullptr;
};

}  // namespace

absl::StatusOr<std::unique_ptr<TextFont>> TextFont::Open(int64_t pixels) {
  auto font = std::make_unique<FreeTypeFont>();
  EST_RETURN_IF_ERROR(font->Init(pixels));
  return font;
}

}  // namespace estimator::image
