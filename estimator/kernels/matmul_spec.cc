#include "estimator/kernels/matmul_spec.h"

namespace estimator {

std::optional<MatMulSpec> MatMulSpecOf(const KernelSpec& spec) {
  const bool batched = spec.op == "BatchMatMulV2";
  if (!batched && spec.op != "MatMul" && spec.op != "_FusedMatMul") return std::nullopt;
  if (spec.inputs.size() < 2 || spec.outputs.size() != 1) return std::nullopt;
  const auto flag = [&spec](const char* name) {
    return spec.attrs.has(name) && spec.attrs.b(name);
  };
  MatMulSpec product{.sizes = {.transpose_a = flag(batched ? "adj_x" : "transpose_a"),
                               .transpose_b = flag(batched ? "adj_y" : "transpose_b")},
                     .a = spec.inputs[0],
                     .b = spec.inputs[1],
                     .c = spec.outputs[0],
                     .name = spec.name,
                     .algorithm = spec.conv_algorithm};
  const Shape &a = product.a.shape, &b = product.b.shape, &c = product.c.shape;
  for (const Shape* shape : {&a, &b, &c}) {
    if (batched ? shape->rank() < 2 : shape->rank() != 2) return std::nullopt;
  }
  MatMulSizes& s = product.sizes;
  s.m = c.dim(-2);
  s.n = c.dim(-1);
  s.k = a.dim(s.transpose_a ? -2 : -1);
  // Kernels compute addresses from m, n and k alone, so the shapes are compared here, once for all
  // of them.
  if (a.dim(s.transpose_a ? -1 : -2) != s.m || b.dim(s.transpose_b ? -1 : -2) != s.k ||
      b.dim(s.transpose_b ? -2 : -1) != s.n) {
    return std::nullopt;
  }
  const std::optional<FusedOps> fused = FusedOpsOf(spec);
  if (!fused.has_value()) return std::nullopt;
  product.fused = *fused;
  if (fused->bias) product.bias = spec.inputs[2];
  if (fused->side) product.side = spec.inputs[3];
  return product;
}

}  // namespace estimator
