// Bicubic interpolation: along y in all columns, then along x. The weights are rounded to multiples
// of 1/1024 of a pixel, as in TensorFlow.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "estimator/image/pixel_vector.h"
#include "estimator/image/resize/resample.h"

namespace estimator::image {
namespace {

constexpr int64_t kTableSize = 1024;

// The cubic convolution kernel with parameter a: near[i] at distance i / 1024, far[i] one pixel
// farther.
struct CubicTable {
  explicit CubicTable(double a) {
    for (size_t i = 0; i <= kTableSize; ++i) {
      float x = static_cast<float>(static_cast<double>(i) / kTableSize);
      near[i] = static_cast<float>(((a + 2) * x - (a + 3)) * x * x + 1);
      x += 1;
      far[i] = static_cast<float>(((a * x - 5 * a) * x + 8 * a) * x - 4 * a);
    }
  }
  std::array<float, kTableSize + 1> near, far;
};

// Four positions of the input and their weights. The positions are multiplied by `stride`.
struct CubicPoint {
  int64_t index[4];
  float weight[4];
};

std::vector<CubicPoint> CubicPoints(int64_t in_size, int64_t out_size, const Resampling& resampling,
                                    int64_t stride) {
  static const CubicTable* const keys = new CubicTable(-0.5f);
  static const CubicTable* const legacy = new CubicTable(-0.75f);
  const CubicTable& table = resampling.half_pixel_centers ? *keys : *legacy;
  const float scale = ResizeScale(in_size, out_size, resampling.align_corners);
  std::vector<CubicPoint> points(static_cast<size_t>(out_size));
  for (int64_t i = 0; i < out_size; ++i) {
    const float in = InputCoordinate(i, scale, resampling.half_pixel_centers);
    const int64_t first = static_cast<int64_t>(std::floor(in));
    const float delta = in - static_cast<float>(first);
    const size_t offset = static_cast<size_t>(std::lrint(delta * kTableSize));
    CubicPoint& point = points[static_cast<size_t>(i)];
    const float weights[4] = {table.far[offset], table.near[offset],
                              table.near[kTableSize - offset], table.far[kTableSize - offset]};
    for (int k = 0; k < 4; ++k) {
      const int64_t index = first - 1 + k;
      const int64_t bounded = std::clamp<int64_t>(index, 0, in_size - 1);
      point.index[k] = bounded * stride;
      // With half pixel centers, pixels outside of the image do not count.
      point.weight[k] = resampling.half_pixel_centers && index != bounded ? 0 : weights[k];
    }
    if (!resampling.half_pixel_centers) continue;
    const float sum = point.weight[0] + point.weight[1] + point.weight[2] + point.weight[3];
    if (std::abs(sum) >= 1000 * std::numeric_limits<float>::min()) {
      const float one_over_sum = 1 / sum;
      for (float& weight : point.weight) weight *= one_over_sum;
    }
  }
  return points;
}

template <typename T>
void CombineRows(const T* __restrict r0, const T* __restrict r1, const T* __restrict r2,
                 const T* __restrict r3, const float (&w)[4], int64_t n, float* __restrict out) {
  for (int64_t i = 0; i < n; ++i) {
    out[i] = static_cast<float>(r0[i]) * w[0] + static_cast<float>(r1[i]) * w[1] +
             static_cast<float>(r2[i]) * w[2] + static_cast<float>(r3[i]) * w[3];
  }
}

void CombineColumns(const float* row, const std::vector<CubicPoint>& xs, int64_t channels,
                    float* out) {
  if (UsesPixelVectors(channels)) {
    for (const CubicPoint& x : xs) {
      const Float4 sum = LoadPixel(row + x.index[0]) * SetPixel(x.weight[0]) +
                         LoadPixel(row + x.index[1]) * SetPixel(x.weight[1]) +
                         LoadPixel(row + x.index[2]) * SetPixel(x.weight[2]) +
                         LoadPixel(row + x.index[3]) * SetPixel(x.weight[3]);
      StorePixel(sum, out);
      out += channels;
    }
    return;
  }
  for (const CubicPoint& x : xs) {
    for (int64_t c = 0; c < channels; ++c) {
      *out++ = row[x.index[0] + c] * x.weight[0] + row[x.index[1] + c] * x.weight[1] +
               row[x.index[2] + c] * x.weight[2] + row[x.index[3] + c] * x.weight[3];
    }
  }
}

}  // namespace

template <typename T>
void ResampleBicubic(const T* images, const Resampling& resampling, RowSink* sink) {
  const ImageShape& in = resampling.in;
  const std::vector<CubicPoint> xs =
      CubicPoints(in.width, resampling.out.width, resampling, in.channels);
  const std::vector<CubicPoint> ys =
      CubicPoints(in.height, resampling.out.height, resampling, in.row_size());
  std::vector<float> row(static_cast<size_t>(in.row_size() + 3));
  for (int64_t b = 0; b < in.batch; ++b, images += in.image_size()) {
    for (const CubicPoint& y : ys) {
      CombineRows(images + y.index[0], images + y.index[1], images + y.index[2],
                  images + y.index[3], y.weight, in.row_size(), row.data());
      CombineColumns(row.data(), xs, in.channels, sink->Next());
      sink->Done();
    }
  }
}

template void ResampleBicubic(const uint8_t*, const Resampling&, RowSink*);
template void ResampleBicubic(const float*, const Resampling&, RowSink*);

}  // namespace estimator::image
