#include "estimator/ops/bias.h"

#include <string>
#include <vector>

#include "estimator/base/status.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/op_registry.h"
#include "estimator/ops/building/shape_checks.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/shape_ops.h"

namespace estimator {
namespace {

const Attrs& Nhwc() {
  static const Attrs* const attrs = new Attrs{{"data_format", std::string("NHWC")}};
  return *attrs;
}

absl::Status CheckChannels(const ShapeContext& c, absl::string_view what) {
  const TensorSpec& x = c.input(0);
  if (c.attrs.s("data_format") != "NHWC") {
    return InvalidArgument("data_format is ", c.attrs.s("data_format"),
                           ", only NHWC is supported: transpose ", what);
  }
  EST_RETURN_IF_ERROR(CheckFloating(x, what));
  return CheckRankAtLeast(x, 2, what);
}

OutputSpecs BiasAddShape(const ShapeContext& c) {
  EST_RETURN_IF_ERROR(CheckChannels(c, "input"));
  EST_RETURN_IF_ERROR(CheckSameDType(c));
  EST_RETURN_IF_ERROR(CheckRank(c.input(1), 1, "bias"));
  const int64_t channels = c.input(0).shape.dim(-1), bias = c.input(1).shape.dim(0);
  if (channels != bias) {
    return InvalidArgument("input has ", channels, " channels, bias has ", bias);
  }
  return std::vector<TensorSpec>{c.input(0)};
}

EST_REGISTER_OP("BiasAdd", BiasAddShape, [](const Node&, const Tensors& grads) -> Tensors {
  return {grads[0], BiasAddGrad(grads[0])};
});
EST_REGISTER_OP(
    "BiasAddGrad",
    [](const ShapeContext& c) -> OutputSpecs {
      EST_RETURN_IF_ERROR(CheckChannels(c, "out_backprop"));
      return std::vector<TensorSpec>{{c.input(0).dtype, {c.input(0).shape.dim(-1)}}};
    },
    [](const Node& node, const Tensors& grads) -> Tensors {
      return {BroadcastTo(grads[0], node.input(0).shape())};
    });

}  // namespace

Tensor BiasAdd(const Tensor& x, const Tensor& bias, StringArg name) {
  return AddOp("BiasAdd", {x, bias}, Nhwc(), name);
}

Tensor BiasAddGrad(const Tensor& grad, StringArg name) {
  return AddOp("BiasAddGrad", {grad}, Nhwc(), name);
}

}  // namespace estimator
