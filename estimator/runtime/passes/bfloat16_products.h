// Products of bfloat16 operands with float32 results. The kernels sum in float32 either way, so the
// result need not be rounded to bfloat16.
#ifndef ESTIMATOR_RUNTIME_PASSES_BFLOAT16_PRODUCTS_H_
#define ESTIMATOR_RUNTIME_PASSES_BFLOAT16_PRODUCTS_H_

#include "estimator/kernels/kernel.h"
#include "estimator/runtime/ir.h"

namespace estimator::ir {

// For CompileOptions.compute_dtype = bfloat16:
//   MatMul(a, b) in f32 -> MatMul(Cast(a, bf16), Cast(b, bf16)) with an f32 result
// The same for _FusedMatMul, whose bias stays f32, and BatchMatMulV2. A value that several products
// read is cast once. A product stays in f32 if the casts would cost as much as they save
// (kernels/kernel_rules.h), and if the CPU has no bf16 instructions. Convolutions, blocks of them
// and their gradients are cast only if a native kernel computes them, which needs AMX. A result
// that only such casts read is bf16 itself, which has the same bits. Runs after FuseConvBlock.
void NarrowProducts(Module& module, KernelTier fastest);

// A product or a sum in bf16 that is only cast to f32 -> the same op with bf16 inputs and an f32
// result. So the gradient of a weight is not rounded to bf16 on its way to an f32 variable.
//   ops: those with OpTraits::sums_in_float32: MatMul, _FusedMatMul, BatchMatMulV2,
//   Conv2DBackpropFilter, BiasAddGrad, Sum, Mean
// Runs after FuseBias and before FuseElementwise, which would take the cast.
void WidenResults(Module& module, KernelTier fastest);

}  // namespace estimator::ir

#endif  // ESTIMATOR_RUNTIME_PASSES_BFLOAT16_PRODUCTS_H_
