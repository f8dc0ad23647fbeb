// Sliding windows over images: the elements that a convolution or pool reads, and the size of its
// result. Shape rules and the kernels of every tier share this.
//
// TensorFlow's formulas, with E = (kernel - 1) * dilation + 1 the extent of a window:
//   VALID:    output = ceil((input - E + 1) / stride), no padding
//   SAME:     output = ceil(input / stride); padding = max((output - 1) * stride + E - input, 0),
//             of which floor(padding / 2) comes before and the rest after
//   EXPLICIT: output = floor((input + before + after - E) / stride) + 1
// Source: TF 2.15 GetWindowedOutputSizeVerbose.
#ifndef ESTIMATOR_KERNELS_WINDOW_H_
#define ESTIMATOR_KERNELS_WINDOW_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/array/attrs.h"
#include "estimator/array/shape.h"

namespace estimator {

// One spatial axis. Output o reads the inputs o * stride - pad_before + k * dilation, for k in
// [0, kernel). Inputs outside [0, input) are padding.
struct Window {
  int64_t input = 0;
  int64_t kernel = 0;
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t output = 0;
  int64_t pad_before = 0;
  int64_t pad_after = 0;

  // The input that tap k of output o reads. It is outside [0, input) for padding.
  int64_t Input(int64_t o, int64_t k) const { return o * stride - pad_before + k * dilation; }
  // The taps [FirstTap(o), EndTap(o)) of output o read inside the input.
  int64_t FirstTap(int64_t o) const {
    const int64_t start = o * stride - pad_before;
    return start >= 0 ? 0 : (-start + dilation - 1) / dilation;
  }
  int64_t EndTap(int64_t o) const {
    const int64_t room = input - (o * stride - pad_before);
    const int64_t taps = room <= 0 ? 0 : (room + dilation - 1) / dilation;
    return taps < kernel ? taps : kernel;
  }
};

//   padding: "SAME", "VALID" or "EXPLICIT" (with before and after).
// Errors: INVALID_ARGUMENT if stride, dilation or kernel are below 1, if padding is something else,
// or if the window does not fit into the input.
absl::StatusOr<Window> MakeWindow(int64_t input, int64_t kernel, int64_t stride, int64_t dilation,
                                  absl::string_view padding, int64_t before = 0, int64_t after = 0);

struct Window2D {
  Window rows;
  Window columns;
};

// Reads an op's attributes strides, padding and, if present, dilations, explicit_paddings (8
// numbers: before and after of N, H, W, C) and data_format. All are in NHWC order.
//   input: [N, H, W, C].
// Errors: as MakeWindow; a data_format other than NHWC; strides, dilations or paddings along N or
// C.
absl::StatusOr<Window2D> MakeWindow2D(const Attrs& attrs, const Shape& input, int64_t kernel_rows,
                                      int64_t kernel_columns);

// A two-dimensional convolution.
//   input [N, H, W, C], filter [R, S, C / G, O], output [N, P, Q, O]
//     With G groups, output channel o reads the C / G input channels of group o / (O / G).
//   depthwise: filter [R, S, C, M], and O = C * M
struct ConvGeometry {
  int64_t batch = 0;
  int64_t in_channels = 0;
  int64_t out_channels = 0;
  int64_t multiplier = 0;  // depthwise: M, else 0
  int64_t groups = 1;      // G; depthwise: 1
  Window rows;
  Window columns;

  Shape input() const { return {batch, rows.input, columns.input, in_channels}; }
  Shape output() const { return {batch, rows.output, columns.output, out_channels}; }
};

// Errors: as MakeWindow2D; a rank other than 4; numbers of channels that do not fit ("input has 3
// channels, kernel expects 4").
absl::StatusOr<ConvGeometry> MakeConvGeometry(const Attrs& attrs, const Shape& input,
                                              const Shape& filter, bool depthwise = false);

}  // namespace estimator

#endif  // ESTIMATOR_KERNELS_WINDOW_H_
