#include "estimator/ops/scan.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/op_registry.h"
#include "estimator/ops/builder.h"
#include "estimator/ops/shape_rules.h"

namespace estimator {
namespace {

using Grads = std::vector<Tensor>;

OutputSpecs CumsumRule(const ShapeContext& context) {
  EST_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, context.ConstantInts(1));
  EST_RETURN_IF_ERROR(CheckAxis(axes[0], context.input(0).shape.rank()).status());
  return SameAsNumberInput(context);
}

// A sum over what comes before turns into one over what comes after.
Grads CumsumGradient(const Node& node, const Grads& grads) {
  Attrs attrs = node.attrs();
  attrs.Set("reverse", !attrs.b("reverse"));
  return {AddOp("Cumsum", {grads[0], node.input(1)}, attrs), Tensor()};
}

OutputSpecs BandRule(const ShapeContext& context) {
  EST_RETURN_IF_ERROR(context.ConstantInts(1).status());
  EST_RETURN_IF_ERROR(context.ConstantInts(2).status());
  if (context.input(0).shape.rank() >= 2) return SameAsInput(context);
  return absl::InvalidArgumentError(
      absl::StrCat("takes matrices [..., M, N], not ", context.input(0).ToString()));
}

Grads BandGradient(const Node& node, const Grads& grads) {
  return {AddOp("MatrixBandPart", {grads[0], node.input(1), node.input(2)}), Tensor(), Tensor()};
}

EST_REGISTER_OP(
    {.name = "Cumsum", .num_inputs = 2, .shape = CumsumRule, .gradient = CumsumGradient});
EST_REGISTER_OP(
    {.name = "MatrixBandPart", .num_inputs = 3, .shape = BandRule, .gradient = BandGradient});

}  // namespace

Tensor Cumsum(const Tensor& x, int axis, CumsumOptions options, absl::string_view name) {
  return OpBuilder("Cumsum", name)
      .Input(x)
      .Int("axis", axis)
      .Attr("exclusive", options.exclusive)
      .Attr("reverse", options.reverse)
      .Build();
}

Tensor MatrixBandPart(const Tensor& x, int64_t num_lower, int64_t num_upper,
                      absl::string_view name) {
  return OpBuilder("MatrixBandPart", name)
      .Input(x)
      .Const("num_lower", Array::Scalar(num_lower))
      .Const("num_upper", Array::Scalar(num_upper))
      .Build();
}

}  // namespace estimator
