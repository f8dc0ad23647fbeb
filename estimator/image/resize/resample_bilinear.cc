// Bilinear interpolation: along x in the two nearest rows, then between the rows.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <vector>

#include "estimator/image/pixel_vector.h"
#include "estimator/image/resize/resample.h"

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

// LinearPoints of rows of u8 pixels of 3 or 4 channels: where two neighboring pixels begin, and the
// weight of the second one, once for each lane. The pixels are the same numbers in f32, so that
// weights of 0 and 1 give a pixel exactly.
class NeighborPoints {
 public:
  // REQUIRES: in_width >= 2.
  NeighborPoints(const std::vector<LinearPoint>& points, int64_t in_width, int64_t channels)
      : channels_(channels) {
    const int64_t last = (in_width - 2) * channels;
    for (const LinearPoint& point : points) {
      begins_.push_back(std::min(point.lower, last));
      const float lerp = point.lower != point.upper ? point.lerp : point.lower > last ? 1.f : 0.f;
      lerps_.insert(lerps_.end(), kLanes, lerp);
    }
    if (points.size() % 2 != 0) {  // Lerp computes two points at a time
      begins_.push_back(0);
      lerps_.insert(lerps_.end(), kLanes, 0.f);
    }
  }

  // Reads up to 2 elements after the row, and writes up to 4 after the last point.
  void Lerp(const uint8_t* row, float* out) const {
    const hn::FixedTag<uint8_t, 16> d8;
    const hn::FixedTag<uint8_t, 8> d8_half;
    const hn::FixedTag<int32_t, 8> d32;
    const hn::FixedTag<float, 8> d;
    const auto floats = [&](auto bytes) {
      return hn::ConvertTo(d, hn::PromoteTo(d32, hn::LowerHalf(d8_half, bytes)));
    };
    alignas(16) static constexpr uint8_t kFirst[16] = {0, 1, 2, 3, 8, 9, 10, 11};
    const auto first = hn::Load(d8, kFirst);
    const auto second = hn::Add(first, hn::Set(d8, static_cast<uint8_t>(channels_)));
    const float* lerps = lerps_.data();
    for (size_t i = 0; i < begins_.size(); i += 2, lerps += 2 * kLanes, out += 2 * channels_) {
      const auto pixels = hn::Combine(d8, hn::LoadU(d8_half, row + begins_[i + 1]),
                                      hn::LoadU(d8_half, row + begins_[i]));
      const auto left = floats(hn::TableLookupBytes(pixels, first));
      const auto right = floats(hn::TableLookupBytes(pixels, second));
      const auto result = left + (right - left) * hn::LoadU(d, lerps);
      StorePixel(hn::LowerHalf(Float4Tag(), result), out);
      StorePixel(hn::UpperHalf(Float4Tag(), result), out + channels_);
    }
  }

 private:
  static constexpr size_t kLanes = 4;
  int64_t channels_;
  std::vector<int64_t> begins_;
  std::vector<float> lerps_;
};

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
    if (std::is_same_v<T, uint8_t> && UsesPixelVectors(channels_) && resampling.in.width >= 2) {
      neighbors_.emplace(xs_, resampling.in.width, channels_);
    }
    constexpr size_t kSlack = 4;  // for NeighborPoints and vectors of one pixel
    for (Slot& slot : slots_)
      slot.values.resize(xs_.size() * static_cast<size_t>(channels_) + kSlack);
  }

  // `keep`: a row whose values must stay valid.
  const float* Row(int64_t row, int64_t keep) {
    for (const Slot& slot : slots_) {
      if (slot.row == row) return slot.values.data();
    }
    Slot& slot = slots_[slots_[0].row == keep ? 1 : 0];
    if constexpr (std::is_same_v<T, uint8_t>) {
      if (neighbors_) neighbors_->Lerp(rows_.Row(row), slot.values.data());
    }
    if (!neighbors_) LerpAlongX(rows_.Row(row), xs_, channels_, slot.values.data());
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
  std::optional<NeighborPoints> neighbors_;  // instead of xs_, where they are possible
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
