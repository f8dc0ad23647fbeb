// Decodes an image file of any format that this project reads.
#ifndef ESTIMATOR_IMAGE_DECODE_IMAGE_H_
#define ESTIMATOR_IMAGE_DECODE_IMAGE_H_

#include "absl/status/statusor.h"
#include "estimator/array/array.h"
#include "estimator/base/string_arg.h"

namespace estimator::image {

struct DecodeImageOptions {
  // 1 (grey), 3 (RGB), 4 (RGBA; not for JPEG), or 0: as in the file. BMP has no 1.
  int channels = 0;
  // kUint8:   0 to 255.
  // kInt32:   TensorFlow's uint16. 8 bits in the file are multiplied by 256, and those of PNG by
  //           257.
  // kFloat32: 0 to 1.
  DType dtype = DType::kUint8;
};

// Decodes a JPEG, PNG or BMP file, which it recognizes by its first bytes.
//   Returns dtype [height, width, channels].
// Errors: INVALID_ARGUMENT for another format, for damaged contents, or if an option is out of
// range; UNIMPLEMENTED for GIF and WebP.
// Source: TF 2.15 tf.io.decode_image.
absl::StatusOr<Array> DecodeImage(StringArg contents, const DecodeImageOptions& options = {});

}  // namespace estimator::image

#endif  // ESTIMATOR_IMAGE_DECODE_IMAGE_H_
