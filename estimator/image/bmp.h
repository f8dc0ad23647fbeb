// BMP without compression: 8 bits (as grey), 24 (BGR) or 32 (BGRA) bits a pixel.
//
//   0   "BM"
//   10  i32 offset of the pixels
//   18  i32 width
//   22  i32 height; if it is negative, the first row is the top row
//   28  i16 bits of a pixel
//       rows, each padded to a multiple of 4 bytes; little-endian
#ifndef ESTIMATOR_IMAGE_BMP_H_
#define ESTIMATOR_IMAGE_BMP_H_

#include "absl/status/statusor.h"
#include "estimator/array/array.h"
#include "estimator/base/string_arg.h"

namespace estimator::image {

struct DecodeBmpOptions {
  // 3 (RGB), 4 (RGBA), or 0: as in the file, where 8 bits give 1.
  int channels = 0;
};

// Decodes a BMP file. A palette is ignored: 8 bits of a pixel are a grey level, as in TensorFlow.
//   Returns u8 [height, width, channels].
// Errors: INVALID_ARGUMENT if the contents are not BMP, if they end before the pixels do, or
// if an option is out of range.
// Source: TF 2.15 tf.io.decode_bmp.
absl::StatusOr<Array> DecodeBmp(StringArg contents, const DecodeBmpOptions& options = {});

}  // namespace estimator::image

#endif  // ESTIMATOR_IMAGE_BMP_H_
