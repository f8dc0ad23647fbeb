#include "estimator/image/convert_dtype.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace estimator::image {
namespace {

template <typename T>
constexpr bool kIsFloat = std::is_same_v<T, float> || std::is_same_v<T, double> ||
                          std::is_same_v<T, Float16> || std::is_same_v<T, Bfloat16>;

// The type that TensorFlow computes T in. The 16-bit floats are rounded after each operation.
template <typename T>
using Wide = std::conditional_t<std::is_same_v<T, double>, double, float>;

template <typename T>
constexpr int kMantissaBits = std::is_same_v<T, Bfloat16>  ? 8
                              : std::is_same_v<T, Float16> ? 11
                                                           : std::numeric_limits<T>::digits;

// f32 to integers that f32 holds exactly, in a loop that vectorises. Clips to the range of Out.
template <typename Out>
void FloatsToSmallIntegers(const float* __restrict in, int64_t n, Out* __restrict out) {
  constexpr float kLow = std::numeric_limits<Out>::min(), kHigh = std::numeric_limits<Out>::max();
  constexpr float kScale = kHigh + 0.5f;
  for (int64_t i = 0; i < n; ++i) {
    float value = in[i] * kScale;
    value = value == value ? value : 0;  // NaN
    value = value > kLow ? value : kLow;
    value = value < kHigh ? value : kHigh;
    out[i] = static_cast<Out>(static_cast<int32_t>(value));
  }
}

template <typename In, typename Out>
void FloatsToIntegers(const Array& image, bool saturate, Array* result) {
  using W = Wide<In>;
  using Limits = std::numeric_limits<Out>;
  const int64_t n = image.num_elements();
  if constexpr (std::is_same_v<In, float> && sizeof(Out) <= 2) {
    return FloatsToSmallIntegers(image.data<In>(), n, result->data<Out>());
  }
  const W scale = static_cast<W>(In(static_cast<W>(static_cast<double>(Limits::max()) + 0.5)));
  Array scaled(image.dtype(), image.shape());
  // The largest value that In can hold and Out as well.
  W high = static_cast<W>(In(static_cast<W>(Limits::max())));
  if (static_cast<double>(high) >= std::ldexp(1.0, Limits::digits)) {
    // It was rounded up to a power of two. This is the number before it.
    high = static_cast<W>(static_cast<double>(high) * (1 - std::ldexp(1.0, -kMantissaBits<In>)));
  }
  const W low = static_cast<W>(Limits::min());
  const In* in = image.data<In>();
  In* out = scaled.data<In>();
  for (int64_t i = 0; i < n; ++i) {
    W value = static_cast<W>(In(static_cast<W>(in[i]) * scale));
    if (saturate) value = std::max(std::min(value, high), low);
    out[i] = In(value);
  }
  *result = scaled.Cast(kDTypeOf<Out>);  // clips as well
}

template <typename In, typename Out>
void IntegersToFloats(const Array& image, Array* result) {
  using W = Wide<Out>;
  const W scale = static_cast<W>(
      Out(static_cast<W>(1.0 / static_cast<double>(std::numeric_limits<In>::max()))));
  const In* in = image.data<In>();
  Out* out = result->data<Out>();
  const int64_t n = image.num_elements();
  for (int64_t i = 0; i < n; ++i) {
    out[i] = Out(static_cast<W>(Out(static_cast<W>(in[i]))) * scale);
  }
}

template <typename In, typename Out>
void IntegersToIntegers(const Array& image, bool saturate, Array* result) {
  constexpr int kBits = std::numeric_limits<In>::digits - std::numeric_limits<Out>::digits;
  const In* in = image.data<In>();
  Out* out = result->data<Out>();
  const auto cast = [saturate](In value) {
    if (saturate) {
      const int64_t low = std::numeric_limits<Out>::min(), high = std::numeric_limits<Out>::max();
      return static_cast<Out>(std::clamp<int64_t>(value, low, high));
    }
    return static_cast<Out>(value);
  };
  const int64_t n = image.num_elements();
  for (int64_t i = 0; i < n; ++i) {
    if constexpr (kBits > 0) {
      out[i] = cast(static_cast<In>(in[i] >> kBits));  // rounds down
    } else {
      // Unsigned: products wrap around.
      out[i] = static_cast<Out>(static_cast<uint64_t>(cast(in[i])) << -kBits);
    }
  }
}

// Calls fn with the C++ type of an integer or a float.
template <typename Fn>
void VisitImageDtype(DType dtype, Fn fn) {
  VisitNumeric(dtype, [&](auto tag) {
    if constexpr (!std::is_same_v<decltype(tag), bool>) fn(tag);
  });
}

}  // namespace

Array ConvertNumbers(const Array& image, DType dtype, bool saturate) {
  if (image.dtype() == dtype) return image;
  if (IsFloating(image.dtype()) && IsFloating(dtype)) return image.Cast(dtype);
  Array result(dtype, image.shape());
  VisitImageDtype(image.dtype(), [&](auto from) {
    VisitImageDtype(dtype, [&](auto to) {
      using In = decltype(from);
      using Out = decltype(to);
      if constexpr (kIsFloat<In> && !kIsFloat<Out>) {
        FloatsToIntegers<In, Out>(image, saturate, &result);
      } else if constexpr (!kIsFloat<In> && kIsFloat<Out>) {
        IntegersToFloats<In, Out>(image, &result);
      } else if constexpr (!kIsFloat<In> && !kIsFloat<Out>) {
        IntegersToIntegers<In, Out>(image, saturate, &result);
      }
    });
  });
  return result;
}

}  // namespace estimator::image
