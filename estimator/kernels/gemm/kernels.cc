#include "estimator/kernels/gemm/kernels.h"

#include <omp.h>

#include "estimator/kernels/gemm/gemm.h"
#include "estimator/kernels/prepared_input.h"

namespace estimator::gemm {
KernelPlan MakeMatMul(const MatMulSpec& spec) {
  // A side input has no place in the tiles' loops, so its add stays an op of its own.
  if (!spec.IsOneProduct() || spec.fused.side) return nullptr;
  for (const TensorSpec* matrix : {&spec.a, &spec.b, &spec.c}) {
    if (matrix->dtype != DType::kFloat32) return nullptr;
  }
  if (spec.fused.bias && spec.bias != TensorSpec{DType::kFloat32, {spec.sizes.n}}) return nullptr;
  const Product product{.m = spec.sizes.m,
                        .n = spec.sizes.n,
                        .k = spec.sizes.k,
                        .transpose_a = spec.sizes.transpose_a,
                        .transpose_b = spec.sizes.transpose_b,
                        .activation = spec.fused.activation,
                        .alpha = spec.fused.alpha};
  // The plan is made here and not in Run, because the size of the scratch memory depends on the
  // number of parts.
  const Plan plan = MakePlan(product, omp_get_max_threads());
  const auto bias = [has_bias = spec.fused.bias](const KernelArgs& args) {
    return has_bias ? args.in<float>(2) : nullptr;
  };
  // The weights, b, can be prepared: their panels are then not copied in every step.
  return MakePreparingKernel({
      .input = 1,
      .prepared_bytes = PanelsFloats(product) * sizeof(float),
      .prepare =
          [product](const void* b, void* panels) {
            CopyAllPanels(product, static_cast<const float*>(b), static_cast<float*>(panels));
          },
      .run =
          [plan, bias](const KernelArgs& args, const void* panels) {
            MultiplyPanels(plan, args.in<float>(0), static_cast<const float*>(panels), bias(args),
                           args.out<float>(0), static_cast<float*>(args.scratch));
          },
      .scratch_bytes = plan.scratch_floats() * sizeof(float),
      .run_without_copy =
          [plan, bias](const KernelArgs& args) {
            Multiply(plan, args.in<float>(0), args.in<float>(1), bias(args), args.out<float>(0),
                     static_cast<float*>(args.scratch), args.rows);
          },
      .runs_rows = true,
  });
}

}  // namespace estimator::gemm
