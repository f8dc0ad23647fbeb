#include "estimator/kernels/bfloat16/matmul_kernel.h"

#include <omp.h>

#include <algorithm>
#include <cstddef>

#include "estimator/kernels/bfloat16/convolution.h"
#include "estimator/kernels/bfloat16/matmul.h"
#include "estimator/kernels/bfloat16/spec.h"
#include "estimator/kernels/bfloat16/tiles.h"
#include "estimator/kernels/fused/bfloat16.h"
#include "estimator/kernels/prepared_input.h"

namespace estimator::bfloat16 {
namespace {

MatrixData DataOf(const void* matrix, bool wide) {
  if (wide) return {.wide = static_cast<const float*>(matrix)};
  return {.narrow = static_cast<const Bfloat16*>(matrix)};
}

}  // namespace

KernelPlan MakeMatMul(const MatMulSpec& spec) {
  const MatMulSizes& sizes = spec.sizes;
  if (!IsAvailable() || !spec.IsOneProduct()) return nullptr;
  // All three are padded to groups of 32, so with a small one most products are those of padding.
  if (std::min({sizes.m, sizes.n, sizes.k}) < kFewestChannels) return nullptr;
  const auto numbers = NumbersOf(spec.a, spec.b, spec.c, spec.algorithm);
  const auto activation = FusedActivationOf(spec.fused, spec.bias, spec.side, spec.c, sizes.n);
  if (!numbers.has_value() || !activation.has_value()) return nullptr;
  const Product product{.m = sizes.m,
                        .n = sizes.n,
                        .k = sizes.k,
                        .transpose_a = sizes.transpose_a,
                        .transpose_b = sizes.transpose_b,
                        .splits = numbers == Numbers::kSplitFloat32};
  const MatMulPlan plan = MakeMatMulPlan(product, omp_get_max_threads());
  const bool wide = IsF32(spec.c), narrow_bias = spec.fused.bias && IsBfloat16(spec.bias);
  const size_t columns = static_cast<size_t>(sizes.n);
  const auto target = [=, fused = spec.fused, activation = *activation](const KernelArgs& args) {
    MatMulTarget c{.narrow = wide ? nullptr : args.out<Bfloat16>(0),
                   .wide = wide ? args.out<float>(0) : nullptr,
                   .activation = activation};
    if (narrow_bias) {
      // A bias in f32 comes after the plan's scratch memory.
      char* const end = static_cast<char*>(args.scratch) + plan.scratch_bytes();
      float* const bias = reinterpret_cast<float*>(end);
      fused::WidenBfloat16(args.in<Bfloat16>(2), bias, columns);
      c.bias = bias;
    } else if (fused.bias) {
      c.bias = args.in<float>(2);
    }
    if (fused.side) c.side = args.in<float>(3);
    return c;
  };
  const bool splits = product.splits;
  // The weights, b, can be prepared: they are then not packed in every step.
  return MakePreparingKernel({
      .input = 1,
      .prepared_bytes = plan.packed_bytes(),
      .prepare = [plan, splits](
                     const void* b,
                     void* packed) { PackRightOperand(plan, DataOf(b, splits), packed); },
      .run =
          [plan, splits, target](const KernelArgs& args, const void* packed) {
            MultiplyPacked(plan, DataOf(args.inputs[0], splits), packed, target(args),
                           args.scratch);
          },
      .scratch_bytes = plan.scratch_bytes() + (narrow_bias ? columns * sizeof(float) : 0),
      .run_without_copy =
          [plan, splits, target](const KernelArgs& args) {
            MultiplyMatrices(plan, DataOf(args.inputs[0], splits), DataOf(args.inputs[1], splits),
                             target(args), args.scratch, args.rows);
          },
      .runs_rows = true,
  });
}

}  // namespace estimator::bfloat16
