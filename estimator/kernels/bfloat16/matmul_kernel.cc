#include "estimator/kernels/bfloat16/matmul_kernel.h"

#include <omp.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "estimator/kernels/bfloat16/convolution.h"
#include "estimator/kernels/bfloat16/matmul.h"
#include "estimator/kernels/bfloat16/spec.h"
#include "estimator/kernels/bfloat16/tiles.h"
#include "estimator/kernels/fused/bfloat16.h"
#include "estimator/kernels/fused/parallel.h"

namespace estimator::bfloat16 {
namespace {

bool Flag(const Attrs& attrs, const char* name) { return attrs.has(name) && attrs.b(name); }

// The product of a spec, if its shapes agree and its types are supported.
std::optional<Product> ProductOf(const KernelSpec& spec) {
  if (spec.inputs.size() < 2 || spec.outputs.size() != 1) return std::nullopt;
  const TensorSpec &a = spec.inputs[0], &b = spec.inputs[1], &c = spec.outputs[0];
  const auto numbers = NumbersOf(spec, a, b);
  if (!numbers.has_value()) return std::nullopt;
  for (const TensorSpec* matrix : {&a, &b, &c}) {
    if (matrix->shape.rank() != 2 || matrix->shape.num_elements() == 0) return std::nullopt;
  }
  Product p{.m = c.shape[0],
            .n = c.shape[1],
            .transpose_a = Flag(spec.attrs, "transpose_a"),
            .transpose_b = Flag(spec.attrs, "transpose_b"),
            .splits = numbers == Numbers::kSplit};
  p.k = a.shape[p.transpose_a ? 0 : 1];
  if (a.shape != (p.transpose_a ? Shape{p.k, p.m} : Shape{p.m, p.k})) return std::nullopt;
  if (b.shape != (p.transpose_b ? Shape{p.n, p.k} : Shape{p.k, p.n})) return std::nullopt;
  return p;
}

// A product with what follows it.
struct FusedProduct {
  Product product;
  Fused fused;
};

std::optional<FusedProduct> FusedProductOf(const KernelSpec& spec) {
  if (!IsAvailable()) return std::nullopt;
  const std::optional<Product> product = ProductOf(spec);
  if (!product.has_value()) return std::nullopt;
  if (std::min({product->m, product->n, product->k}) < kFewestChannels) return std::nullopt;
  const std::optional<Fused> fused = FusedOf(spec, product->n);
  if (!fused.has_value()) return std::nullopt;
  return FusedProduct{.product = *product, .fused = *fused};
}

MatrixData DataOf(const KernelArgs& args, int input, bool wide) {
  if (wide) return {.wide = args.in<float>(input)};
  return {.narrow = args.in<Bfloat16>(input)};
}

}  // namespace

bool AcceptsMatMul(const KernelSpec& spec) { return FusedProductOf(spec).has_value(); }

std::unique_ptr<Kernel> MakeMatMul(const KernelSpec& spec) {
  const std::optional<FusedProduct> op = FusedProductOf(spec);
  if (!op.has_value()) return nullptr;
  const Fused fused = op->fused;
  const MatMulPlan plan = MakeMatMulPlan(op->product, omp_get_max_threads());
  const bool wide = IsF32(spec.outputs[0]);
  const bool narrow_bias = fused.bias && IsBfloat16(spec.inputs[2]);
  const size_t columns = static_cast<size_t>(op->product.n);
  // A bias in f32 comes after the plan's scratch memory.
  const size_t bias_offset = plan.scratch_bytes();
  return fused::MakeFusedKernel(
      [=](const KernelArgs& args) {
        MatMulTarget c{.relu = fused.relu};
        if (wide) {
          c.wide = args.out<float>(0);
        } else {
          c.narrow = args.out<Bfloat16>(0);
        }
        if (narrow_bias) {
          float* const bias =
              reinterpret_cast<float*>(static_cast<char*>(args.scratch) + bias_offset);
          fused::WidenBfloat16(args.in<Bfloat16>(2), bias, columns);
          c.bias = bias;
        } else if (fused.bias) {
          c.bias = args.in<float>(2);
        }
        if (fused.side) c.side = args.in<float>(3);
        const bool splits = plan.product.splits;
        MultiplyMatrices(plan, DataOf(args, 0, splits), DataOf(args, 1, splits), c, args.scratch);
        return absl::OkStatus();
      },
      {.scratch_bytes = bias_offset + (narrow_bias ? columns * sizeof(float) : 0)});
}

}  // namespace estimator::bfloat16
