// The sizes of a convolution, with which its kernels compute.
#ifndef ESTIMATOR_KERNELS_CONVOLUTION_H_
#define ESTIMATOR_KERNELS_CONVOLUTION_H_

#include <cstdint>

namespace estimator {

// A convolution of one group without dilation.
//   y[n, p, q, k] = sum over u, v, c of
//     x[n, p * row_stride - pad_top + u, q * column_stride - pad_left + v, c] * filter[u, v, c, k]
// Outside of x there are zeros.
//   x: [images, in_rows, in_columns, in_channels].
//   y: [images, out_rows, out_columns, out_channels].
struct Convolution {
  int64_t images = 0;
  int64_t in_rows = 0, in_columns = 0, in_channels = 0;
  int64_t out_rows = 0, out_columns = 0, out_channels = 0;
  int64_t filter_rows = 0, filter_columns = 0;
  int64_t row_stride = 1, column_stride = 1;
  int64_t pad_top = 0, pad_left = 0;
  int tile = 4;  // the outputs of a tile of Winograd's algorithm on each axis

  int64_t taps() const { return filter_rows * filter_columns; }
  int64_t pixels() const { return images * out_rows * out_columns; }
  // The convolution of y's gradient with the filter rotated by 180 degrees, which gives x's
  // gradient. REQUIRES: stride 1.
  Convolution Transposed() const {
    return {.images = images,
            .in_rows = out_rows,
            .in_columns = out_columns,
            .in_channels = out_channels,
            .out_rows = in_rows,
            .out_columns = in_columns,
            .out_channels = in_channels,
            .filter_rows = filter_rows,
            .filter_columns = filter_columns,
            .pad_top = filter_rows - 1 - pad_top,
            .pad_left = filter_columns - 1 - pad_left};
  }
};

}  // namespace estimator

#endif  // ESTIMATOR_KERNELS_CONVOLUTION_H_
