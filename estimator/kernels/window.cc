#include "estimator/kernels/window.h"

#include <algorithm>
#include <vector>

#include "absl/status/status.h"
#include "estimator/base/status.h"

namespace estimator {
namespace {

absl::Status CheckFour(const std::vector<int64_t>& values, absl::string_view what) {
  if (values.size() != 4) {
    return InvalidArgument(what, " has ", values.size(),
                           " numbers, expected 4 (batch, rows, columns, channels)");
  }
  if (values[0] != 1 || values[3] != 1) {
    return InvalidArgument(what, " along batch and channels must be 1, got ", values[0], " and ",
                           values[3]);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Window> MakeWindow(int64_t input, int64_t kernel, int64_t stride, int64_t dilation,
                                  absl::string_view padding, int64_t before, int64_t after) {
  if (kernel < 1 || stride < 1 || dilation < 1) {
    return InvalidArgument("window size ", kernel, ", stride ", stride, " and dilation ", dilation,
                           " must all be at least 1");
  }
  constexpr int64_t kMost = int64_t{1} << 31;  // products and sums of such numbers do not overflow
  if (kernel > kMost || stride > kMost || dilation > kMost || before > kMost || after > kMost) {
    return InvalidArgument("window size ", kernel, ", stride ", stride, ", dilation ", dilation,
                           ", paddings ", before, " and ", after, " must be at most ", kMost);
  }
  Window w{.input = input, .kernel = kernel, .stride = stride, .dilation = dilation};
  const int64_t extent = (kernel - 1) * dilation + 1;
  if (padding == "SAME") {
    w.output = (input + stride - 1) / stride;
    const int64_t needed = std::max<int64_t>((w.output - 1) * stride + extent - input, 0);
    // An odd number of pads has the larger half at the end, as in TensorFlow's
    // kernel_shape_util.cc.
    w.pad_before = needed / 2;
    w.pad_after = needed - w.pad_before;
    return w;
  }
  if (padding == "EXPLICIT") {
    if (before < 0 || after < 0) {
      return InvalidArgument("explicit paddings must not be negative, got ", before, " and ",
                             after);
    }
    w.pad_before = before;
    w.pad_after = after;
  } else if (padding != "VALID") {
    return InvalidArgument("padding is '", padding, "', expected SAME, VALID or EXPLICIT");
  }
  const int64_t padded = input + w.pad_before + w.pad_after;
  // Needs a check of its own: the quotient below rounds toward zero, so a window that is a little
  // too large would give one output.
  if (padded < extent) {
    return InvalidArgument("a window of ", extent, " does not fit into ", padded, " with padding ",
                           padding, padding == "VALID" ? "; use SAME, or a smaller window" : "");
  }
  w.output = (padded - extent) / stride + 1;
  return w;
}

absl::StatusOr<Window2D> MakeWindow2D(const Attrs& attrs, const Shape& input, int64_t kernel_rows,
                                      int64_t kernel_columns) {
  if (attrs.has("data_format") && attrs.s("data_format") != "NHWC") {
    return InvalidArgument("data_format is ", attrs.s("data_format"),
                           ", only NHWC is supported: transpose the input to NHWC");
  }
  const std::vector<int64_t>& strides = attrs.ints("strides");
  EST_RETURN_IF_ERROR(CheckFour(strides, "strides"));
  std::vector<int64_t> dilations = {1, 1, 1, 1};
  if (attrs.has("dilations")) dilations = attrs.ints("dilations");
  EST_RETURN_IF_ERROR(CheckFour(dilations, "dilations"));
  const std::string& padding = attrs.s("padding");
  std::vector<int64_t> pads(8, 0);
  if (padding == "EXPLICIT") {
    pads = attrs.ints("explicit_paddings");
    if (pads.size() != 8 || pads[0] != 0 || pads[1] != 0 || pads[6] != 0 || pads[7] != 0) {
      return InvalidArgument(
          "explicit_paddings must be 8 numbers (before and after of N, H, W, C), 0 for N and C");
    }
  }
  Window2D result;
  EST_ASSIGN_OR_RETURN(result.rows, MakeWindow(input.dim(1), kernel_rows, strides[1], dilations[1],
                                               padding, pads[2], pads[3]));
  EST_ASSIGN_OR_RETURN(result.columns, MakeWindow(input.dim(2), kernel_columns, strides[2],
                                                  dilations[2], padding, pads[4], pads[5]));
  return result;
}

absl::StatusOr<ConvGeometry> MakeConvGeometry(const Attrs& attrs, const Shape& input,
                                              const Shape& filter, bool depthwise) {
  if (input.rank() != 4) {
    return InvalidArgument("input has rank ", input.rank(),
                           ", expected 4 (batch, rows, columns, channels)");
  }
  if (filter.rank() != 4) {
    return InvalidArgument("kernel has rank ", filter.rank(),
                           ", expected 4 (rows, columns, in, out)");
  }
  // If the kernel expects fewer channels than the input has, the convolution is grouped.
  const int64_t channels = input.dim(3), expected = filter.dim(2);
  const bool grouped = !depthwise && channels != expected && expected > 0;
  // A depthwise filter [rows, columns, channels, multiplier] names every channel, so it cannot mean
  // groups.
  if (grouped ? channels % expected != 0 : channels != expected) {
    return InvalidArgument("input has ", channels, " channels, kernel expects ", expected);
  }
  const int64_t groups = grouped ? channels / expected : 1;
  // An image without channels has no groups, and a remainder by 0 is undefined.
  if (groups == 0 || filter.dim(3) % groups != 0) {
    return InvalidArgument("input has ", channels, " channels, kernel expects ", expected,
                           " of them: the ", filter.dim(3),
                           " output channels are not a multiple of the ", groups, " groups");
  }
  EST_ASSIGN_OR_RETURN(const Window2D windows,
                       MakeWindow2D(attrs, input, filter.dim(0), filter.dim(1)));
  ConvGeometry g;
  g.batch = input.dim(0);
  g.in_channels = input.dim(3);
  g.groups = groups;
  g.multiplier = depthwise ? filter.dim(3) : 0;
  g.out_channels = depthwise ? g.in_channels * g.multiplier : filter.dim(3);
  g.rows = windows.rows;
  g.columns = windows.columns;
  return g;
}

}  // namespace estimator
