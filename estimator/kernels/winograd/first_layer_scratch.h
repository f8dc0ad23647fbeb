// The scratch memory of a thread that computes a first layer. Internal to winograd.
#ifndef ESTIMATOR_KERNELS_WINOGRAD_FIRST_LAYER_SCRATCH_H_
#define ESTIMATOR_KERNELS_WINOGRAD_FIRST_LAYER_SCRATCH_H_

#include <omp.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "estimator/kernels/fused/parallel.h"
#include "estimator/kernels/winograd/first_layer.h"

namespace estimator::winograd {

// An image with zeros around it, so that the inner loops need no test for the edges.
struct Padded {
  explicit Padded(const FirstLayer& layer)
      : rows(layer.conv.out_rows + layer.conv.filter_rows - 1),
        row_floats((layer.conv.out_columns + layer.conv.filter_columns - 1) *
                   layer.conv.in_channels) {}

  int64_t floats() const { return (rows * row_floats + 15) / 16 * 16; }
  // Copies image `image` of x; the zeros must be there already.
  void Copy(const FirstLayer& layer, const float* x, int64_t image, float* to) const {
    const int64_t row = layer.conv.in_columns * layer.conv.in_channels;
    x += image * layer.conv.in_rows * row;
    const int64_t copied = std::min(layer.conv.in_rows, rows - layer.conv.pad_top);
    const int64_t floats =
        std::min(row, row_floats - layer.conv.pad_left * layer.conv.in_channels) *
        int64_t{sizeof(float)};
    for (int64_t r = 0; r < copied; ++r) {
      std::memcpy(
          to + (r + layer.conv.pad_top) * row_floats + layer.conv.pad_left * layer.conv.in_channels,
          x + r * row, static_cast<size_t>(floats));
    }
  }

  int64_t rows, row_floats;
};

// The sums of a thread for the gradients: those of the filter, [taps, tap_floats], then those of
// the bias. Channels are rounded up to whole vectors.
struct Sums {
  explicit Sums(const FirstLayer& layer)
      : taps(layer.conv.filter_rows * layer.conv.filter_columns * layer.conv.in_channels),
        tap_floats((layer.conv.out_channels + 15) / 16 * 16) {}

  int64_t bias() const { return taps * tap_floats; }  // its first float
  int64_t floats() const { return bias() + tap_floats; }

  int64_t taps, tap_floats;
};

// A thread takes whole images.
inline fused::Chunks ImageChunks(const FirstLayer& layer) {
  return {layer.conv.images,
          static_cast<int>(std::min<int64_t>(omp_get_max_threads(), layer.conv.images))};
}

}  // namespace estimator::winograd

#endif  // ESTIMATOR_KERNELS_WINOGRAD_FIRST_LAYER_SCRATCH_H_
