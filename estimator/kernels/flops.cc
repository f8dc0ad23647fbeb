#include "estimator/kernels/flops.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "estimator/kernels/layout.h"
#include "estimator/kernels/window.h"

namespace estimator {
namespace {

// The image that a convolution reads, or whose gradient it computes, and its filter.
struct Convolution {
  const TensorSpec* image = nullptr;
  const TensorSpec* filter = nullptr;
  bool depthwise = false;
};

std::optional<Convolution> ConvolutionOf(const KernelSpec& spec) {
  const std::string& op = spec.op;
  const bool depthwise = absl::StrContains(op, "DepthwiseConv2dNative");
  if (op == "Conv2D" || op == "_FusedConv2D" || op == "_FusedConv2DMaxPool" ||
      op == "DepthwiseConv2dNative" || op == "_FusedDepthwiseConv2dNative") {
    return Convolution{&spec.inputs[0], &spec.inputs[1], depthwise};
  }
  if (op == "Conv2DBackpropInput" || op == "DepthwiseConv2dNativeBackpropInput")
    return Convolution{&spec.outputs[0], &spec.inputs[1], depthwise};
  if (op == "_Conv2DMaxPoolBackpropInput") return Convolution{&spec.outputs[0], &spec.inputs[0]};
  if (op == "Conv2DBackpropFilter" || op == "_FusedConv2DBackpropFilter" ||
      op == "_Conv2DMaxPoolBackpropFilter" || op == "DepthwiseConv2dNativeBackpropFilter") {
    return Convolution{&spec.inputs[0], &spec.outputs[0], depthwise};
  }
  return std::nullopt;
}

int64_t LargestOperand(const KernelSpec& spec) {
  int64_t largest = 0;
  for (const std::vector<TensorSpec>* list : {&spec.inputs, &spec.outputs}) {
    for (const TensorSpec& tensor : *list) largest = std::max(largest, tensor.shape.num_elements());
  }
  return largest;
}

bool Transposed(const Attrs& attrs, const char* product, const char* batched) {
  for (const char* name : {product, batched}) {
    if (attrs.has(name)) return attrs.b(name);
  }
  return false;
}

}  // namespace

int64_t EstimatedFlops(const KernelSpec& spec) {
  if (const std::optional<Convolution> conv = ConvolutionOf(spec)) {
    Attrs attrs = spec.attrs;
    Shape image = conv->image->shape;
    if (IsBlocked(attrs)) {
      attrs.Set("data_format", std::string(kPlainFormat));
      image = PlainShape(image);
    }
    const auto geometry = MakeConvGeometry(attrs, image, conv->filter->shape, conv->depthwise);
    if (geometry.ok() && geometry->out_channels > 0) {
      const int64_t taps = conv->filter->shape.num_elements() / geometry->out_channels;
      return 2 * geometry->output().num_elements() * taps;
    }
  }
  if (spec.op == "MatMul" || spec.op == "_FusedMatMul" || spec.op == "BatchMatMulV2") {
    const Shape& a = spec.inputs[0].shape;
    const int axis = Transposed(spec.attrs, "transpose_a", "adj_x") ? a.rank() - 2 : a.rank() - 1;
    return 2 * spec.outputs[0].shape.num_elements() * a[axis];
  }
  if (spec.op == "_FusedElementwise" || spec.op == "_FusedElementwiseSum") {
    const auto& ops = spec.attrs.get<std::vector<std::string>>("ops");
    return static_cast<int64_t>(ops.size()) * spec.outputs[0].shape.num_elements();
  }
  return LargestOperand(spec);
}

}  // namespace estimator
