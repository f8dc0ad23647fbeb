// A sheet of pictures side by side, each with lines of text: a contact sheet, or predictions.
#ifndef ESTIMATOR_IMAGE_PICTURE_GRID_H_
#define ESTIMATOR_IMAGE_PICTURE_GRID_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "estimator/array/array.h"
#include "estimator/image/text.h"

namespace estimator::image {

// Shrinks an image to at most side x side pixels with the same aspect ratio; a pixel is the mean of
// those that it covers. A smaller image is enlarged by a whole number, without smoothing.
//   image: u8 [height, width, 3].  side: at least 1.
Array FitIntoSquare(const Array& image, int64_t side);

struct GridPicture {
  Array image;                                            // u8 [height, width, 3]
  std::vector<std::pair<std::string, Color>> lines = {};  // of text, below it
};

struct PictureGridOptions {
  int64_t columns = 0;      // 0: a square sheet
  int64_t side = 128;       // of a picture, in pixels
  int64_t font_pixels = 9;  // size of the text
};

inline constexpr int64_t kPictureGap = 6;  // around each picture, in pixels
inline constexpr int64_t kMaxGridPixels = int64_t{256} << 20;

// Returns u8 [height, width, 3]. What is too long of a line of text is cut off.
// Errors: INVALID_ARGUMENT without pictures, or for a sheet of more than kMaxGridPixels; NOT_FOUND
// if the font is not installed.
absl::StatusOr<Array> DrawPictureGrid(const std::vector<GridPicture>& pictures,
                                      const PictureGridOptions& options = {});

}  // namespace estimator::image

#endif  // ESTIMATOR_IMAGE_PICTURE_GRID_H_
