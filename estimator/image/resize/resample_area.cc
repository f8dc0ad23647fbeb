// The mean over the area that an output pixel covers in the input. Pixels at its border count by
// the fraction that it covers.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "estimator/image/pixel_vector.h"
#include "estimator/image/resize/resample.h"

namespace estimator::image {
namespace {

// The input positions [first, last] that an output position covers, with the fractions of the ends.
// They are multiplied by `stride` and at most `max`, the last position of the input.
struct Interval {
  int64_t first = 0;
  int64_t last = 0;
  float first_scale = 0;
  float last_scale = 0;
};

// The fraction of [v, v + 1] within [begin, end].
float Fraction(int64_t v, float begin, float end, float scale) {
  const float left = static_cast<float>(v), right = static_cast<float>(v + 1);
  if (left < begin) return right > end ? scale : right - begin;
  return right > end ? end - left : 1;
}

std::vector<Interval> Intervals(int64_t out_size, float scale) {
  std::vector<Interval> intervals(static_cast<size_t>(out_size));
  for (int64_t i = 0; i < out_size; ++i) {
    const float begin = static_cast<float>(i) * scale;
    const float end = static_cast<float>(i + 1) * scale;
    Interval& interval = intervals[static_cast<size_t>(i)];
    interval.first = static_cast<int64_t>(std::floor(begin));
    interval.last = std::max<int64_t>(interval.first, static_cast<int64_t>(std::ceil(end)) - 1);
    interval.first_scale = Fraction(interval.first, begin, end, scale);
    interval.last_scale = Fraction(interval.last, begin, end, scale);
  }
  return intervals;
}

// The sum of a row over the interval, in one channel or in four: Load reads from the pixel's
// address, and Scale is a product with a float.
template <typename T, typename Load, typename Scale>
auto SumAlongX(const T* row, const Interval& x, int64_t max, int64_t channels, Load load,
               Scale scale) {
  const auto at = [&](int64_t v) { return load(row + std::min(v, max) * channels); };
  auto sum = scale(at(x.first), x.first_scale);
  if (x.first == x.last) return sum;
  for (int64_t v = x.first + 1; v < x.last; ++v) sum = sum + at(v);
  return sum + scale(at(x.last), x.last_scale);
}

// The rows that an output row covers, with their fractions.
template <typename T>
struct Band {
  std::vector<const T*> rows;
  std::vector<float> scales;
};

template <typename T>
void SumBand(const Band<T>& band, const std::vector<Interval>& xs, int64_t max, int64_t channels,
             float scale, float* out) {
  if (UsesPixelVectors(channels)) {
    const auto load = [](const T* pixel) { return LoadPixel(pixel); };
    const auto times = [](Float4 a, float b) { return a * SetPixel(b); };
    for (const Interval& x : xs) {
      Float4 sum = SetPixel(0);
      for (size_t i = 0; i < band.rows.size(); ++i) {
        sum = sum + times(SumAlongX(band.rows[i], x, max, channels, load, times), band.scales[i]);
      }
      StorePixel(times(sum, scale), out);
      out += channels;
    }
    return;
  }
  const auto load = [](const T* pixel) { return static_cast<float>(*pixel); };
  const auto times = [](float a, float b) { return a * b; };
  for (const Interval& x : xs) {
    for (int64_t c = 0; c < channels; ++c) {
      float sum = 0;
      for (size_t i = 0; i < band.rows.size(); ++i) {
        sum += SumAlongX(band.rows[i] + c, x, max, channels, load, times) * band.scales[i];
      }
      *out++ = sum * scale;
    }
  }
}

}  // namespace

template <typename T>
void ResampleArea(const T* images, const Resampling& resampling, RowSink* sink) {
  const ImageShape& in = resampling.in;
  const ImageSize& out = resampling.out;
  const float height_scale = ResizeScale(in.height, out.height, resampling.align_corners);
  const float width_scale = ResizeScale(in.width, out.width, resampling.align_corners);
  const float scale = static_cast<float>(1.0 / (height_scale * width_scale));
  const std::vector<Interval> xs = Intervals(out.width, width_scale);
  const std::vector<Interval> ys = Intervals(out.height, height_scale);
  const PaddedRows<T> rows(images, in.batch * in.height, in.row_size());
  Band<T> band;
  for (int64_t b = 0; b < in.batch; ++b) {
    for (int64_t y = 0; y < out.height; ++y) {
      const Interval& interval = ys[static_cast<size_t>(y)];
      const float begin = static_cast<float>(y) * height_scale;
      const float end = static_cast<float>(y + 1) * height_scale;
      band.rows.clear();
      band.scales.clear();
      for (int64_t row = interval.first; row <= interval.last; ++row) {
        band.rows.push_back(rows.Row(b * in.height + std::min(row, in.height - 1)));
        band.scales.push_back(Fraction(row, begin, end, height_scale));
      }
      SumBand(band, xs, in.width - 1, in.channels, scale, sink->Next());
      sink->Done();
    }
  }
}

template void ResampleArea(const uint8_t*, const Resampling&, RowSink*);
template void ResampleArea(const float*, const Resampling&, RowSink*);

}  // namespace estimator::image
