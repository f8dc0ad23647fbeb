// Box: a rectangle of pixels.
#ifndef ESTIMATOR_IMAGE_BOX_H_
#define ESTIMATOR_IMAGE_BOX_H_

#include <cstdint>

namespace estimator::image {

// Rows [y, y + height) and columns [x, x + width), in pixels. The order of the fields is that of
// TensorFlow's crop_window.
struct Box {
  int64_t y = 0;
  int64_t x = 0;
  int64_t height = 0;
  int64_t width = 0;

  // Whether the box has pixels, and all of them are in an image of this size.
  bool IsWithin(int64_t image_height, int64_t image_width) const {
    return y >= 0 && x >= 0 && height > 0 && width > 0 && height <= image_height &&
           width <= image_width && y <= image_height - height && x <= image_width - width;
  }
};

}  // namespace estimator::image

#endif  // ESTIMATOR_IMAGE_BOX_H_
