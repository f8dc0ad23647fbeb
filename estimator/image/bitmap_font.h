// A font of 5x7 pixels for labels in images. It has the printable characters of ASCII.
#ifndef ESTIMATOR_IMAGE_BITMAP_FONT_H_
#define ESTIMATOR_IMAGE_BITMAP_FONT_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "estimator/array/array.h"

namespace estimator {

inline constexpr int64_t kGlyphHeight = 7;
inline constexpr int64_t kGlyphAdvance = 6;  // the width of a glyph and of the space behind it

// Draws text into an image, one character after another. What is outside of the image, or right of
// x + max_width, is cut off by whole characters. A byte without a glyph is drawn as a box.
//   image: u8 [height, width, 3], which is written to.  x, y: the upper left corner, in pixels.
void DrawText(absl::string_view text, int64_t x, int64_t y, int64_t max_width, uint8_t gray,
              Array& image);

}  // namespace estimator

#endif  // ESTIMATOR_IMAGE_BITMAP_FONT_H_
