// Changes the colors and the dtype of images, with TensorFlow's arithmetic.
//
// Images are [..., height, width, channels] of any number type. An image of integers is scaled to
// [0, 1] in f32 (ConvertImageDtype), changed, and scaled back. So 0.1 is a tenth of the range for
// u8 as well as for f32.
// Accuracy: the bits of TensorFlow 2.15.1 on CPU, except AdjustGamma, RgbToGrayscale, RgbToHsv and
// PerImageStandardization. There the error in f32 is below 1e-5, relative to the largest value, and
// integers differ by at most 1.
// Images of f16 are computed in f32 and rounded once, where TensorFlow has no f16 kernel on CPU.
#ifndef ESTIMATOR_IMAGE_COLOR_H_
#define ESTIMATOR_IMAGE_COLOR_H_

#include "absl/status/statusor.h"
#include "estimator/array/array.h"

namespace estimator::image {

struct ConvertImageDtypeOptions {
  // Clips integers to the range of the new dtype, where they wrap around by default. Floats are
  // always clipped. TensorFlow leaves them unspecified by default, and overflows for i64.
  bool saturate = false;
};

// Converts the dtype and scales the values from one range to the other. The range of floats is
// [0, 1], that of integers is [0, max].
//   floats to integers   x * (max + 0.5), rounded towards zero
//   integers to floats   x * (1 / max)
//   integers to integers x * s or floor(x / s), where s is the ratio of the ranges, a power of two
//   Returns `dtype`, the shape of `image`.
// Errors: INVALID_ARGUMENT unless both dtypes are integers or floats; also for f16 to i32 or i64,
//   whose scale f16 cannot hold.
// Source: TF 2.15 tf.image.convert_image_dtype.
absl::StatusOr<Array> ConvertImageDtype(const Array& image, DType dtype,
                                        ConvertImageDtypeOptions options = {});

// image + delta.
//   delta: in [0, 1) or (-1, 0] for the range [0, 1]; larger values saturate.
//   Returns the dtype and shape of `image`. Integers saturate.
// Source: TF 2.15 tf.image.adjust_brightness.
absl::StatusOr<Array> AdjustBrightness(const Array& image, float delta);

// (x - mean) * contrast_factor + mean, with the mean of each channel of each image.
//   images: [..., H,W,C].  Returns the same dtype and shape. Integers saturate.
// Source: TF 2.15 tf.image.adjust_contrast.
absl::StatusOr<Array> AdjustContrast(const Array& images, float contrast_factor);

// Multiplies the saturation of HSV by the factor and clips it to [0, 1].
//   image: RGB [..., H,W,3].  Returns the same dtype and shape.
// Source: TF 2.15 tf.image.adjust_saturation.
absl::StatusOr<Array> AdjustSaturation(const Array& image, float saturation_factor);

// Adds delta to the hue of HSV. A delta of 1 is a whole turn.
//   image: RGB [..., H,W,3].  delta: in [-1, 1].  Returns the same dtype and shape.
// Source: TF 2.15 tf.image.adjust_hue.
absl::StatusOr<Array> AdjustHue(const Array& image, float delta);

struct AdjustGammaOptions {
  float gamma = 1;  // above 1 the image becomes darker, below 1 brighter; at least 0
  float gain = 1;
};

// gain * image ** gamma.
//   Returns the dtype and shape of `image`. Integers saturate.
// Source: TF 2.15 tf.image.adjust_gamma.
absl::StatusOr<Array> AdjustGamma(const Array& image, AdjustGammaOptions options);

// 0.2989 R + 0.5870 G + 0.1140 B.
//   images: RGB [..., H,W,3].  Returns [..., H,W,1] of the same dtype.
// Source: TF 2.15 tf.image.rgb_to_grayscale.
absl::StatusOr<Array> RgbToGrayscale(const Array& images);

// Three equal channels.
//   images: [..., H,W,1].  Returns [..., H,W,3] of the same dtype.
// Source: TF 2.15 tf.image.grayscale_to_rgb.
absl::StatusOr<Array> GrayscaleToRgb(const Array& images);

// Hue, saturation and value, all in [0, 1], of colors in [0, 1].
//   images: f32 or f64 [..., 3].  Returns the same dtype and shape.
// Source: TF 2.15 tf.image.rgb_to_hsv, whose f16 and bf16 are not supported here.
absl::StatusOr<Array> RgbToHsv(const Array& images);
// The inverse of RgbToHsv.
// Source: TF 2.15 tf.image.hsv_to_rgb.
absl::StatusOr<Array> HsvToRgb(const Array& images);

// (x - mean) / max(stddev, 1 / sqrt(n)) of each image, where n is its number of values.
//   image: [..., H,W,C].  Returns f32, the same shape. Integers are not scaled to [0, 1] first.
// Source: TF 2.15 tf.image.per_image_standardization.
absl::StatusOr<Array> PerImageStandardization(const Array& image);

// Errors of all: INVALID_ARGUMENT if the rank, the number of channels or the dtype is another, or
// if an argument is outside of its range.

}  // namespace estimator::image

#endif  // ESTIMATOR_IMAGE_COLOR_H_
