#include "estimator/ops/scan.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "estimator/base/status.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/op_registry.h"
#include "estimator/ops/building/builder.h"
#include "estimator/ops/building/shape_rules.h"

namespace estimator {
namespace {

OutputSpecs CumsumRule(const ShapeContext& context) {
  EST_RETURN_IF_ERROR(ConstantAxis(context, 1, context.input(0).shape.rank()).status());
  return SameAsNumberInput(context);
}

// The gradient of a running sum is the running sum of the gradient in the other direction.
Tensors CumsumGradient(const Node& node, const Tensors& grads) {
  Attrs attrs = node.attrs();
  attrs.Set("reverse", !attrs.b("reverse"));
  return {AddOp("Cumsum", {grads[0], node.input(1)}, attrs), Tensor()};
}

// Source: TF 2.15 math_grad._CumprodGrad.
Tensors CumprodGradient(const Node& node, const Tensors& grads) {
  const Tensor product = ResultOf(node);
  Attrs attrs = node.attrs();
  attrs.Set("reverse", !attrs.b("reverse"));
  const Tensor sum = AddOp("Cumsum", {AddOp("Mul", {product, grads[0]}), node.input(1)}, attrs);
  return {AddOp("RealDiv", {sum, node.input(0)}), Tensor()};
}

absl::Status CheckMatrix(const TensorSpec& spec) {
  if (spec.shape.rank() >= 2) return absl::OkStatus();
  return InvalidArgument("takes matrices [..., M, N], not ", spec.ToString());
}

OutputSpecs DiagPartRule(const ShapeContext& context) {
  EST_RETURN_IF_ERROR(CheckMatrix(context.input(0)));
  std::vector<int64_t> dims = context.input(0).shape.dims();
  const int64_t columns = dims.back();
  dims.pop_back();
  dims.back() = std::min(dims.back(), columns);
  return std::vector<TensorSpec>{{context.input(0).dtype, Shape(std::move(dims))}};
}

OutputSpecs DiagRule(const ShapeContext& context) {
  Shape shape = context.input(0).shape;
  if (shape.rank() < 1) return InvalidArgument("takes diagonals [..., N], not a scalar");
  shape.push_back(shape.dim(-1));
  return std::vector<TensorSpec>{{context.input(0).dtype, shape}};
}

// A diagonal matrix, with zeros below or to the right of it if the matrices are not square.
Tensors DiagPartGradient(const Node& node, const Tensors& grads) {
  const Shape& whole = node.input(0).shape();
  const int64_t size = grads[0].dim(-1);
  const Tensor square = AddOp("MatrixDiag", {grads[0]});
  if (whole.dim(-1) == size && whole.dim(-2) == size) return {square};
  std::vector<int64_t> paddings(static_cast<size_t>(2 * whole.rank()));
  paddings[paddings.size() - 3] = whole.dim(-2) - size;
  paddings[paddings.size() - 1] = whole.dim(-1) - size;
  return {OpBuilder("Pad", "Pad")
              .Input(square)
              .Const("paddings", IntArray(Shape{whole.rank(), 2}, paddings))
              .Build()};
}

OutputSpecs InvertPermutationRule(const ShapeContext& context) {
  const TensorSpec& x = context.input(0);
  if (x.shape.rank() == 1 && (x.dtype == DType::kInt32 || x.dtype == DType::kInt64)) {
    return SameAsInput(context);
  }
  return InvalidArgument("takes a vector of int32 or int64, not ", x.ToString());
}

OutputSpecs BandRule(const ShapeContext& context) {
  EST_RETURN_IF_ERROR(ConstantInt(context, 1).status());
  EST_RETURN_IF_ERROR(ConstantInt(context, 2).status());
  EST_RETURN_IF_ERROR(CheckMatrix(context.input(0)));
  return SameAsInput(context);
}

Tensors BandGradient(const Node& node, const Tensors& grads) {
  return {AddOp("MatrixBandPart", {grads[0], node.input(1), node.input(2)}), Tensor(), Tensor()};
}

EST_REGISTER_OP("Cumsum", CumsumRule, CumsumGradient);
EST_REGISTER_OP("Cumprod", CumsumRule, CumprodGradient);
EST_REGISTER_OP("MatrixDiag", DiagRule, [](const Node&, const Tensors& grads) -> Tensors {
  return {AddOp("MatrixDiagPart", {grads[0]})};
});
EST_REGISTER_OP("MatrixDiagPart", DiagPartRule, DiagPartGradient);
EST_REGISTER_OP("InvertPermutation", InvertPermutationRule);
EST_REGISTER_OP("MatrixBandPart", BandRule, BandGradient);

Tensor Scan(absl::string_view op, const Tensor& x, int axis, const CumsumOptions& options) {
  return OpBuilder(op, NameOr(options.name, op))
      .Input(x)
      .Int("axis", axis)
      .Attr("exclusive", options.exclusive)
      .Attr("reverse", options.reverse)
      .Build();
}

}  // namespace

Tensor Cumsum(const Tensor& x, int axis, const CumsumOptions& options) {
  return Scan("Cumsum", x, axis, options);
}

Tensor Cumprod(const Tensor& x, int axis, const CumsumOptions& options) {
  return Scan("Cumprod", x, axis, options);
}

Tensor MatrixDiag(const Tensor& diagonal, StringArg name) {
  return AddOp("MatrixDiag", {diagonal}, {}, name);
}

Tensor MatrixDiagPart(const Tensor& x, StringArg name) {
  return AddOp("MatrixDiagPart", {x}, {}, name);
}

Tensor InvertPermutation(const Tensor& x, StringArg name) {
  return AddOp("InvertPermutation", {x}, {}, name);
}

Tensor MatrixBandPart(const Tensor& x, int64_t num_lower, int64_t num_upper, StringArg name) {
  return OpBuilder("MatrixBandPart", name)
      .Input(x)
      .Const("num_lower", Array::Scalar(num_lower))
      .Const("num_upper", Array::Scalar(num_upper))
      .Build();
}

}  // namespace estimator
