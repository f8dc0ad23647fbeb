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

struct Family {
  bool depthwise = false;
  int64_t groups(const ConvGeometry& g) const { return depthwise ? g.in_channels : g.groups; }
};

// What both axes need, in the order rows, columns.
struct Axes {
  explicit Axes(const ConvGeometry& g) {
    for (const Window& axis : {g.rows, g.columns}) {
      const int64_t extent = (axis.kernel - 1) * axis.dilation + 1;
      const int64_t spread = (axis.output - 1) * axis.stride + 1;  // of a strided output
      kernel.push_back(axis.kernel);
      strides.push_back(axis.stride);
      dilations.push_back(axis.dilation);
      before.push_back(axis.pad_before);
      after.push_back(spread + extent - 1 - axis.input - axis.pad_before);
      input_before.push_back(extent - 1 - axis.pad_before);
      input_after.push_back(axis.input - spread + axis.pad_before);
    }
  }
  Ints kernel, strides, dilations;
  // Of the input in the forward convolution and in the filter's gradient; after may be negative.
  Ints before, after;
  // Of the output's gradient in the input's gradient.
  Ints input_before, input_after;
};

// The filter as a grouped convolution takes it: [R, S, C / G, O].
Value GroupedFilter(Writer& w, const Value& filter, const ConvGeometry& g, bool depthwise) {
  if (!depthwise) return filter;
  return w.Reshape(filter, Shape{g.rows.kernel, g.columns.kernel, 1, g.out_channels});
}

OpLowering Forward(Family family) {
  return Guarded([family](Writer& w, const LoweringArgs& args) -> LoweringResult {
    const Value &x = args.input(0), &filter = args.input(1);
    if (IsEmpty(x) || IsEmpty(filter)) return Values{w.Fill(args.output(0), 0)};
    EST_ASSIGN_OR_RETURN(const ConvGeometry g, MakeConvGeometry(args.spec.attrs, x.shape(),
                                                                filter.shape(), family.depthwise));
    const Axes axes(g);
    return Values{Convolve(w, x, GroupedFilter(w, filter, g, family.depthwise),
                           {.dimensions = "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]",
                            .strides = axes.strides,
                            .low = axes.before,
                            .high = axes.after,
                            .rhs_dilation = axes.dilations,
                            .feature_groups = family.groups(g)},
                           args.output(0))};
  });
}

OpLowering InputGradient(Family family) {
  return Guarded([family](Writer& w, const LoweringArgs& args) -> LoweringResult {
    const Value &filter = args.input(1), &dy = args.input(2);
    if (IsEmpty(dy) || IsEmpty(filter)) return Values{w.Fill(args.output(0), 0)};
    EST_ASSIGN_OR_RETURN(
        const ConvGeometry g,
        MakeConvGeometry(args.spec.attrs, args.output(0).shape, filter.shape(), family.depthwise));
    const Axes axes(g);
    const int64_t groups = family.groups(g), r = g.rows.kernel, s = g.columns.kernel;
    const int64_t ins = g.in_channels / groups, outs = g.out_channels / groups;  // of a group
    // [R, S, C / G, G, O / G] to [R, S, O / G, G, C / G]: the channels of the gradient go in, and
    // those of the input come out, group by group.
    Value swapped =
        w.Reshape(GroupedFilter(w, filter, g, family.depthwise), Shape{r, s, ins, groups, outs});
    swapped = w.Reshape(w.Transpose(swapped, {0, 1, 4, 3, 2}), Shape{r, s, outs, groups * ins});
    return Values{Convolve(w, dy, w.Reverse(swapped, {0, 1}),
                           {.dimensions = "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]",
                            .low = axes.input_before,
                            .high = axes.input_after,
                            .lhs_dilation = axes.strides,
                            .rhs_dilation = axes.dilations,
                            .feature_groups = groups},
                           args.output(0))};
  });
}

OpLowering FilterGradient(Family family) {
  return Guarded([family](Writer& w, const LoweringArgs& args) -> LoweringResult {
    const Value &x = args.input(0), &dy = args.input(2);
    if (IsEmpty(x) || IsEmpty(dy)) return Values{w.Fill(args.output(0), 0)};
    EST_ASSIGN_OR_RETURN(
        const ConvGeometry g,
        MakeConvGeometry(args.spec.attrs, x.shape(), args.output(0).shape, family.depthwise));
    const Axes axes(g);
    const int64_t groups = family.groups(g);
    const Shape grouped{g.rows.kernel, g.columns.kernel, g.in_channels / groups, g.out_channels};
    // The batch is summed over, and the input's channels take the place of a batch.
    const Value gradient = Convolve(w, x, dy,
                                    {.dimensions = "[f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f]",
                                     .strides = axes.dilations,
                                     .low = axes.before,
                                     .high = axes.after,
                                     .rhs_dilation = axes.strides,
                                     .batch_groups = groups},
                                    {args.output(0).dtype, grouped});
    return Values{w.Reshape(gradient, args.output(0).shape)};
  });
}

constexpr Family kConv = {.depthwise = false}, kDepthwise = {.depthwise = true};
EST_REGISTER_STABLEHLO("Conv2D", Forward(kConv));
EST_REGISTER_STABLEHLO("Conv2DBackpropInput", InputGradient(kConv));
EST_REGISTER_STABLEHLO("Conv2DBackpropFilter", FilterGradient(kConv));
EST_REGISTER_STABLEHLO("DepthwiseConv2dNative", Forward(kDepthwise));
EST_REGISTER_STABLEHLO("DepthwiseConv2dNativeBackpropInput", InputGradient(kDepthwise));
EST_REGISTER_STABLEHLO("DepthwiseConv2dNativeBackpropFilter", FilterGradient(kDepthwise));

}  // namespace
}  // namespace estimator::tpu::stablehlo
