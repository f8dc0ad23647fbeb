// MatMul, _FusedMatMul and BatchMatMulV2 by oneDNN's matmul. A transposed operand is read with
// swapped strides, without a copy.
//   _FusedMatMul (kernels/fused_ops.h): with Relu, Relu6, LeakyRelu or no activation. The output
//     may use the buffer of the side input.
//   BatchMatMulV2: attributes adj_x, adj_y; batch axes broadcast as in TensorFlow
// The product of bf16 operands may be f32 (passes/fusion/fuse.h, FuseCast).
#include <memory>
#include <optional>

#include "estimator/kernels/kernel_rules.h"
#include "estimator/kernels/matmul_spec.h"
#include "estimator/kernels/onednn/primitive_chain.h"

namespace estimator::onednn {
namespace {

using dnnl::memory;

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
bool IsTurned(const MatMulSpec& spec) {
  if (spec.dtype() != DType::kFloat32 || spec.sizes.transpose_b || spec.a.shape.rank() != 2)
    return false;
  const dnnl::cpu_isa isa = dnnl::get_effective_cpu_isa();
  // The rule was measured for oneDNN's kernels for AVX2 only.
  const bool avx2 = isa == dnnl::cpu_isa::avx2 || isa == dnnl::cpu_isa::avx2_vnni;
  return avx2 && OneDnnMatMulIsFasterTransposed(spec.c.shape[0], spec.c.shape[1]);
}

// What oneDNN does for a spec.
struct MatMulPlan {
  FusedOps fused;
  memory::desc a, given_b, b, bias, c;
  dnnl::matmul::primitive_desc desc;
  bool one_thread = false;
};

// nullopt if oneDNN does not support the spec. Only oneDNN knows that: the answer is whether it
// makes a primitive descriptor. This is cheap beside building the primitive, which generates its
// code.
std::optional<MatMulPlan> MatMulPlanOf(const MatMulSpec& spec) {
  const TensorSpec &a = spec.a, &b = spec.b, &c = spec.c;
  const FusedOps& fused = spec.fused;
  if (!IsSupported(fused) || (fused.side && spec.side != c)) return std::nullopt;
  // oneDNN sums in f32, and can write a bf16 product in f32.
  const bool widens = a.dtype == DType::kBfloat16 && c.dtype == DType::kFloat32;
  if (!SupportedType(a.dtype) || b.dtype != a.dtype) return std::nullopt;
  if (c.dtype != a.dtype && !widens) return std::nullopt;
  const int rank = c.shape.rank();
  if (rank > 6) return std::nullopt;
  // With a depth of 0 the result has elements, which are all 0. The reference kernel writes them.
  if (a.shape.num_elements() == 0 || b.shape.num_elements() == 0) return std::nullopt;
  if (fused.bias && ((spec.bias.dtype != a.dtype && spec.bias.dtype != c.dtype) ||
                     spec.bias.shape != Shape{c.shape[-1]})) {
    return std::nullopt;
  }
  const bool one_thread = OneDnnMatMulIsFasterWithOneThread(c.shape.num_elements() * spec.sizes.k);
  const OneThread limit(one_thread);
  return NullIfUnsupported([&]() -> std::optional<MatMulPlan> {
    const memory::desc a_layout = MatrixLayout(a, spec.sizes.transpose_a, rank);
    const memory::desc given_b = MatrixLayout(b, spec.sizes.transpose_b, rank);
    const memory::desc b_layout =
        IsTurned(spec) ? memory::desc(DimsOf(given_b), DataTypeOf(given_b), memory::format_tag::ba)
                       : given_b;
    const memory::desc c_layout = MatrixLayout(c, false, rank);
    memory::dims bias_dims(static_cast<size_t>(rank), 1);
    bias_dims.back() = c.shape[-1];
    const memory::desc bias_layout = fused.bias ? memory::desc(bias_dims, DataType(spec.bias.dtype),
                                                               memory::dims(bias_dims.size(), 1))
                                                : memory::desc();
    const dnnl::primitive_attr attributes = FusedAttributes(fused);
    auto desc = fused.bias
                    ? Describe<dnnl::matmul>(CpuEngine(), attributes, a_layout, b_layout,
                                             bias_layout, c_layout)
                    : Describe<dnnl::matmul>(CpuEngine(), attributes, a_layout, b_layout, c_layout);
    if (!SkipReference(desc)) return std::nullopt;
    return MatMulPlan{.fused = fused,
                      .a = a_layout,
                      .given_b = given_b,
                      .b = b_layout,
                      .bias = bias_layout,
                      .c = c_layout,
                      .desc = desc,
                      .one_thread = one_thread};
  });
}

KernelPlan MakeMatMul(const MatMulSpec& spec) {
  std::optional<MatMulPlan> found = MatMulPlanOf(spec);
  if (!found.has_value()) return nullptr;
  return PlanChain([plan = *std::move(found), name = spec.name, c = spec.c] {
    const OneThread limit(plan.one_thread);
    auto chain = std::make_unique<PrimitiveChain>(name);
    chain->set_one_thread(plan.one_thread);
    std::vector<Argument> arguments = {
        {DNNL_ARG_SRC, plan.a, Input(0)},
        {DNNL_ARG_WEIGHTS, plan.b, chain->InPreparedLayout(1, plan.given_b, plan.b)},
        {DNNL_ARG_DST, plan.c, Output(0)}};
    if (plan.fused.bias) arguments.push_back({DNNL_ARG_BIAS, plan.bias, Input(2)});
    if (plan.fused.side) {
      // oneDNN adds to what the output's buffer holds. The copy does nothing if the runtime gives
      // both the same buffer.
      chain->AddCopy(Input(3), Output(0), c.num_bytes());
      chain->set_alias_input(3);
    }
    chain->AddStep(dnnl::matmul(plan.desc), plan.desc.scratchpad_desc(), arguments);
    chain->set_implementation(plan.desc.impl_info_str());
    return chain;
  });
}

EST_REGISTER_KERNEL("MatMul", KernelTier::kOneDnn, FromMatMulSpec<MakeMatMul>);
EST_REGISTER_KERNEL("_FusedMatMul", KernelTier::kOneDnn, FromMatMulSpec<MakeMatMul>);
EST_REGISTER_KERNEL("BatchMatMulV2", KernelTier::kOneDnn, FromMatMulSpec<MakeMatMul>);

}  // namespace
}  // namespace estimator::onednn
