#include "estimator/kernels/bfloat16/matmul_kernel.h"

#include <omp.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "estimator/kernels/bfloat16/convolution.h"
#include "estimator/kernels/bfloat16/matmul.h"
#include "estimator/kernels/bfloat16/spec.h"
#include "estimator/kernels/bfloat16/tiles.h"
#include "estimator/kernels/fused/bfloat16.h"
#include "estimator/kernels/prepared_input.h"

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

// The weights, b, can be prepared: they are then not packed in every step.
class MatMul final : public Kernel, public PreparedInput {
 public:
  MatMul(const KernelSpec& spec, const FusedProduct& op)
      : fused_(op.fused),
        plan_(MakeMatMulPlan(op.product, omp_get_max_threads())),
        wide_(IsF32(spec.outputs[0])),
        narrow_bias_(op.fused.bias && IsBfloat16(spec.inputs[2])) {}

  absl::Status Run(const KernelArgs& args) override {
    const bool splits = plan_.product.splits;
    MultiplyMatrices(plan_, DataOf(args, 0, splits), DataOf(args, 1, splits), TargetOf(args),
                     args.scratch);
    return absl::OkStatus();
  }
  // A bias in f32 comes after the plan's scratch memory.
  size_t scratch_bytes() const override {
    return plan_.scratch_bytes() + (narrow_bias_ ? Columns() * sizeof(float) : 0);
  }

  int prepared_input() const override { return 1; }
  size_t prepared_bytes() const override { return plan_.packed_bytes(); }
  size_t prepared_scratch_bytes() const override { return scratch_bytes(); }
  absl::Status Prepare(const void* input, void* prepared, void* /*scratch*/) override {
    MatrixData b;
    if (plan_.product.splits) {
      b.wide = static_cast<const float*>(input);
    } else {
      b.narrow = static_cast<const Bfloat16*>(input);
    }
    PackRightOperand(plan_, b, prepared);
    return absl::OkStatus();
  }
  absl::Status RunPrepared(const KernelArgs& args) override {
    MultiplyPacked(plan_, DataOf(args, 0, plan_.product.splits), args.inputs[1], TargetOf(args),
                   args.scratch);
    return absl::OkStatus();
  }

 private:
  size_t Columns() const { return static_cast<size_t>(plan_.product.n); }

  MatMulTarget TargetOf(const KernelArgs& args) const {
    MatMulTarget c{.activation = fused_.activation};
    if (wide_) {
      c.wide = args.out<float>(0);
    } else {
      c.narrow = args.out<Bfloat16>(0);
    }
    if (narrow_bias_) {
      char* const end = static_cast<char*>(args.scratch) + plan_.scratch_bytes();
      float* const bias = reinterpret_cast<float*>(end);
      fused::WidenBfloat16(args.in<Bfloat16>(2), bias, Columns());
      c.bias = bias;
    } else if (fused_.bias) {
      c.bias = args.in<float>(2);
    }
    if (fused_.side) c.side = args.in<float>(3);
    return c;
  }

  const Fused fused_;
  const MatMulPlan plan_;
  const bool wide_;         // the result is f32
  const bool narrow_bias_;  // the bias is bf16
};

}  // namespace

bool AcceptsMatMul(const KernelSpec& spec) { return FusedProductOf(spec).has_value(); }

std::unique_ptr<Kernel> MakeMatMul(const KernelSpec& spec) {
  const std::optional<FusedProduct> op = FusedProductOf(spec);
  if (!op.has_value()) return nullptr;
  return std::make_unique<MatMul>(spec, *op);
}

}  // namespace estimator::bfloat16
