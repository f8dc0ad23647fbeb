// Cuts boxes out of images and resizes them to one size.
#ifndef ESTIMATOR_IMAGE_RESIZE_CROP_AND_RESIZE_H_
#define ESTIMATOR_IMAGE_RESIZE_CROP_AND_RESIZE_H_

#include "absl/status/statusor.h"
#include "estimator/array/array.h"
#include "estimator/image/resize/resize.h"

namespace estimator::image {

struct CropAndResizeOptions {
  ResizeMethod method = ResizeMethod::kBilinear;  // or kNearestNeighbor
  float extrapolation_value = 0;                  // of the pixels outside of the image
};

// Crops, resized with aligned corners: the corners of a box are the centers of the corner pixels of
// its crop. The bits are those of TensorFlow 2.15.1 on CPU.
//   images: numbers [N,H,W,C].
//   boxes: f32 [B,4], rows y1, x1, y2, x2 in units of the image: 0 is the first row or column,
//     1 the last. If y1 > y2 or x1 > x2, the crop is flipped. Values outside of [0, 1] are allowed.
//   box_indices: i32 [B], the image of each box, in [0, N).
//   Returns f32 [B,crop_size.height,crop_size.width,C].
// Errors: INVALID_ARGUMENT for another rank, shape or dtype, an image without a pixel, a crop size
//   less than 1, a coordinate that is not finite, or another method; OUT_OF_RANGE for a box index
//   that is not in [0, N).
// Source: TF 2.15 tf.image.crop_and_resize.
absl::StatusOr<Array> CropAndResize(const Array& images, const Array& boxes,
                                    const Array& box_indices, ImageSize crop_size,
                                    CropAndResizeOptions options = {});

}  // namespace estimator::image

#endif  // ESTIMATOR_IMAGE_RESIZE_CROP_AND_RESIZE_H_
