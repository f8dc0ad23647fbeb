// MaxPool, AvgPool and their gradients, NHWC. Padding counts neither for a maximum nor for an
// average. Gradients are summed in float32 for 16-bit floats.
#include <limits>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/kernels/window.h"
#include "tpu/stablehlo/op_lowering.h"
#include "tpu/stablehlo/ops/support.h"

namespace estimator::tpu::stablehlo {
namespace {

absl::StatusOr<Window2D> WindowsOf(const LoweringArgs& args, const Shape& input) {
  const Ints& ksize = args.spec.attrs.ints("ksize");
  return MakeWindow2D(args.spec.attrs, input, ksize[1], ksize[2]);
}

// The padding after the input that makes the windows end where the last one does. It is negative if
// the last window ends before the input does.
int64_t PadAfter(const Window& window) {
  return (window.output - 1) * window.stride + window.kernel - window.input - window.pad_before;
}

std::string WindowAttributes(const Window2D& windows) {
  const Window &rows = windows.rows, &columns = windows.columns;
  return absl::StrCat("window_dimensions = ", IntsAttr({1, rows.kernel, columns.kernel, 1}),
                      ", window_strides = ", IntsAttr({1, rows.stride, columns.stride, 1}),
                      ", padding = ",
                      MatrixAttr({{0, 0},
                                  {rows.pad_before, PadAfter(rows)},
                                  {columns.pad_before, PadAfter(columns)},
                                  {0, 0}}));
}

// reduce_window. The windows cover `output` positions.
Value ReduceWindows(Writer& w, const char* op, const Value& x, const Value& init,
                    const Window2D& windows, const Shape& output) {
  return w.Ops("reduce_window", {x, init}, {Type(x.dtype(), output)}, WindowAttributes(windows),
               {w.ScalarRegion(op, x.dtype())})[0];
}

EST_LOWERING(MaxPool) {
  // The maximum of 16-bit floats is exact, so x is not widened.
  const Value& x = args.input(0);
  EST_ASSIGN_OR_RETURN(const Window2D windows, WindowsOf(args, x.shape()));
  // Padding has the initial value of the reduction, so it is never larger than an input.
  return Values{ReduceWindows(w, "maximum", x, w.Lowest({x.dtype(), Shape{}}), windows,
                              args.output(0).shape)};
}

// Calls fn(x, grad) with the elements that one tap of all windows reads, [N, P, Q, C], for every
// tap in row-major order. A tap in the padding is NaN, which equals no maximum.
template <typename Fn>
void ForEachTap(Writer& w, const Window2D& windows, const Shape& output, const Value& x,
                const Value& grad, Fn fn) {
  const Window &rows = windows.rows, &columns = windows.columns;
  const Ints low = {0, rows.pad_before, columns.pad_before, 0};
  const Ints high = {0, PadAfter(rows), PadAfter(columns), 0}, none = Repeated(4, 0);
  const Value nan = w.Scalar(x.dtype(), std::numeric_limits<double>::quiet_NaN());
  const Value padded = w.Pad(x, nan, low, high, none);
  // A tap in the padding is never chosen, so its gradient does not matter.
  const Value padded_grad = w.Pad(grad, w.Scalar(grad.dtype(), 0), low, high, none);
  for (int64_t r = 0; r < rows.kernel; ++r) {
    for (int64_t s = 0; s < columns.kernel; ++s) {
      const Ints starts = {0, r, s, 0};
      const Ints limits = {output.dim(0), r + (rows.output - 1) * rows.stride + 1,
                           s + (columns.output - 1) * columns.stride + 1, output.dim(3)};
      const Ints strides = {1, rows.stride, columns.stride, 1};
      fn(w.Slice(padded, starts, limits, strides), w.Slice(padded_grad, starts, limits, strides));
    }
  }
}

// The gradient flows to the first element of a window, in row-major order, that is the maximum:
// select_and_scatter keeps the earlier one of equal elements under "GE".
EST_LOWERING(MaxPoolGrad) {
  const Value x = Widened(w, args.input(0)), dy = Widened(w, args.input(2));
  if (dy.shape().num_elements() == 0) return Values{w.Fill(args.output(0), 0)};
  EST_ASSIGN_OR_RETURN(const Window2D windows, WindowsOf(args, x.shape()));
  const Values dx = w.Ops("select_and_scatter", {x, dy, w.Scalar(x.dtype(), 0)}, {x.type},
                          WindowAttributes(windows),
                          {w.CompareRegion("GE", x.dtype()), w.ScalarRegion("add", x.dtype())});
  return Values{w.Convert(dx[0], args.output(0).dtype)};
}

// The reverse: every output takes the gradient of its maximum, or 0 if no input equals it.
EST_LOWERING(MaxPoolGradGrad) {
  const Value &x = args.input(0), &y = args.input(1), &grad = args.input(2);
  EST_ASSIGN_OR_RETURN(const Window2D windows, WindowsOf(args, x.shape()));
  Value result = w.Fill(args.output(0), 0);
  Value searching = w.Fill({DType::kBool, y.shape()}, 1);
  ForEachTap(w, windows, y.shape(), x, grad, [&](const Value& tap, const Value& tap_grad) {
    const Value found = w.Binary("and", searching, w.Compare("EQ", tap, y));
    result = w.Select(found, tap_grad, result);
    searching = w.Binary("and", searching, w.Unary("not", found));
  });
  return Values{result};
}

// How many inputs each window has: [1, P, Q, 1].
Value Counts(Writer& w, const Window2D& windows, DType dtype) {
  const Window &rows = windows.rows, &columns = windows.columns;
  // The numbers are known when the step is compiled, so the device need not count.
  Array counts(DType::kFloat32, Shape{1, rows.output, columns.output, 1});
  float* next = counts.data<float>();
  for (int64_t p = 0; p < rows.output; ++p) {
    for (int64_t q = 0; q < columns.output; ++q) {
      *next++ = static_cast<float>((rows.EndTap(p) - rows.FirstTap(p)) *
                                   (columns.EndTap(q) - columns.FirstTap(q)));
    }
  }
  return w.Constant(counts.Cast(dtype));
}

EST_LOWERING(AvgPool) {
  const Value x = Widened(w, args.input(0));
  EST_ASSIGN_OR_RETURN(const Window2D windows, WindowsOf(args, x.shape()));
  const Value sum =
      ReduceWindows(w, "add", x, w.Scalar(x.dtype(), 0), windows, args.output(0).shape);
  return Values{w.Convert(w.Div(sum, Counts(w, windows, x.dtype())), args.output(0).dtype)};
}

// An element of the input gets its share from every window that reads it: a sum over windows of the
// shares, which are `stride` apart.
EST_LOWERING(AvgPoolGrad) {
  const Value dy = Widened(w, args.input(1));
  const Shape& input = args.output(0).shape;
  if (dy.shape().num_elements() == 0) return Values{w.Fill(args.output(0), 0)};
  EST_ASSIGN_OR_RETURN(const Window2D windows, WindowsOf(args, input));
  const Value share = w.Div(dy, Counts(w, windows, dy.dtype())), zero = w.Scalar(dy.dtype(), 0);
  Ints low = Repeated(4, 0), high = low, interior = low;
  Window2D all = windows;  // one window for each input
  for (size_t axis = 1; axis <= 2; ++axis) {
    const Window& window = axis == 1 ? windows.rows : windows.columns;
    low[axis] = window.kernel - 1 - window.pad_before;
    high[axis] = window.input - (window.output - 1) * window.stride - 1 + window.pad_before;
    interior[axis] = window.stride - 1;
    (axis == 1 ? all.rows : all.columns) = {
        .input = window.input + window.kernel - 1, .kernel = window.kernel, .output = window.input};
  }
  const Value spread = w.Pad(share, zero, low, high, interior);
  return Values{w.Convert(ReduceWindows(w, "add", spread, zero, all, input), args.output(0).dtype)};
}

}  // namespace
}  // namespace estimator::tpu::stablehlo
