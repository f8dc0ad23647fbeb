// Copies the nearest pixel.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "estimator/image/resize/resample.h"

namespace estimator::image {
namespace {

std::vector<int64_t> NearestPositions(int64_t in_size, int64_t out_size,
                                      const Resampling& resampling) {
  const float scale = ResizeScale(in_size, out_size, resampling.align_corners);
  std::vector<int64_t> positions(static_cast<size_t>(out_size));
  for (int64_t i = 0; i < out_size; ++i) {
    // floor() replaces the subtraction of half a pixel in InputCoordinate().
    const float offset = resampling.half_pixel_centers ? 0.5f : 0;
    const float in = (static_cast<float>(i) + offset) * scale;
    const float nearest = resampling.align_corners ? std::round(in) : std::floor(in);
    positions[static_cast<size_t>(i)] = std::min(static_cast<int64_t>(nearest), in_size - 1);
  }
  return positions;
}

// The number of bytes is a constant for the usual pixels, so that a copy is one or two moves.
template <int64_t kBytes>
void CopyPixels(const char* row, const std::vector<int64_t>& xs, int64_t bytes, char* out) {
  const size_t size = static_cast<size_t>(kBytes == 0 ? bytes : kBytes);
  for (const int64_t x : xs) {
    std::memcpy(out, row + static_cast<size_t>(x) * size, size);
    out += size;
  }
}

void CopyRow(const char* row, const std::vector<int64_t>& xs, int64_t bytes, char* out) {
  switch (bytes) {
    case 1:
      return CopyPixels<1>(row, xs, bytes, out);
    case 3:
      return CopyPixels<3>(row, xs, bytes, out);
    case 4:
      return CopyPixels<4>(row, xs, bytes, out);
    case 12:
      return CopyPixels<12>(row, xs, bytes, out);
    default:
      return CopyPixels<0>(row, xs, bytes, out);
  }
}

}  // namespace

void ResampleNearestNeighbor(const void* images, const Resampling& resampling, int64_t pixel_bytes,
                             void* result) {
  const ImageShape& in = resampling.in;
  const std::vector<int64_t> xs = NearestPositions(in.width, resampling.out.width, resampling);
  const std::vector<int64_t> ys = NearestPositions(in.height, resampling.out.height, resampling);
  const size_t in_row = static_cast<size_t>(in.width * pixel_bytes);
  const size_t out_row = static_cast<size_t>(resampling.out.width * pixel_bytes);
  const char* image = static_cast<const char*>(images);
  char* out = static_cast<char*>(result);
  for (int64_t b = 0; b < in.batch; ++b, image += static_cast<size_t>(in.height) * in_row) {
    for (size_t y = 0; y < ys.size(); ++y, out += out_row) {
      if (y > 0 && ys[y] == ys[y - 1]) {
        std::memcpy(out, out - out_row, out_row);
      } else {
        CopyRow(image + static_cast<size_t>(ys[y]) * in_row, xs, pixel_bytes, out);
      }
    }
  }
}

}  // namespace estimator::image
