#include "estimator/ops/conv.h"

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/op_registry.h"
#include "estimator/kernels/window.h"
#include "estimator/ops/building/builder.h"
#include "estimator/ops/building/shape_checks.h"
#include "estimator/ops/building/window_attrs.h"

namespace estimator {
namespace {

Attrs AttrsOf(const Conv2DOptions& options) {
  Attrs attrs = WindowAttrs(options.strides, options.padding, options.explicit_paddings);
  attrs.Set("dilations", PerAxis(options.dilations));
  return attrs;
}

// The ops of a family: the convolution and its two gradients.
struct Family {
  const char* forward;
  const char* input;
  const char* filter;
  bool depthwise;
};
constexpr Family kConv = {"Conv2D", "Conv2DBackpropInput", "Conv2DBackpropFilter", false};
constexpr Family kDepthwise = {"DepthwiseConv2dNative", "DepthwiseConv2dNativeBackpropInput",
                               "DepthwiseConv2dNativeBackpropFilter", true};

Tensor Forward(const Family& family, const Tensor& x, const Tensor& filter, const Attrs& attrs,
               absl::string_view name = "") {
  return AddOp(family.forward, {x, filter}, attrs, name);
}

Tensor InputGradient(const Family& family, const Shape& input, const Tensor& filter,
                     const Tensor& out_backprop, const Attrs& attrs, absl::string_view name = "") {
  const Tensor sizes = ShapeInput(GraphFor({out_backprop, filter}), input, "input_sizes");
  return AddOp(family.input, {sizes, filter, out_backprop}, attrs, name);
}

Tensor FilterGradient(const Family& family, const Tensor& x, const Shape& filter,
                      const Tensor& out_backprop, const Attrs& attrs, absl::string_view name = "") {
  const Tensor sizes = ShapeInput(GraphFor({x, out_backprop}), filter, "filter_sizes");
  return AddOp(family.filter, {x, sizes, out_backprop}, attrs, name);
}

OutputSpecs ForwardShape(const ShapeContext& c, const Family& family) {
  EST_RETURN_IF_ERROR(CheckFloating(c.input(0), "input"));
  EST_RETURN_IF_ERROR(CheckSameDType(c));
  EST_ASSIGN_OR_RETURN(const ConvGeometry g, MakeConvGeometry(c.attrs, c.input(0).shape,
                                                              c.input(1).shape, family.depthwise));
  return std::vector<TensorSpec>{{c.input(0).dtype, g.output()}};
}

OutputSpecs InputGradientShape(const ShapeContext& c, const Family& family) {
  EST_ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, c.ConstantInts(0));
  const Shape input(sizes);
  EST_RETURN_IF_ERROR(CheckFloating(c.input(1), "filter"));
  if (c.input(2).dtype != c.input(1).dtype) {
    return InvalidArgument("filter and out_backprop differ in type: Cast one of them");
  }
  EST_ASSIGN_OR_RETURN(const ConvGeometry g,
                       MakeConvGeometry(c.attrs, input, c.input(1).shape, family.depthwise));
  EST_RETURN_IF_ERROR(
      CheckShape(c.input(2), g.output(),
                 absl::StrCat("for an input of ", input.ToString(), ", out_backprop")));
  return std::vector<TensorSpec>{{c.input(1).dtype, input}};
}

OutputSpecs FilterGradientShape(const ShapeContext& c, const Family& family) {
  EST_ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, c.ConstantInts(1));
  const Shape filter(sizes);
  EST_RETURN_IF_ERROR(CheckFloating(c.input(0), "input"));
  EST_RETURN_IF_ERROR(CheckSameDType(c, {2}));
  EST_ASSIGN_OR_RETURN(const ConvGeometry g,
                       MakeConvGeometry(c.attrs, c.input(0).shape, filter, family.depthwise));
  EST_RETURN_IF_ERROR(
      CheckShape(c.input(2), g.output(),
                 absl::StrCat("for a filter of ", filter.ToString(), ", out_backprop")));
  return std::vector<TensorSpec>{{c.input(0).dtype, filter}};
}

// Each of the three ops is linear in both of its operands, so its gradients are the other two.
bool RegisterFamily(const Family& family) {
  RegisterOp(
      family.forward, [&family](const ShapeContext& c) { return ForwardShape(c, family); },
      [&family](const Node& node, const Tensors& grads) -> Tensors {
        const Tensor &x = node.input(0), &filter = node.input(1);
        return {InputGradient(family, x.shape(), filter, grads[0], node.attrs()),
                FilterGradient(family, x, filter.shape(), grads[0], node.attrs())};
      });
  RegisterOp(
      family.input, [&family](const ShapeContext& c) { return InputGradientShape(c, family); },
      [&family](const Node& node, const Tensors& grads) -> Tensors {
        const Tensor &filter = node.input(1), &out_backprop = node.input(2);
        return {Tensor(),
                FilterGradient(family, grads[0], filter.shape(), out_backprop, node.attrs()),
                Forward(family, grads[0], filter, node.attrs())};
      });
  return RegisterOp(
      family.filter, [&family](const ShapeContext& c) { return FilterGradientShape(c, family); },
      [&family](const Node& node, const Tensors& grads) -> Tensors {
        const Tensor &x = node.input(0), &out_backprop = node.input(2);
        return {InputGradient(family, x.shape(), grads[0], out_backprop, node.attrs()), Tensor(),
                Forward(family, x, grads[0], node.attrs())};
      });
}

[[maybe_unused]] const bool conv_registered = RegisterFamily(kConv);
[[maybe_unused]] const bool depthwise_registered = RegisterFamily(kDepthwise);

}  // namespace

Tensor Conv2D(const Tensor& x, const Tensor& filter, const Conv2DOptions& options) {
  return Forward(kConv, x, filter, AttrsOf(options), options.name);
}

Tensor Conv2DBackpropInput(const Shape& input, const Tensor& filter, const Tensor& out_backprop,
                           const Conv2DOptions& options) {
  return InputGradient(kConv, input, filter, out_backprop, AttrsOf(options), options.name);
}

Tensor Conv2DBackpropFilter(const Tensor& x, const Shape& filter, const Tensor& out_backprop,
                            const Conv2DOptions& options) {
  return FilterGradient(kConv, x, filter, out_backprop, AttrsOf(options), options.name);
}

Tensor Conv2DTranspose(const Tensor& x, const Tensor& filter, const Shape& output,
                       const Conv2DOptions& options) {
  const NameScope scope(NameOr(options.name, "conv2d_transpose"), GraphFor({x, filter}));
  return InputGradient(kConv, output, filter, x, AttrsOf(options));
}

Tensor DepthwiseConv2dNative(const Tensor& x, const Tensor& filter, const Conv2DOptions& options) {
  return Forward(kDepthwise, x, filter, AttrsOf(options), options.name);
}

Tensor DepthwiseConv2dNativeBackpropInput(const Shape& input, const Tensor& filter,
                                          const Tensor& out_backprop,
                                          const Conv2DOptions& options) {
  return InputGradient(kDepthwise, input, filter, out_backprop, AttrsOf(options), options.name);
}

Tensor DepthwiseConv2dNativeBackpropFilter(const Tensor& x, const Shape& filter,
                                           const Tensor& out_backprop,
                                           const Conv2DOptions& options) {
  return FilterGradient(kDepthwise, x, filter, out_backprop, AttrsOf(options), options.name);
}

Tensor SeparableConv2d(const Tensor& x, const Tensor& depthwise_filter,
                       const Tensor& pointwise_filter, const Conv2DOptions& options) {
  const NameScope scope(NameOr(options.name, "separable_conv2d"),
                        GraphFor({x, depthwise_filter, pointwise_filter}));
  Conv2DOptions depthwise = options;
  depthwise.name = "depthwise";
  const Tensor middle = DepthwiseConv2dNative(x, depthwise_filter, depthwise);
  return Conv2D(middle, pointwise_filter, {.padding = Padding::kValid});
}

}  // namespace estimator
