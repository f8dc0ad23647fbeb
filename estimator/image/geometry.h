// Crops, padding, flips and rotations of images on the host, for functions of Dataset::Map.
//
// An image is an Array [H,W,C] or a batch [N,H,W,C] of any numeric dtype or bool. The result has
// the same dtype and rank. Where the result is the whole input, it shares the input's bytes.
#ifndef ESTIMATOR_IMAGE_GEOMETRY_H_
#define ESTIMATOR_IMAGE_GEOMETRY_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "estimator/array/array.h"

namespace estimator::image {

// All functions return INVALID_ARGUMENT, besides the errors that they list, if the image has a rank
// other than 3 and 4, has no rows, columns or channels, or holds strings.

// The window of target_height rows and target_width columns whose first pixel is at
// (offset_height, offset_width).
// Errors: INVALID_ARGUMENT if an offset is negative, a target is not positive, or the window is not
// inside the image.
// Source: TF 2.15 tf.image.crop_to_bounding_box.
absl::StatusOr<Array> CropToBoundingBox(const Array& image, int64_t offset_height,
                                        int64_t offset_width, int64_t target_height,
                                        int64_t target_width);

// The image with zeros around it: offset_height rows above it, offset_width columns to its left,
// and below and to its right as many as give target_height rows and target_width columns.
// Errors: INVALID_ARGUMENT if an offset is negative, or if the image does not fit into the target.
// Source: TF 2.15 tf.image.pad_to_bounding_box.
absl::StatusOr<Array> PadToBoundingBox(const Array& image, int64_t offset_height,
                                       int64_t offset_width, int64_t target_height,
                                       int64_t target_width);

// Crops an axis that is too long around its center, and pads one that is too short with zeros on
// both sides. An odd pixel is cut off, or added, at the end of the axis.
// Errors: INVALID_ARGUMENT if a target is not positive.
// Source: TF 2.15 tf.image.resize_with_crop_or_pad.
absl::StatusOr<Array> ResizeWithCropOrPad(const Array& image, int64_t target_height,
                                          int64_t target_width);

// The center of the image. int((H - H * central_fraction) / 2) rows are cut off at each side, and
// the same for columns. A fraction of 1 returns any array as it is.
// Errors: INVALID_ARGUMENT if central_fraction is not in (0, 1].
// Source: TF 2.15 tf.image.central_crop.
absl::StatusOr<Array> CentralCrop(const Array& image, double central_fraction);

// Mirrors the columns.
// Source: TF 2.15 tf.image.flip_left_right.
absl::StatusOr<Array> FlipLeftRight(const Array& image);

// Mirrors the rows.
// Source: TF 2.15 tf.image.flip_up_down.
absl::StatusOr<Array> FlipUpDown(const Array& image);

// Rotates k times by 90 degrees, counter-clockwise. A negative k rotates clockwise.
// Source: TF 2.15 tf.image.rot90.
absl::StatusOr<Array> Rot90(const Array& image, int64_t k = 1);

// Swaps rows and columns.
// Source: TF 2.15 tf.image.transpose.
absl::StatusOr<Array> Transpose(const Array& image);

// The part of an array of any rank that begins at `begin` and has the sizes `size`; -1 takes the
// rest of an axis. It takes `begin` and `size` of StatelessSampleDistortedBoundingBox.
// Errors: INVALID_ARGUMENT if the part is not inside the array, if there is not one number for each
// axis, or if the array holds strings.
// Source: TF 2.15 tf.slice.
absl::StatusOr<Array> Slice(const Array& array, absl::Span<const int64_t> begin,
                            absl::Span<const int64_t> size);

}  // namespace estimator::image

#endif  // ESTIMATOR_IMAGE_GEOMETRY_H_
