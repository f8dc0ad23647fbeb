// Conv2D, DepthwiseConv2dNative and their gradients.
//
// A depthwise convolution is one with a group for each channel, whose filter [R, S, C, M] is stored
// as [R, S, 1, C * M]. With E = (kernel - 1) * dilation + 1, the extent of a window:
//   gradient of the input: the output's gradient, with stride - 1 zeros between neighbours and
//     E - 1 - pad_before zeros before it, convolved with the reversed filter
//   gradient of the filter: the input convolved with the output's gradient, whose elements are
//     `stride` apart, at windows that are `dilation` apart
#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/kernels/window.h"
#include "tpu/stablehlo/op_lowering.h"
#include "tpu/stablehlo/ops/support.h"

namespace estimator::tpu::stablehlo {
namespace {

struct Convolution {
  const char* dimensions;
  Ints strides = {1, 1};
  Ints low = {0, 0}, high = {0, 0};
  Ints lhs_dilation = {1, 1}, rhs_dilation = {1, 1};
  int64_t feature_groups = 1, batch_groups = 1;
};

Value Convolve(Writer& w, const Value& lhs, const Value& rhs, const Convolution& c,
               const Type& result) {
  return w.Op("convolution", {w.ProductOperand(lhs), w.ProductOperand(rhs)}, result,
              absl::StrCat("batch_group_count = ", IntAttr(c.batch_groups),
                           ", dimension_numbers = #stablehlo.conv<", c.dimensions,
                           ">, feature_group_count = ", IntAttr(c.feature_groups),
                           ", lhs_dilation = ", IntsAttr(c.lhs_dilation), ", padding = ",
                           MatrixAttr({{c.low[0], c.high[0]}, {c.low[1], c.high[1]}}),
                           ", rhs_dilation = ", IntsAttr(c.rhs_dilation),
                           ", window_strides = ", IntsAttr(c.strides)));
}

// What both axes need, in the order rows, columns.
struct Axes {
  explicit Axes(const ConvGeometry& g) {
    for (const Window& axis : {g.rows, g.columns}) {
      const int64_t extent = (axis.kernel - 1) * axis.dilation + 1;
      const int64_t spread = (axis.output - 1) * axis.stride + 1;  // of a strided output
      strides.push_back(axis.stride);
      dilations.push_back(axis.dilation);
      before.push_back(axis.pad_before);
      after.push_back(spread + extent - 1 - axis.input - axis.pad_before);
      input_before.push_back(extent - 1 - axis.pad_before);
      input_after.push_back(axis.input - spread + axis.pad_before);
    }
  }
  Ints strides, dilations;
  // Of the input in the forward convolution and in the filter's gradient; after may be negative.
  Ints before, after;
  // Of the output's gradient in the input's gradient.
  Ints input_before, input_after;
};

int64_t GroupsOf(const ConvGeometry& g, bool depthwise) {
  return depthwise ? g.in_channels : g.groups;
}

// The shape of the filter as a grouped convolution takes it: [R, S, C / G, O].
Shape GroupedFilter(const ConvGeometry& g, int64_t groups) {
  return {g.rows.kernel, g.columns.kernel, g.in_channels / groups, g.out_channels};
}

LoweringResult Forward(Writer& w, const LoweringArgs& args, bool depthwise) {
  const Value &x = args.input(0), &filter = args.input(1);
  if (IsEmpty(x) || IsEmpty(filter)) return Values{w.Fill(args.output(0), 0)};
  EST_ASSIGN_OR_RETURN(const ConvGeometry g,
                       MakeConvGeometry(args.spec.attrs, x.shape(), filter.shape(), depthwise));
  const Axes axes(g);
  const int64_t groups = GroupsOf(g, depthwise);
  return Values{Convolve(w, x, w.Reshape(filter, GroupedFilter(g, groups)),
                         {.dimensions = "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]",
                          .strides = axes.strides,
                          .low = axes.before,
                          .high = axes.after,
                          .rhs_dilation = axes.dilations,
                          .feature_groups = groups},
                         args.output(0))};
}

LoweringResult InputGradient(Writer& w, const LoweringArgs& args, bool depthwise) {
  const Value &filter = args.input(1), &dy = args.input(2);
  if (IsEmpty(dy) || IsEmpty(filter)) return Values{w.Fill(args.output(0), 0)};
  EST_ASSIGN_OR_RETURN(const ConvGeometry g, MakeConvGeometry(args.spec.attrs, args.output(0).shape,
                                                              filter.shape(), depthwise));
  const Axes axes(g);
  const int64_t groups = GroupsOf(g, depthwise), r = g.rows.kernel, s = g.columns.kernel;
  const int64_t ins = g.in_channels / groups, outs = g.out_channels / groups;  // of a group
  // [R, S, C / G, G, O / G] to [R, S, O / G, G, C / G]: the channels of the gradient go in, and
  // those of the input come out, group by group.
  Value swapped =
      w.Reshape(w.Reshape(filter, GroupedFilter(g, groups)), Shape{r, s, ins, groups, outs});
  swapped = w.Reshape(w.Transpose(swapped, {0, 1, 4, 3, 2}), Shape{r, s, outs, groups * ins});
  return Values{Convolve(w, dy, w.Reverse(swapped, {0, 1}),
                         {.dimensions = "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]",
                          .low = axes.input_before,
                          .high = axes.input_after,
                          .lhs_dilation = axes.strides,
                          .rhs_dilation = axes.dilations,
                          .feature_groups = groups},
                         args.output(0))};
}

LoweringResult FilterGradient(Writer& w, const LoweringArgs& args, bool depthwise) {
  const Value &x = args.input(0), &dy = args.input(2);
  if (IsEmpty(x) || IsEmpty(dy)) return Values{w.Fill(args.output(0), 0)};
  EST_ASSIGN_OR_RETURN(const ConvGeometry g, MakeConvGeometry(args.spec.attrs, x.shape(),
                                                              args.output(0).shape, depthwise));
  const Axes axes(g);
  const int64_t groups = GroupsOf(g, depthwise);
  // The batch is summed over, and the input's channels take the place of a batch.
  const Value gradient = Convolve(w, x, dy,
                                  {.dimensions = "[f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f]",
                                   .strides = axes.dilations,
                                   .low = axes.before,
                                   .high = axes.after,
                                   .rhs_dilation = axes.strides,
                                   .batch_groups = groups},
                                  {args.output(0).dtype, GroupedFilter(g, groups)});
  return Values{w.Reshape(gradient, args.output(0).shape)};
}

EST_LOWERING(Conv2D) { return Forward(w, args, false); }
EST_LOWERING(Conv2DBackpropInput) { return InputGradient(w, args, false); }
EST_LOWERING(Conv2DBackpropFilter) { return FilterGradient(w, args, false); }
EST_LOWERING(DepthwiseConv2dNative) { return Forward(w, args, true); }
EST_LOWERING(DepthwiseConv2dNativeBackpropInput) { return InputGradient(w, args, true); }
EST_LOWERING(DepthwiseConv2dNativeBackpropFilter) { return FilterGradient(w, args, true); }

}  // namespace
}  // namespace estimator::tpu::stablehlo
