// Checks the bytes of an image file and converts them to what a record holds.
#ifndef TOOLS_TO_TFRECORD_IMAGE_BYTES_H_
#define TOOLS_TO_TFRECORD_IMAGE_BYTES_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace estimator {

struct EncodedImage {
  std::string bytes;
  std::string format;      // "JPEG" or "PNG"
  std::string colorspace;  // "RGB", "Grayscale", "CMYK", "RGBA", "GrayscaleAlpha"
  int64_t height = 0, width = 0, channels = 0;
};

struct ImageBytesOptions {
  // Encodes PNG files and CMYK JPEGs as RGB JPEGs, as TensorFlow's ImageNet converter does. Other
  // JPEGs stay as they are.
  bool rgb_jpeg = false;
  int jpeg_quality = 100;  // of those
  // Decodes the whole image, to find damaged ones. If false, only the header is read.
  bool decode = true;
};

// Errors: INVALID_ARGUMENT if the bytes are neither JPEG nor PNG, or damaged.
// Source: build_imagenet_data.py, `_process_image`.
absl::StatusOr<EncodedImage> CheckImage(std::string bytes, const ImageBytesOptions& options);

}  // namespace estimator

#endif  // TOOLS_TO_TFRECORD_IMAGE_BYTES_H_
