#include "estimator/ops/matmul.h"

#include <vector>

#include "estimator/base/status.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/op_registry.h"
#include "estimator/ops/building/matrix_rules.h"
#include "estimator/ops/building/shape_checks.h"
#include "estimator/ops/math_binary.h"

namespace estimator {
namespace {

// A matrix product by one of the two ops, whose attributes differ only in their names.
Tensor Product(absl::string_view op, const Tensor& a, const Tensor& b, bool transpose_a,
               bool transpose_b, absl::string_view name = "") {
  if (op == "MatMul") {
    return AddOp(op, {a, b}, {{"transpose_a", transpose_a}, {"transpose_b", transpose_b}}, name);
  }
  return AddOp(op, {a, b}, {{"adj_x", transpose_a}, {"adj_y", transpose_b}}, name);
}

absl::StatusOr<Shape> ProductShape(const TensorSpec& a, const TensorSpec& b, bool transpose_a,
                                   bool transpose_b) {
  const int64_t inner_a = a.shape.dim(transpose_a ? -2 : -1),
                inner_b = b.shape.dim(transpose_b ? -1 : -2);
  if (inner_a != inner_b) {
    return InvalidArgument("inner sizes differ: ", inner_a,
                           transpose_a ? " rows of a (transposed)" : " columns of a", ", ", inner_b,
                           transpose_b ? " columns of b (transposed)" : " rows of b");
  }
  return Shape{a.shape.dim(transpose_a ? -1 : -2), b.shape.dim(transpose_b ? -2 : -1)};
}

absl::Status CheckTypes(const ShapeContext& c) {
  const DType dtype = c.input(0).dtype;
  if (!IsFloating(dtype) && dtype != DType::kInt32 && dtype != DType::kInt64) {
    return InvalidArgument("a is ", DTypeName(dtype),
                           ", expected a floating type, int32 or int64: Cast it");
  }
  return CheckSameDType(c);
}

OutputSpecs MatMulShape(const ShapeContext& c) {
  EST_RETURN_IF_ERROR(CheckTypes(c));
  EST_RETURN_IF_ERROR(CheckRank(c.input(0), 2, "a"));
  EST_RETURN_IF_ERROR(CheckRank(c.input(1), 2, "b"));
  EST_ASSIGN_OR_RETURN(
      const Shape shape,
      ProductShape(c.input(0), c.input(1), c.attrs.b("transpose_a"), c.attrs.b("transpose_b")));
  return std::vector<TensorSpec>{{c.input(0).dtype, shape}};
}

OutputSpecs BatchMatMulShape(const ShapeContext& c) {
  EST_RETURN_IF_ERROR(CheckTypes(c));
  EST_RETURN_IF_ERROR(CheckRankAtLeast(c.input(0), 2, "x"));
  EST_RETURN_IF_ERROR(CheckRankAtLeast(c.input(1), 2, "y"));
  EST_ASSIGN_OR_RETURN(const Shape matrix, ProductShape(c.input(0), c.input(1), c.attrs.b("adj_x"),
                                                        c.attrs.b("adj_y")));
  EST_ASSIGN_OR_RETURN(const Shape batch,
                       BroadcastShapes(BatchAxes(c.input(0).shape), BatchAxes(c.input(1).shape)));
  return std::vector<TensorSpec>{
      {c.input(0).dtype, MatrixShape(batch, matrix.dim(0), matrix.dim(1))}};
}

// For out = A B, where A is a or its transpose: dA = g B', dB = A' g.
Tensors ProductGradient(const Node& node, const Tensor& g, bool ta, bool tb) {
  const Tensor &a = node.input(0), &b = node.input(1);
  const absl::string_view op = node.op();
  const Tensor da = ta ? Product(op, b, g, tb, true) : Product(op, g, b, false, !tb);
  const Tensor db = tb ? Product(op, g, a, true, ta) : Product(op, a, g, !ta, false);
  return {SumToShapeOf(da, a), SumToShapeOf(db, b)};
}

EST_REGISTER_OP("MatMul", MatMulShape, [](const Node& node, const Tensors& grads) {
  return ProductGradient(node, grads[0], node.attrs().b("transpose_a"),
                         node.attrs().b("transpose_b"));
});
EST_REGISTER_OP("BatchMatMulV2", BatchMatMulShape, [](const Node& node, const Tensors& grads) {
  return ProductGradient(node, grads[0], node.attrs().b("adj_x"), node.attrs().b("adj_y"));
});

}  // namespace

Tensor MatMul(const Tensor& a, const Tensor& b, const MatMulOptions& options, StringArg name) {
  const bool batched = a.rank() > 2 || b.rank() > 2;
  return Product(batched ? "BatchMatMulV2" : "MatMul", a, b, options.transpose_a,
                 options.transpose_b, name.empty() ? "MatMul" : name);
}

Tensor BatchMatMulV2(const Tensor& x, const Tensor& y, const BatchMatMulOptions& options,
                     StringArg name) {
  return Product("BatchMatMulV2", x, y, options.adj_x, options.adj_y, name);
}

}  // namespace estimator
