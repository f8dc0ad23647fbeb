// Bilinear interpolation: along x in the two nearest rows, then between the rows.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "estimator/image/pixel_vector.h"
#include "estimator/image/resample.h"

namespace estimator::image {
namespace {

// Between which two positions of the input an output position is. They are multiplied by `stride`.
struct LinearPoint {
  int64_t lower = 0;
  int64_t upper = 0;
  float lerp = 0;
};

std::vector<LinearPoint> LinearPoints(int64_t in_size, int64_t out_size,
                                      const Resampling& resampling, int64_t stride) {
  const float scale = ResizeScale(in_size, out_size, resampling.align_corners);
  std::vector<LinearPoint> points(static_cast<size_t>(out_size));
  for (int64_t i = 0; i < out_size; ++i) {
    const float in = InputCoordinate(i, scale, resampling.half_pixel_centers);
    const float floor = std::floor(in);
    LinearPoint& point = points[static_cast<size_t>(i)];
    // Rounding of `scale` may lead past the last pixel, where TensorFlow reads outside of the row.
    point.lower = std::clamp<int64_t>(static_cast<int64_t>(floor), 0, in_size - 1) * stride;
    point.upper = std::clamp<int64_t>(static_cast<int64_t>(std::ceil(in)), 0, in_size - 1) * stride;
    point.lerp = in - floor;
  }
  return points;
}

template <typename T>
void LerpAlongX(const T* row, const std::vector<LinearPoint>& xs, int64_t channels, float* out) {
  if (UsesPixelVectors(channels)) {
    for (const LinearPoint& x : xs) {
      const Float4 left = LoadPixel(row + x.lower);
      const Float4 right = LoadPixel(row + x.upper);
      StorePixel(left + (right - left) * SetPixel(x.lerp), out);
      out += channels;
    }
    return;
  }
  for (const LinearPoint& x : xs) {
    for (int64_t c = 0; c < channels; ++c) {
      const float left = static_cast<float>(row[x.lower + c]);
      const float right = static_cast<float>(row[x.upper + c]);
      *out++ = left + (right - left) * x.lerp;
    }
  }
}

void LerpRows(const float* __restrict top, const float* __restrict bottom, float lerp, int64_t n,
              float* __restrict out) {
  for (int64_t i = 0; i < n; ++i) out[i] = top[i] + (bottom[i] - top[i]) * lerp;
}

// The interpolated rows that are in use. Neighboring output rows often need the same ones.
template <typename T>
class LerpedRows {
 public:
  LerpedRows(const T* images, const Resampling& resampling)
      : rows_(images, resampling.in.batch * resampling.in.height, resampling.in.row_size()),
        xs_(LinearPoints(resampling.in.width, resampling.out.width, resampling,
                         resampling.in.channels)),
        channels_(resampling.in.channels) {
    for (Slot& slot : slots_) slot.values.resize(xs_.size() * static_cast<size_t>(channels_) + 3);
  }

  // `keep`: a row whose values must stay valid.
  const float* Row(int64_t row, int64_t keep) {
    for (const Slot& slot : slots_) {
      if (slot.row == row) return slot.values.data();
    }
    Slot& slot = slots_[slots_[0].row == keep ? 1 : 0];
    LerpAlongX(rows_.Row(row), xs_, channels_, slot.values.data());
    slot.row = row;
    return slot.values.data();
  }

 private:
  struct Slot {
    int64_t row = -1;
    std::vector<float> values;
  };
  PaddedRows<T> rows_;
  std::vector<LinearPoint> xs_;
  int64_t channels_;
  Slot slots_[2];
};

}  // namespace

template <typename T>
void ResampleBilinear(const T* images, const Resampling& resampling, RowSink* sink) {
  const ImageShape& in = resampling.in;
  const int64_t row_size = resampling.out.width * in.channels;
  const std::vector<LinearPoint> ys =
      LinearPoints(in.height, resampling.out.height, resampling, /*stride=*/1);
  LerpedRows<T> rows(images, resampling);
  for (int64_t b = 0; b < in.batch; ++b) {
    for (const LinearPoint& y : ys) {
      const int64_t lower = b * in.height + y.lower, upper = b * in.height + y.upper;
      const float* top = rows.Row(lower, upper);
      const float* bottom = rows.Row(upper, lower);
      LerpRows(top, bottom, y.lerp, row_size, sink->Next());
      sink->Done();
    }
  }
}

template void ResampleBilinear(const uint8_t*, const Resampling&, RowSink*);
template void ResampleBilinear(const float*, const Resampling&, RowSink*);

}  // namespace estimator::image
