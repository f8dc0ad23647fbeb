// A random crop window for training on objects: "Inception" crops.
#ifndef ESTIMATOR_IMAGE_RANDOM_DISTORTED_BOUNDING_BOX_H_
#define ESTIMATOR_IMAGE_RANDOM_DISTORTED_BOUNDING_BOX_H_

#include <array>
#include <cstdint>

#include "absl/status/statusor.h"
#include "estimator/array/array.h"
#include "estimator/image/box.h"
#include "estimator/image/random/stateless_random.h"

namespace estimator::image {

struct SampleDistortedBoundingBoxOptions {
  // The window must contain at least this fraction of the area of one of the boxes.
  float min_object_covered = 0.1f;
  // The range of width / height of the window.
  std::array<float, 2> aspect_ratio_range = {0.75f, 1.33f};
  // The range of the area of the window, as a fraction of the image.
  std::array<float, 2> area_range = {0.05f, 1.0f};
  // After so many windows that do not satisfy the above, the whole image is the window.
  int max_attempts = 100;
  // Without boxes, use one that is the whole image. Otherwise that is an error.
  bool use_image_if_no_bounding_boxes = false;
};

// A window of an image.
struct DistortedBoundingBox {
  // The arguments of Slice.
  std::array<int64_t, 3> begin = {};  // {offset_height, offset_width, 0}
  std::array<int64_t, 3> size = {};   // {target_height, target_width, -1}
  // The same window in fractions of the image: f32 [1,1,4], y_min, x_min, y_max, x_max.
  Array bboxes;

  // The argument of DecodeAndCropJpeg, which decodes the window only.
  Box crop_window() const { return {begin[0], begin[1], size[0], size[1]}; }
};

// Draws a window of random size, shape and place.
//   image_size: [height, width, channels], such as image.shape().
//   bounding_boxes: f32 [batch, N, 4], each y_min, x_min, y_max, x_max in [0, 1].
// The window depends on the height and width, the boxes, the seed and the options.
// Errors: INVALID_ARGUMENT if image_size is not of rank 3; if the boxes have another dtype or shape
// or a coordinate outside [0, 1]; if there is no box and options do not allow that; if a ratio or
// an area is not positive, an area is above 1, min_object_covered is negative, or max_attempts is
// not positive.
// Source: TF 2.15 tf.image.stateless_sample_distorted_bounding_box.
absl::StatusOr<DistortedBoundingBox> StatelessSampleDistortedBoundingBox(
    const Shape& image_size, const Array& bounding_boxes, const Seed& seed,
    const SampleDistortedBoundingBoxOptions& options = {});

}  // namespace estimator::image

#endif  // ESTIMATOR_IMAGE_RANDOM_DISTORTED_BOUNDING_BOX_H_
