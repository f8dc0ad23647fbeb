// The sizes of an Array of images, checked.
#ifndef ESTIMATOR_IMAGE_IMAGE_SHAPE_H_
#define ESTIMATOR_IMAGE_IMAGE_SHAPE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/array/array.h"

namespace estimator::image {

struct ImageShape {
  int64_t batch = 0;
  int64_t height = 0;
  int64_t width = 0;
  int64_t channels = 0;

  int64_t row_size() const { return width * channels; }       // elements
  int64_t image_size() const { return height * row_size(); }  // elements
};

// The sizes of images [H,W,C], whose batch is 1, or [N,H,W,C].
// Errors: INVALID_ARGUMENT, beginning with `function`, if the dtype is not a number or if the rank
//   is neither 3 nor 4.
absl::StatusOr<ImageShape> BatchedImageShape(absl::string_view function, const Array& images);

// The sizes of images [...,H,W,C], whose batch is the product of the leading axes.
// Errors: INVALID_ARGUMENT, beginning with `function`, if the dtype is not a number or if the rank
//   is less than 3.
absl::StatusOr<ImageShape> AnyImageShape(absl::string_view function, const Array& images);

// Errors: INVALID_ARGUMENT, beginning with `function`, if the array holds neither numbers nor
//   bools.
absl::Status CheckHoldsNumbers(absl::string_view function, const Array& array);

// Errors: those of CheckHoldsNumbers; INVALID_ARGUMENT if the rank is neither 3 nor 4, or if the
//   images have no rows, columns or channels.
absl::Status CheckHasPixels(absl::string_view function, const Array& images);

// Errors: INVALID_ARGUMENT, beginning with `function`, if the images have another number of
//   channels. `cure` is the sentence about what to do.
absl::Status CheckChannels(absl::string_view function, const Array& images, int64_t channels,
                           absl::string_view cure);

// `dtype` with the batch of `images` and these sizes; rank 3 if `images` has rank 3.
// REQUIRES: `images` has rank 3 or 4.
Shape ResizedShape(const Array& images, int64_t height, int64_t width);

}  // namespace estimator::image

#endif  // ESTIMATOR_IMAGE_IMAGE_SHAPE_H_
