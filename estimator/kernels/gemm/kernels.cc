#include "estimator/kernels/gemm/kernels.h"

#include <omp.h>

#include <memory>
#include <optional>

#include "estimator/kernels/fused_ops.h"
#include "estimator/kernels/gemm/gemm.h"
#include "estimator/kernels/prepared_input.h"

namespace estimator::gemm {
namespace {

bool IsF32(const TensorSpec& spec) { return spec.dtype == DType::kFloat32; }

bool Flag(const Attrs& attrs, const char* name) { return attrs.has(name) && attrs.b(name); }

// The product of factors, if they are f32 matrices whose shapes agree.
std::optional<Product> PlainProductOf(const KernelSpec& spec) {
  if (spec.inputs.size() < 2 || spec.outputs.size() != 1) return std::nullopt;
  const TensorSpec &a = spec.inputs[0], &b = spec.inputs[1], &c = spec.outputs[0];
  for (const TensorSpec* matrix : {&a, &b, &c}) {
    if (!IsF32(*matrix) || matrix->shape.rank() != 2 || matrix->shape.num_elements() == 0)
      return std::nullopt;
  }
  Product product{.m = c.shape[0],
                  .n = c.shape[1],
                  .transpose_a = Flag(spec.attrs, "transpose_a"),
                  .transpose_b = Flag(spec.attrs, "transpose_b")};
  product.k = a.shape[product.transpose_a ? 0 : 1];
  const Shape expected_a =
      product.transpose_a ? Shape{product.k, product.m} : Shape{product.m, product.k};
  const Shape expected_b =
      product.transpose_b ? Shape{product.n, product.k} : Shape{product.k, product.n};
  if (a.shape != expected_a || b.shape != expected_b) return std::nullopt;
  return product;
}

// A product with what follows it.
struct FusedProduct {
  Product product;
  bool bias = false;
};

std::optional<FusedProduct> ProductOf(const KernelSpec& spec) {
  std::optional<Product> product = PlainProductOf(spec);
  if (!product.has_value()) return std::nullopt;
  const std::optional<FusedOps> fused = FusedOpsOf(spec);
  if (!fused.has_value() || fused->side) return std::nullopt;
  if (fused->bias && spec.inputs[2] != TensorSpec{DType::kFloat32, {product->n}})
    return std::nullopt;
  product->activation = fused->activation;
  product->alpha = fused->alpha;
  return FusedProduct{.product = *product, .bias = fused->bias};
}

// The weights, b, can be prepared: their panels are then not copied in every step.
class MatMul final : public Kernel, public PreparedInput {
 public:
  explicit MatMul(const FusedProduct& fused)
      : plan_(MakePlan(fused.product, omp_get_max_threads())), bias_(fused.bias) {}

  absl::Status Run(const KernelArgs& args) override {
    Multiply(plan_, args.in<float>(0), args.in<float>(1), Bias(args), args.out<float>(0),
             static_cast<float*>(args.scratch));
    return absl::OkStatus();
  }
  size_t scratch_bytes() const override { return plan_.scratch_floats() * sizeof(float); }

  int prepared_input() const override { return 1; }
  size_t prepared_bytes() const override { return PanelsFloats(plan_.product) * sizeof(float); }
  size_t prepared_scratch_bytes() const override { return scratch_bytes(); }
  absl::Status Prepare(const void* input, void* prepared, void* /*scratch*/) override {
    CopyAllPanels(plan_.product, static_cast<const float*>(input), static_cast<float*>(prepared));
    return absl::OkStatus();
  }
  absl::Status RunPrepared(const KernelArgs& args) override {
    MultiplyPanels(plan_, args.in<float>(0), args.in<float>(1), Bias(args), args.out<float>(0),
                   static_cast<float*>(args.scratch));
    return absl::OkStatus();
  }

 private:
  const float* Bias(const KernelArgs& args) const { return bias_ ? args.in<float>(2) : nullptr; }

  const Plan plan_;
  const bool bias_;
};

}  // namespace

bool AcceptsMatMul(const KernelSpec& spec) { return ProductOf(spec).has_value(); }

std::unique_ptr<Kernel> MakeMatMul(const KernelSpec& spec) {
  const std::optional<FusedProduct> fused = ProductOf(spec);
  if (!fused.has_value()) return nullptr;
  return std::make_unique<MatMul>(*fused);
}

}  // namespace estimator::gemm
