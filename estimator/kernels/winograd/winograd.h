// Convolutions of stride 1 with filters of 3x3 or 5x5 by Winograd's algorithm, in f32, with bias,
// shortcut, relu and 2x2 max pool in the same pass.
//
// Tiles of 4x4 outputs F(4x4, 3x3) and F(4x4, 5x5), smaller ones at the right and bottom edge. For
// each of 36 or 64 points a tile of an input channel becomes one number, and the products over the
// input channels are matrix products. This takes 4 or 6.25 times fewer multiplications than the
// direct algorithm. The error is at most 1e-4 of the output's root mean square; that of the direct
// algorithm is 1e-5. F(6x6, 5x5), with 100 points, takes 9 times fewer. Its error is at most 1e-3
// (4e-4 measured); factors that are rounded to bf16 add errors with a standard deviation of 2.4e-3.
//   Source: Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks", 2015.
#ifndef ESTIMATOR_KERNELS_WINOGRAD_WINOGRAD_H_
#define ESTIMATOR_KERNELS_WINOGRAD_WINOGRAD_H_

#include <cstddef>
#include <cstdint>

#include "estimator/kernels/convolution.h"

namespace estimator::winograd {

// How images are stored: channel c of pixel (row, column) of image n is the element
//   n * image + row * this->row + column * pixel + c / 16 * block + c % 16.
struct Strides {
  int64_t image = 0;
  int64_t row = 0;
  int64_t pixel = 0;
  int64_t block = 0;

  int64_t Offset(int64_t n, int64_t r, int64_t column, int64_t channel) const {
    return n * image + r * row + column * pixel + channel / 16 * block + channel % 16;
  }
};
//   NHWC, or blocks of 16 channels [N, C/16, H, W, 16].
Strides PlainStrides(int64_t rows, int64_t columns, int64_t channels);
Strides BlockedStrides(int64_t rows, int64_t columns, int64_t channels);

// The functions below compute convolutions of stride 1 with square filters of 3x3 or 5x5. In
// blocks, in_channels and out_channels are multiples of 16. Tiles have 4x4 outputs, or 6x6 with
// filters of 5x5 (Convolution::tile).

// The points of a tile.
inline int64_t PointsOf(const Convolution& conv) {
  return (conv.tile + conv.filter_rows - 1) * (conv.tile + conv.filter_rows - 1);
}

// The outputs on each axis of the tiles with which a convolution is the fastest (blocks.cc has the
// rule). Tiles of 6x6 only if rounds_to_bfloat16: if the errors of factors that are rounded to bf16
// are small enough.
int FastestTile(const Convolution& conv, bool rounds_to_bfloat16);

// Images to read. With an argmax, they are the gradient of a max pool with adjacent 2x2 windows:
// element (r, c) is data[r / 2][c / 2] if argmax[r / 2][c / 2] is r % 2 * 2 + c % 2, else 0. data
// and argmax then have the strides.
struct Source {
  const float* data = nullptr;
  const uint8_t* argmax = nullptr;
  Strides strides;
};

// Where the result goes: y = act(convolution + bias + side). With an argmax, y is the max pool of
// that with adjacent 2x2 windows, and argmax is the number of the first maximum in its window, or 4
// where y <= 0. data, side and argmax have the strides.
struct Destination {
  float* data = nullptr;
  uint8_t* argmax = nullptr;  // REQUIRES, if not null: relu, and even out_rows and out_columns
  const float* bias = nullptr;
  const float* side = nullptr;
  bool relu = false;
  Strides strides;
};

// The scratch memory of the functions below, in floats.
size_t FilterFloats(const Convolution& conv);
size_t ConvolveFloats(const Convolution& conv);
size_t FilterGradientFloats(const Convolution& conv);

// Transforms the filter for Convolve: [taps, taps, in_channels, out_channels]. `transposed`: conv
// is the transposed one of a convolution with filter [taps, taps, out_channels, in_channels].
void TransformFilter(const Convolution& conv, const float* filter, bool transposed, float* result);

//   filter: the result of TransformFilter.  scratch: ConvolveFloats(conv).
void Convolve(const Convolution& conv, const Source& x, const float* filter,
              const Destination& destination, float* scratch);

// The gradients of the filter, [taps, taps, in_channels, out_channels], and, if not null, of the
// bias.
//   scratch: FilterGradientFloats(conv).
void FilterGradient(const Convolution& conv, const Source& x, const Source& dy, float* filter,
                    float* bias, float* scratch);

}  // namespace estimator::winograd

#endif  // ESTIMATOR_KERNELS_WINOGRAD_WINOGRAD_H_
