#include "estimator/image/color.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "estimator/base/status.h"
#include "estimator/image/convert_dtype.h"
#include "estimator/image/hsv.h"
#include "estimator/image/image_shape.h"

namespace estimator::image {
namespace {

// The images in f32, changed by fn(values, n), and in their dtype again. f16 is not scaled.
template <typename Fn>
absl::StatusOr<Array> ChangeInFloat32(const Array& images, bool saturate, Fn fn) {
  if (images.dtype() == DType::kFloat16) {
    Array floats = images.Cast(DType::kFloat32);
    fn(floats.data<float>(), floats.num_elements());
    return floats.Cast(DType::kFloat16);
  }
  // A copy, unless the conversion has made one.
  Array floats = images.dtype() == DType::kFloat32
                     ? images.Clone()
                     : ConvertNumbers(images, DType::kFloat32, /*saturate=*/false);
  fn(floats.data<float>(), floats.num_elements());
  return ConvertNumbers(floats, images.dtype(), saturate);
}

// The same for a function fn of one value. An image of u8 has 256 values at most.
template <typename Fn>
absl::StatusOr<Array> ChangeValues(const Array& images, Fn fn) {
  const auto change = [&](float* values, int64_t n) {
    for (int64_t i = 0; i < n; ++i) values[i] = fn(values[i]);
  };
  if (images.dtype() != DType::kUint8) return ChangeInFloat32(images, /*saturate=*/true, change);
  Array all(DType::kUint8, {256});
  std::iota(all.data<uint8_t>(), all.data<uint8_t>() + 256, uint8_t{0});
  EST_ASSIGN_OR_RETURN(const Array table, ChangeInFloat32(all, /*saturate=*/true, change));
  Array result(DType::kUint8, images.shape());
  const auto in = images.values<uint8_t>();
  std::transform(in.begin(), in.end(), result.data<uint8_t>(),
                 [entries = table.data<uint8_t>()](uint8_t value) { return entries[value]; });
  return result;
}

absl::Status CheckRgb(absl::string_view function, const Array& images) {
  EST_RETURN_IF_ERROR(AnyImageShape(function, images).status());
  return CheckChannels(function, images, 3, "GrayscaleToRgb converts images of 1 channel");
}

absl::Status CheckFinite(absl::string_view function, absl::string_view argument, float value) {
  if (std::isfinite(value)) return absl::OkStatus();
  return InvalidArgument(function, ": ", argument, " must be finite, got ", value);
}

void AddTo(float* __restrict sums, const float* __restrict values, int64_t n) {
  for (int64_t i = 0; i < n; ++i) sums[i] += values[i];
}

// The sums of the channels. TensorFlow adds the second half of the pixels to the first half until
// one pixel is left, so this does, too.
std::vector<float> ChannelSums(const float* image, int64_t num_pixels, int64_t channels) {
  int64_t remaining = (num_pixels + 1) / 2;
  std::vector<float> sums(image, image + remaining * channels);
  AddTo(sums.data(), image + remaining * channels, (num_pixels - remaining) * channels);
  while (remaining > 1) {
    const int64_t left = (remaining + 1) / 2;
    AddTo(sums.data(), sums.data() + left * channels, (remaining - left) * channels);
    remaining = left;
  }
  sums.resize(static_cast<size_t>(channels));
  return sums;
}

void AdjustContrastOfRow(float* __restrict row, const float* __restrict means, int64_t n,
                         float factor) {
  for (int64_t i = 0; i < n; ++i) row[i] = means[i] + factor * (row[i] - means[i]);
}

void AdjustContrastOfImage(float* image, const ImageShape& shape, float factor) {
  const int64_t num_pixels = shape.height * shape.width;
  const std::vector<float> sums = ChannelSums(image, num_pixels, shape.channels);
  const float scale = 1.0f / static_cast<float>(num_pixels);
  std::vector<float> means;  // of every element of a row
  for (int64_t x = 0; x < shape.width; ++x) {
    for (const float sum : sums) means.push_back(sum * scale);
  }
  for (int64_t y = 0; y < shape.height; ++y) {
    AdjustContrastOfRow(image + y * shape.row_size(), means.data(), shape.row_size(), factor);
  }
}

}  // namespace

absl::StatusOr<Array> ConvertImageDtype(const Array& image, DType dtype,
                                        ConvertImageDtypeOptions options) {
  const auto is_number = [](DType d) { return IsFloating(d) || IsInteger(d); };
  if (!is_number(image.dtype()) || !is_number(dtype)) {
    return InvalidArgument("ConvertImageDtype: both dtypes must be integers or floats, got ",
                           image.TypeString(), " and ", DTypeName(dtype),
                           "; convert bools and strings first");
  }
  if (image.dtype() == DType::kFloat16 && (dtype == DType::kInt32 || dtype == DType::kInt64)) {
    return InvalidArgument("ConvertImageDtype: f16 cannot hold the largest ", DTypeName(dtype),
                           ", got ", image.TypeString(), "; convert to float32 first");
  }
  return ConvertNumbers(image, dtype, options.saturate);
}

absl::StatusOr<Array> AdjustBrightness(const Array& image, float delta) {
  EST_RETURN_IF_ERROR(AnyImageShape("AdjustBrightness", image).status());
  EST_RETURN_IF_ERROR(CheckFinite("AdjustBrightness", "delta", delta));
  if (image.dtype() == DType::kFloat16) delta = Float16(delta);
  return ChangeValues(image, [delta](float x) { return x + delta; });
}

absl::StatusOr<Array> AdjustContrast(const Array& images, float contrast_factor) {
  EST_ASSIGN_OR_RETURN(const ImageShape shape, AnyImageShape("AdjustContrast", images));
  EST_RETURN_IF_ERROR(CheckFinite("AdjustContrast", "contrast_factor", contrast_factor));
  return ChangeInFloat32(images, /*saturate=*/true, [&](float* x, int64_t n) {
    if (n == 0) return;
    for (int64_t b = 0; b < shape.batch; ++b) {
      AdjustContrastOfImage(x + b * shape.image_size(), shape, contrast_factor);
    }
  });
}

absl::StatusOr<Array> AdjustSaturation(const Array& image, float saturation_factor) {
  EST_RETURN_IF_ERROR(CheckRgb("AdjustSaturation", image));
  EST_RETURN_IF_ERROR(CheckFinite("AdjustSaturation", "saturation_factor", saturation_factor));
  return ChangeInFloat32(image, /*saturate=*/false, [&](float* x, int64_t n) {
    for (int64_t i = 0; i < n; i += 3) ScaleSaturation(x + i, saturation_factor);
  });
}

absl::StatusOr<Array> AdjustHue(const Array& image, float delta) {
  EST_RETURN_IF_ERROR(CheckRgb("AdjustHue", image));
  if (!(delta >= -1 && delta <= 1)) {
    return InvalidArgument("AdjustHue: delta must be in [-1, 1], got ", delta,
                           "; 1 is a whole turn of the hue");
  }
  return ChangeInFloat32(image, /*saturate=*/false, [&](float* x, int64_t n) {
    for (int64_t i = 0; i < n; i += 3) ShiftHue(x + i, delta);
  });
}

absl::StatusOr<Array> AdjustGamma(const Array& image, AdjustGammaOptions options) {
  EST_RETURN_IF_ERROR(AnyImageShape("AdjustGamma", image).status());
  EST_RETURN_IF_ERROR(CheckFinite("AdjustGamma", "gamma", options.gamma));
  EST_RETURN_IF_ERROR(CheckFinite("AdjustGamma", "gain", options.gain));
  if (options.gamma < 0) {
    return InvalidArgument("AdjustGamma: gamma must be at least 0, got ", options.gamma);
  }
  return ChangeValues(image,
                      [options](float x) { return options.gain * std::pow(x, options.gamma); });
}

absl::StatusOr<Array> RgbToGrayscale(const Array& images) {
  EST_RETURN_IF_ERROR(AnyImageShape("RgbToGrayscale", images).status());
  EST_RETURN_IF_ERROR(
      CheckChannels("RgbToGrayscale", images, 3, "images of 1 channel are gray already"));
  const Array rgb = ConvertNumbers(images, DType::kFloat32, /*saturate=*/false);
  Shape shape = images.shape();
  shape.set_dim(-1, 1);
  Array gray(DType::kFloat32, shape);
  const float* in = rgb.data<float>();
  for (float& out : gray.values<float>()) {
    out = in[0] * 0.2989f + in[1] * 0.5870f + in[2] * 0.1140f;
    in += 3;
  }
  return ConvertNumbers(gray, images.dtype(), /*saturate=*/false);
}

absl::StatusOr<Array> GrayscaleToRgb(const Array& images) {
  EST_RETURN_IF_ERROR(AnyImageShape("GrayscaleToRgb", images).status());
  EST_RETURN_IF_ERROR(CheckChannels("GrayscaleToRgb", images, 1, "take one channel, as R"));
  Shape shape = images.shape();
  shape.set_dim(-1, 3);
  Array rgb(images.dtype(), shape);
  VisitNumeric(images.dtype(), [&](auto tag) {
    auto* out = rgb.data<decltype(tag)>();
    for (const auto gray : images.values<decltype(tag)>()) out = std::fill_n(out, 3, gray);
  });
  return rgb;
}

absl::StatusOr<Array> PerImageStandardization(const Array& image) {
  EST_ASSIGN_OR_RETURN(const ImageShape shape, AnyImageShape("PerImageStandardization", image));
  const Array in = image.Cast(DType::kFloat32);
  Array result(DType::kFloat32, image.shape());
  const int64_t n = shape.image_size();
  if (n == 0) return result;
  for (int64_t b = 0; b < shape.batch; ++b) {
    const float* x = in.data<float>() + b * n;
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < n; ++i) sum += x[i];
    const float mean = static_cast<float>(sum / static_cast<double>(n));
    for (int64_t i = 0; i < n; ++i) squares += static_cast<double>(x[i] - mean) * (x[i] - mean);
    const float deviation = static_cast<float>(std::sqrt(squares / static_cast<double>(n)));
    const float least = 1 / std::sqrt(static_cast<float>(n));
    const float divisor = std::max(deviation, least);
    float* out = result.data<float>() + b * n;
    for (int64_t i = 0; i < n; ++i) out[i] = (x[i] - mean) / divisor;
  }
  return result;
}

}  // namespace estimator::image
