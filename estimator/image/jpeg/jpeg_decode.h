// Decodes JPEG files, for jpeg.h and its tests. Internal to estimator/image.
#ifndef ESTIMATOR_IMAGE_JPEG_JPEG_DECODE_H_
#define ESTIMATOR_IMAGE_JPEG_JPEG_DECODE_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/array/array.h"
#include "estimator/image/box.h"
#include "estimator/image/jpeg/jpeg.h"

namespace estimator::image {

// What reads the Huffman codes of sequential files. The pixels and errors do not depend on it.
enum class JpegCoefficients {
  kFast,     // JpegEntropyDecoder; libjpeg for the files that it gives up
  kLibjpeg,  // libjpeg
};

// DecodeJpeg, or DecodeAndCropJpeg if `crop_window` is not null.
absl::StatusOr<Array> DecodeJpegWith(JpegCoefficients coefficients, absl::string_view contents,
                                     const Box* crop_window, const DecodeJpegOptions& options);

}  // namespace estimator::image

#endif  // ESTIMATOR_IMAGE_JPEG_JPEG_DECODE_H_
