// MatMul, _FusedMatMul and BatchMatMulV2 by oneDNN's matmul. A transposed operand is read with
// swapped strides, without a copy.
//   _FusedMatMul (kernels/fused_ops.h): with Relu, Relu6, LeakyRelu or no activation. The output may
//     use the buffer of the side input.
//   BatchMatMulV2: attributes adj_x, adj_y; batch axes broadcast as in TensorFlow
// The product of bf16 operands may be f32 (passes/fuse.h, FuseCast).
#include <memory>
#include <optional>

#include "estimator/kernels/kernel_rules.h"
#include "estimator/kernels/onednn/primitive_chain.h"

namespace estimator::onednn {
namespace {

using dnnl::memory;

bool Flag(const Attrs& attrs, const char* name) { return attrs.has(name) && attrs.b(name); }

// The layout of a matrix or a batch of them, transposed if asked. Leading batch axes of size 1 are
// added up to `rank`.
memory::desc MatrixLayout(const TensorSpec& spec, bool transpose, int rank) {
  const Shape& shape = spec.shape;
  const std::vector<int64_t> shape_strides = shape.strides();
  memory::dims dims(static_cast<size_t>(rank), 1),
      strides(static_cast<size_t>(rank), shape.num_elements());
  const size_t offset = static_cast<size_t>(rank - shape.rank());
  for (size_t i = 0; i < shape_strides.size(); ++i) {
    dims[offset + i] = shape[static_cast<int>(i)];
    strides[offset + i] = shape_strides[i];
  }
  if (transpose) {
    std::swap(dims[dims.size() - 1], dims[dims.size() - 2]);
    std::swap(strides[dims.size() - 1], strides[dims.size() - 2]);
  }
  return memory::desc(dims, DataType(spec.dtype), strides);
}

// Whether b is transposed in scratch first.
bool IsTurned(const TensorSpec& a, const TensorSpec& c, bool transpose_b) {
  if (a.dtype != DType::kFloat32 || transpose_b || a.shape.rank() != 2) return false;
  const dnnl::cpu_isa isa = dnnl::get_effective_cpu_isa();
  const bool avx2 = isa == dnnl::cpu_isa::avx2 || isa == dnnl::cpu_isa::avx2_vnni;
  return avx2 && OneDnnMatMulIsFasterTransposed(c.shape[0], c.shape[1]);
}

// What oneDNN does for a spec.
struct MatMulPlan {
  FusedOps fused;
  memory::desc a, given_b, b, bias, c;
  dnnl::matmul::primitive_desc desc;
};

// nullopt if oneDNN does not support the spec. Only oneDNN knows that: the answer is whether it makes a
// primitive descriptor. This is cheap beside building the primitive, which generates its code.
std::optional<MatMulPlan> MatMulPlanOf(const KernelSpec& spec, bool transpose_a, bool transpose_b) {
  const TensorSpec& a = spec.inputs[0];
  const TensorSpec& b = spec.inputs[1];
  const TensorSpec& c = spec.outputs[0];
  const std::optional<FusedOps> fused = SupportedFusedOps(spec);
  if (!fused.has_value()) return std::nullopt;
  if (fused->side && !(spec.inputs[3] == c)) return std::nullopt;
  // oneDNN sums in f32, and can write a bf16 product in f32.
  const bool widens = a.dtype == DType::kBfloat16 && c.dtype == DType::kFloat32;
  if (!SupportedType(a.dtype) || b.dtype != a.dtype) return std::nullopt;
  if (c.dtype != a.dtype && !widens) return std::nullopt;
  const int rank = c.shape.rank();
  if (rank < 2 || rank > 6 || a.shape.rank() < 2 || b.shape.rank() < 2) return std::nullopt;
  if (a.shape.num_elements() == 0 || b.shape.num_elements() == 0) return std::nullopt;
  if (fused->bias) {
    const TensorSpec& bias = spec.inputs[2];
    if (bias.dtype != a.dtype && bias.dtype != c.dtype) return std::nullopt;
    if (bias.shape != Shape{c.shape[-1]}) return std::nullopt;
  }

  return NullIfUnsupported([&]() -> std::optional<MatMulPlan> {
    const memory::desc a_layout = MatrixLayout(a, transpose_a, rank);
    const memory::desc given_b = MatrixLayout(b, transpose_b, rank);
    const memory::desc b_layout =
        IsTurned(a, c, transpose_b)
            ? memory::desc(given_b.dims(), given_b.data_type(), memory::format_tag::ba)
            : given_b;
    const memory::desc c_layout = MatrixLayout(c, false, rank);
    memory::dims bias_dims(static_cast<size_t>(rank), 1);
    bias_dims.back() = c.shape[-1];
    const memory::desc bias_layout = fused->bias
                                         ? memory::desc(bias_dims, DataType(spec.inputs[2].dtype),
                                                        memory::dims(bias_dims.size(), 1))
                                         : memory::desc();
    dnnl::matmul::primitive_desc desc(
        fused->bias ? dnnl::matmul::desc(a_layout, b_layout, bias_layout, c_layout)
                    : dnnl::matmul::desc(a_layout, b_layout, c_layout),
        FusedAttributes(*fused), CpuEngine());
    if (!SkipReference(desc)) return std::nullopt;
    return MatMulPlan{.fused = *fused,
                      .a = a_layout,
                      .given_b = given_b,
                      .b = b_layout,
                      .bias = bias_layout,
                      .c = c_layout,
                      .desc = desc};
  });
}

std::optional<MatMulPlan> DensePlanOf(const KernelSpec& spec) {
  if (spec.inputs.size() < 2) return std::nullopt;
  return MatMulPlanOf(spec, Flag(spec.attrs, "transpose_a"), Flag(spec.attrs, "transpose_b"));
}

std::optional<MatMulPlan> BatchedPlanOf(const KernelSpec& spec) {
  if (spec.inputs.size() != 2) return std::nullopt;
  return MatMulPlanOf(spec, Flag(spec.attrs, "adj_x"), Flag(spec.attrs, "adj_y"));
}

std::unique_ptr<Kernel> MakeKernelOf(const KernelSpec& spec,
                                     const std::optional<MatMulPlan>& plan) {
  if (!plan.has_value()) return nullptr;
  return NullIfUnsupported([&]() -> std::unique_ptr<Kernel> {
    auto chain = std::make_unique<PrimitiveChain>(spec.name);
    std::vector<Argument> arguments = {
        {DNNL_ARG_SRC, plan->a, Input(0)},
        {DNNL_ARG_WEIGHTS, plan->b, chain->InPreparedLayout(1, plan->given_b, plan->b)},
        {DNNL_ARG_DST, plan->c, Output(0)}};
    if (plan->fused.bias) arguments.push_back({DNNL_ARG_BIAS, plan->bias, Input(2)});
    if (plan->fused.side) {
      chain->AddCopy(Input(3), Output(0), spec.outputs[0].num_bytes());
      chain->set_alias_input(3);
    }
    chain->AddStep(dnnl::matmul(plan->desc), plan->desc.scratchpad_desc(), arguments);
    chain->set_implementation(plan->desc.impl_info_str());
    return chain;
  });
}

bool AcceptsDense(const KernelSpec& spec) { return DensePlanOf(spec).has_value(); }
std::unique_ptr<Kernel> MakeDense(const KernelSpec& spec) {
  return MakeKernelOf(spec, DensePlanOf(spec));
}

bool AcceptsBatched(const KernelSpec& spec) { return BatchedPlanOf(spec).has_value(); }
std::unique_ptr<Kernel> MakeBatched(const KernelSpec& spec) {
  return MakeKernelOf(spec, BatchedPlanOf(spec));
}

EST_REGISTER_KERNEL("MatMul", KernelTier::kOneDnn, MakeDense, AcceptsDense);
EST_REGISTER_KERNEL("_FusedMatMul", KernelTier::kOneDnn, MakeDense, AcceptsDense);
EST_REGISTER_KERNEL("BatchMatMulV2", KernelTier::kOneDnn, MakeBatched, AcceptsBatched);

}  // namespace
}  // namespace estimator::onednn
