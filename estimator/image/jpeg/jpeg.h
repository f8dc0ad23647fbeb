// JPEG, with libjpeg-turbo. All functions are thread-safe.
//
// An image is an array u8 [height, width, channels] with 1 (grey) or 3 (RGB) channels. CMYK and
// YCCK become RGB. The orientation in EXIF is ignored, as in TensorFlow.
#ifndef ESTIMATOR_IMAGE_JPEG_JPEG_H_
#define ESTIMATOR_IMAGE_JPEG_JPEG_H_

#include <string>

#include "absl/status/statusor.h"
#include "estimator/array/array.h"
#include "estimator/base/string_arg.h"
#include "estimator/image/box.h"

namespace estimator::image {

// The inverse cosine transform. kDefault is kIntegerFast, as in TensorFlow.
enum class DctMethod { kDefault, kIntegerFast, kIntegerAccurate };

struct DecodeJpegOptions {
  // 1 (grey), 3 (RGB), or 0: as in the file, and RGB for CMYK.
  int channels = 0;
  // The image is decoded at 1/ratio of its size, rounded up: 1, 2, 4 or 8. Larger ratios are
  // faster.
  int ratio = 1;
  // Interpolates the color of subsampled images. False is faster, and blocks of color show.
  bool fancy_upscaling = true;
  // Whether an image whose data end too early is decoded. libjpeg makes up what is missing.
  bool try_recover_truncated = false;
  // The part of the rows that the data must have, from 0 to 1. Rows without data are black.
  float acceptable_fraction = 1;
  DctMethod dct_method = DctMethod::kDefault;
};

// Decodes a JPEG file. Data with errors that libjpeg can resume from are decoded, as in TensorFlow.
//   Returns u8 [height, width, channels].
// Errors: INVALID_ARGUMENT if the contents are not JPEG, are damaged, end too early, or have 2^29
// samples or more; if a large image has less than 1 bit of data for each block; if it has more
// than 500 scans; or if an option is out of range.
// Source: TF 2.15 tf.io.decode_jpeg; that function also decodes PNG and GIF (here: DecodeImage).
absl::StatusOr<Array> DecodeJpeg(StringArg contents, const DecodeJpegOptions& options = {});

// Decodes the part of a JPEG file in `crop_window`, in less time than the whole image. With a ratio
// the window counts pixels of the smaller image. The pixels at the borders of the window
// may differ from those of DecodeJpeg by the interpolation of color, as in TensorFlow.
//   Returns u8 [crop_window.height, crop_window.width, channels].
// Errors: as DecodeJpeg; INVALID_ARGUMENT if the window is empty or not inside of the image. Damage
// below the window is not always found.
// Source: TF 2.15 tf.io.decode_and_crop_jpeg.
absl::StatusOr<Array> DecodeAndCropJpeg(StringArg contents, const Box& crop_window,
                                        const DecodeJpegOptions& options = {});

// The shape [height, width, channels] of a JPEG file, from its header. CMYK has 4 channels,
// although DecodeJpeg returns 3.
// Errors: INVALID_ARGUMENT if the contents are not JPEG or the header is damaged.
// Source: TF 2.15 tf.io.extract_jpeg_shape.
absl::StatusOr<Shape> JpegShape(StringArg contents);

// Whether the contents begin as a JPEG file does.
// Source: TF 2.15 tf.io.is_jpeg.
bool IsJpeg(StringArg contents);

enum class JpegFormat { kDefault, kGrayscale, kRgb };
enum class DensityUnit { kInch, kCentimeter };

struct EncodeJpegOptions {
  // kDefault: by the channels of the image.
  JpegFormat format = JpegFormat::kDefault;
  int quality = 95;  // 0 to 100
  bool progressive = false;
  // Makes the file smaller and encoding slower; the pixels stay the same.
  bool optimize_size = false;
  // Stores color at half of the resolution.
  bool chroma_downsampling = true;
  // Pixels per unit of length. Only programs that print use them.
  DensityUnit density_unit = DensityUnit::kInch;
  int x_density = 300;
  int y_density = 300;
  // If it is not empty, the file embeds this XMP metadata. At most 65,504 bytes.
  std::string xmp_metadata = "";
};

// Encodes an image as a JPEG file.
//   image: u8 [height, width, channels], 1 or 3 channels. No side is 0 or longer than 65,500.
// Errors: INVALID_ARGUMENT for another dtype, shape or option, or if the format does not fit the
// channels.
// Source: TF 2.15 tf.io.encode_jpeg.
absl::StatusOr<std::string> EncodeJpeg(const Array& image, const EncodeJpegOptions& options = {});

}  // namespace estimator::image

#endif  // ESTIMATOR_IMAGE_JPEG_JPEG_H_
