// Text in images, by FreeType and the font DejaVu Sans of Debian's package fonts-dejavu-core.
#ifndef ESTIMATOR_IMAGE_TEXT_H_
#define ESTIMATOR_IMAGE_TEXT_H_

#include <array>
#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/array/array.h"

namespace estimator::image {

using Color = std::array<uint8_t, 3>;  // red, green, blue
inline constexpr Color kBlack = {0, 0, 0}, kGray = {128, 128, 128}, kRed = {214, 39, 40};

// A font of one size. Not thread-safe.
class TextFont {
 public:
  //   pixels: the size of the font, which is a little more than the height of a capital letter.
  // Errors: NOT_FOUND, naming the package, if the font is not installed.
  static absl::StatusOr<std::unique_ptr<TextFont>> Open(int64_t pixels);
  virtual ~TextFont() = default;

  virtual int64_t line_height() const = 0;
  // The width of the text in pixels.
  int64_t Width(absl::string_view text) { return Layout(text, 0, 0, INT64_MAX, kBlack, nullptr); }
  // Draws text, one character after another. What is outside of the image is cut off, and what is
  // right of x + max_width by whole characters. A character that the font does not have, and a byte
  // that is not UTF-8, is drawn as a box.
  //   image: u8 [height, width, 3], which is written to.  x, y: the upper left corner, in pixels.
  void Draw(absl::string_view text, int64_t x, int64_t y, int64_t max_width, const Color& color,
            Array& image) {
    Layout(text, x, y, max_width, color, &image);
  }

 protected:
  // Returns the width of what is drawn.
  virtual int64_t Layout(absl::string_view text, int64_t x, int64_t y, int64_t max_width,
                         const Color& color, Array* image) = 0;
};

}  // namespace estimator::image

#endif  // ESTIMATOR_IMAGE_TEXT_H_
