#include "estimator/ops/building/shape_rules.h"

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/graph/node.h"

namespace estimator {

OutputSpecs SameAsInput(const ShapeContext& context) {
  return std::vector<TensorSpec>{context.input(0)};
}

OutputSpecs SameAsFloatingInput(const ShapeContext& context) {
  EST_RETURN_IF_ERROR(CheckFloating(context.input(0)));
  return SameAsInput(context);
}

OutputSpecs SameAsNumberInput(const ShapeContext& context) {
  EST_RETURN_IF_ERROR(CheckNumber(context.input(0)));
  return SameAsInput(context);
}

namespace {

absl::StatusOr<Shape> BroadcastInputs(const ShapeContext& context) {
  EST_RETURN_IF_ERROR(CheckSameDType(context.input(0), context.input(1)));
  return BroadcastShapes(context.input(0).shape, context.input(1).shape);
}

}  // namespace

OutputSpecs BroadcastRule(const ShapeContext& context) {
  EST_RETURN_IF_ERROR(CheckNumber(context.input(0)));
  EST_ASSIGN_OR_RETURN(Shape shape, BroadcastInputs(context));
  return std::vector<TensorSpec>{{context.input(0).dtype, std::move(shape)}};
}

OutputSpecs BroadcastToBoolRule(const ShapeContext& context) {
  EST_ASSIGN_OR_RETURN(Shape shape, BroadcastInputs(context));
  return std::vector<TensorSpec>{{DType::kBool, std::move(shape)}};
}

absl::Status CheckSameDType(const TensorSpec& a, const TensorSpec& b) {
  if (a.dtype == b.dtype) return absl::OkStatus();
  return InvalidArgument("dtypes differ: ", DTypeName(a.dtype), " and ", DTypeName(b.dtype),
                         "; Cast one of them");
}

absl::Status CheckFloating(const TensorSpec& spec) {
  if (IsFloating(spec.dtype)) return absl::OkStatus();
  return InvalidArgument("takes floating numbers, not ", DTypeName(spec.dtype), "; Cast it");
}

absl::Status CheckNumber(const TensorSpec& spec) {
  if (IsFloating(spec.dtype) || IsInteger(spec.dtype)) return absl::OkStatus();
  return InvalidArgument("takes numbers, not ", DTypeName(spec.dtype));
}

absl::StatusOr<int64_t> ConstantInt(const ShapeContext& context, int input) {
  EST_ASSIGN_OR_RETURN(const std::vector<int64_t> values, context.ConstantInts(input));
  if (values.size() == 1) return values[0];
  return InvalidArgument("input ", input, " must hold one number, not ", values.size());
}

absl::StatusOr<Shape> ConstantShape(const ShapeContext& context, int input) {
  EST_ASSIGN_OR_RETURN(std::vector<int64_t> dims, context.ConstantInts(input));
  for (const int64_t size : dims) {
    if (size < 0) return InvalidArgument("the shape contains the size ", size);
  }
  return Shape(std::move(dims));
}

std::vector<int64_t> ConstantInts(const Node& node, int input) {
  return *ShapeContext{node.inputs(), node.attrs(), node.functions()}.ConstantInts(input);
}

Tensors PassThrough(const Node& /*node*/, const Tensors& grads) { return grads; }

absl::StatusOr<int> CheckAxis(int64_t axis, int rank) {
  if (axis >= -rank && axis < rank) return static_cast<int>(axis < 0 ? axis + rank : axis);
  return InvalidArgument(
      rank == 0 ? absl::StrCat("axis ", axis, " is out of range: a scalar has no axes")
                : absl::StrCat("axis ", axis, " is out of range [", -rank, ", ", rank, ")"));
}

absl::StatusOr<int> ConstantAxis(const ShapeContext& context, int input, int rank) {
  EST_ASSIGN_OR_RETURN(const int64_t axis, ConstantInt(context, input));
  return CheckAxis(axis, rank);
}

}  // namespace estimator
