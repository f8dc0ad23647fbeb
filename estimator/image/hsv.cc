#include "estimator/image/hsv.h"

#include <algorithm>
#include <cmath>

#include "estimator/base/status.h"
#include "estimator/image/color.h"
#include "estimator/image/image_shape.h"

namespace estimator::image {
namespace {

// The sector of a hue in [0, 6), or 6 for a hue outside of it and NaN.
int Sector(float hue) { return hue >= 0 && hue < 6 ? static_cast<int>(hue) : 6; }

// The arithmetic of the kernels RGBToHSV and HSVToRGB, which is not that of AdjustSaturation.
template <typename T>
void RgbToHsvPixel(const T* rgb, T* hsv) {
  const T r = rgb[0], g = rgb[1], b = rgb[2];
  const T value = std::max({r, g, b});
  const T range = value - std::min({r, g, b});
  const T norm = (T(1) / range) * (T(1) / T(6));
  T hue = 0;
  if (range > 0) {
    hue = r == value   ? norm * (g - b)
          : g == value ? norm * (b - r) + T(2) / T(6)
                       : norm * (r - g) + T(4) / T(6);
    if (hue < 0) hue += 1;
  }
  hsv[0] = hue;
  hsv[1] = value > 0 ? range / value : 0;
  hsv[2] = value;
}

template <typename T>
void HsvToRgbPixel(const T* hsv, T* rgb) {
  const auto clip = [](T x) { return std::min(std::max(x, T(0)), T(1)); };
  const T hue = hsv[0] * T(6), s = hsv[1], v = hsv[2];
  const T one_s = -s + T(1);
  rgb[0] = (one_s + s * clip(std::abs(hue - T(3)) - T(1))) * v;
  rgb[1] = (one_s + s * clip(-std::abs(hue - T(2)) + T(2))) * v;
  rgb[2] = (one_s + s * clip(-std::abs(hue - T(4)) + T(2))) * v;
}

// Calls fn(in, out) with the pixels of f32 or f64 images.
template <typename Fn>
absl::StatusOr<Array> MapFloatPixels(absl::string_view function, const Array& images, Fn fn) {
  if (images.dtype() != DType::kFloat32 && images.dtype() != DType::kFloat64) {
    return InvalidArgument(function, ": images must be float32 or float64, got ",
                           images.valid() ? images.TypeString() : "an empty Array",
                           "; convert them with ConvertImageDtype");
  }
  if (images.shape().rank() < 1) {
    return InvalidArgument(function, ": images must be [...,3], got ", images.TypeString());
  }
  EST_RETURN_IF_ERROR(
      CheckChannels(function, images, 3, "GrayscaleToRgb converts images of 1 channel"));
  Array result(images.dtype(), images.shape());
  const auto run = [&](auto tag) {
    using T = decltype(tag);
    const T* in = images.data<T>();
    T* out = result.data<T>();
    const T* const end = in + images.num_elements();
    for (; in != end; in += 3, out += 3) fn(in, out);
  };
  if (images.dtype() == DType::kFloat32) {
    run(float{});
  } else {
    run(double{});
  }
  return result;
}

}  // namespace

void ScaleSaturation(float* rgb, float factor) {
  const float r = rgb[0], g = rgb[1], b = rgb[2];
  const float value = std::max(r, std::max(g, b));
  const float range = value - std::min(r, std::min(g, b));
  const float norm = 1.0f / (6.0f * range);
  float hue = 0;
  if (range > 0) {
    // The thirds are added in double, as in TensorFlow.
    hue = r == value   ? norm * (g - b)
          : g == value ? static_cast<float>(norm * (b - r) + 2.0 / 6.0)
                       : static_cast<float>(norm * (r - g) + 4.0 / 6.0);
  }
  if (hue < 0) hue += 1;
  const float saturation = value > 0 ? range / value : 0;
  const float c = std::min(1.0f, std::max(0.0f, saturation * factor)) * value;
  const float m = value - c;
  const float sixths = hue * 6;
  const int sector = Sector(sixths);
  float in_pair = sixths;  // the position within a pair of sectors, in [0, 2)
  if (sector < 6) {
    while (in_pair >= 2) in_pair -= 2;
  }
  const float x = c * (1 - std::abs(in_pair - 1));
  constexpr int kC = 0, kX = 1, kZero = 2;
  constexpr int kParts[7][3] = {{kC, kX, kZero},      {kX, kC, kZero}, {kZero, kC, kX},
                                {kZero, kX, kC},      {kX, kZero, kC}, {kC, kZero, kX},
                                {kZero, kZero, kZero}};
  const float parts[3] = {c, x, 0};
  for (int i = 0; i < 3; ++i) rgb[i] = parts[kParts[sector][i]] + m;
}

void ShiftHue(float* rgb, float delta) {
  const float r = rgb[0], g = rgb[1], b = rgb[2];
  // The positions of the largest and the smallest channel give the sector of the hue. If channels
  // are equal, TensorFlow's order of comparisons decides.
  const bool ascends = r < g;
  const float small = ascends ? r : g, large = ascends ? g : r;
  const float low = std::min(small, b), high = std::max(large, b);
  float middle = b;
  int sector = ascends ? 2 : 5;
  if (b < small) {
    middle = small;
    sector = ascends ? 1 : 0;
  } else if (b > large) {
    middle = large;
    sector = ascends ? 3 : 4;
  }
  float hue = 0;
  if (high != low) {
    const float ratio = (middle - low) / (high - low);
    hue = static_cast<float>(sector) + (sector % 2 == 0 ? ratio : 1 - ratio);
  }
  hue += delta * 6;
  while (hue < 0) hue += 6;
  while (hue >= 6) hue -= 6;
  // TensorFlow takes a hue that is not in [0, 6) as one of the last sector.
  sector = std::min(Sector(hue), 5);
  float ratio = hue - static_cast<float>(sector);
  if (sector % 2 == 1) ratio = 1 - ratio;
  middle = low + ratio * (high - low);
  constexpr int kLow = 0, kMiddle = 1, kHigh = 2;
  constexpr int kParts[6][3] = {{kHigh, kMiddle, kLow}, {kMiddle, kHigh, kLow},
                                {kLow, kHigh, kMiddle}, {kLow, kMiddle, kHigh},
                                {kMiddle, kLow, kHigh}, {kHigh, kLow, kMiddle}};
  const float parts[3] = {low, middle, high};
  for (int i = 0; i < 3; ++i) rgb[i] = parts[kParts[sector][i]];
}

absl::StatusOr<Array> RgbToHsv(const Array& images) {
  return MapFloatPixels("RgbToHsv", images,
                        [](const auto* rgb, auto* hsv) { RgbToHsvPixel(rgb, hsv); });
}

absl::StatusOr<Array> HsvToRgb(const Array& images) {
  return MapFloatPixels("HsvToRgb", images,
                        [](const auto* hsv, auto* rgb) { HsvToRgbPixel(hsv, rgb); });
}

}  // namespace estimator::image
