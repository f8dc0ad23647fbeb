// PNG, with libpng. All functions are thread-safe.
//
// An image is an array [height, width, channels] with 1 (grey), 2 (grey and alpha), 3 (RGB) or 4
// (RGBA) channels. Numbers of 16 bits are in an array i32, because there is no dtype u16.
#ifndef ESTIMATOR_IMAGE_PNG_PNG_H_
#define ESTIMATOR_IMAGE_PNG_PNG_H_

#include <string>

#include "absl/status/statusor.h"
#include "estimator/array/array.h"
#include "estimator/base/string_arg.h"

namespace estimator::image {

struct DecodePngOptions {
  // 1 (grey), 2 (grey and alpha), 3 (RGB), 4 (RGBA), or 0: as in the file. A palette gives 3, or 4
  // if it has transparent colors.
  int channels = 0;
  // kUint8:   0 to 255. Of 16 bits in the file, the upper 8.
  // kInt32:   0 to 65535, TensorFlow's uint16. 8 bits in the file are multiplied by 257.
  // kFloat32: that, divided by 65535.
  DType dtype = DType::kUint8;
};

// Decodes a PNG file.
//   Returns dtype [height, width, channels].
// Errors: INVALID_ARGUMENT if the contents are not PNG, are damaged, end too early, or have 2^29
// pixels or more; if the file is too small for its pixels; or if an option is out of range.
// Source: TF 2.15 tf.io.decode_png; that function also decodes JPEG and GIF (here: DecodeImage).
absl::StatusOr<Array> DecodePng(StringArg contents, const DecodePngOptions& options = {});

// The shape that DecodePng returns with channels = 0, from what precedes the pixels.
// Errors: INVALID_ARGUMENT if the contents are not PNG or are damaged there.
absl::StatusOr<Shape> PngShape(StringArg contents);

struct EncodePngOptions {
  // zlib's level: 0 (stored) to 9 (smallest), or -1 for zlib's default.
  int compression = -1;
};

// Encodes an image as a PNG file.
//   image: [height, width, 1 to 4 channels], with no side of 0. u8 becomes 8 bits. i32 becomes 16
//   bits; its numbers must be in [0, 65535].
// Errors: INVALID_ARGUMENT for another dtype, shape, number or option.
// Source: TF 2.15 tf.io.encode_png.
absl::StatusOr<std::string> EncodePng(const Array& image, const EncodePngOptions& options = {});

}  // namespace estimator::image

#endif  // ESTIMATOR_IMAGE_PNG_PNG_H_
