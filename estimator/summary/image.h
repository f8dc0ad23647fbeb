// Converts tensors to PNG images for TensorBoard.
#ifndef ESTIMATOR_SUMMARY_IMAGE_H_
#define ESTIMATOR_SUMMARY_IMAGE_H_

#include <string>

#include "absl/status/statusor.h"
#include "estimator/array/array.h"

namespace estimator {

// The PNG of one image.
//   image: u8 or f32 [height, width, channels], channels 1 (grey), 3 (RGB) or 4 (RGBA).
//   f32 values are scaled. If no value is negative, the largest becomes 255. Else 0 becomes 128,
//   and the largest magnitude becomes 1 or 255. A pixel with a NaN or infinity becomes red.
// Errors: INVALID_ARGUMENT for another dtype or shape.
// Source: TF 2.15 tensorflow/core/kernels/summary_image_op.cc.
absl::StatusOr<std::string> EncodePng(const Array& image);

}  // namespace estimator

#endif  // ESTIMATOR_SUMMARY_IMAGE_H_
