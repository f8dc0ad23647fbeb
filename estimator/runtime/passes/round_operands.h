// The numerics of a TPU's default precision on any CPU: products of float32 tensors read operands
// that are rounded to bfloat16, and sum in float32.
#ifndef ESTIMATOR_RUNTIME_PASSES_ROUND_OPERANDS_H_
#define ESTIMATOR_RUNTIME_PASSES_ROUND_OPERANDS_H_

#include "estimator/runtime/ir.h"

namespace estimator::ir {

// For CompileOptions.bfloat16_operands:
//   MatMul(a, b) in f32 -> MatMul(Cast(Cast(a, bf16), f32), Cast(Cast(b, bf16), f32))
// The same for batched products and for convolutions, with their gradients. Sums and results stay
// f32. A value that several products read is rounded once. The result is that of a TPU, up to the
// order of its sums, because the product of two bf16 numbers is exact in f32. Operands of another
// dtype stay as they are. Runs before FuseBias, so that no operand is a bias.
void RoundOperands(Module& module);

}  // namespace estimator::ir

#endif  // ESTIMATOR_RUNTIME_PASSES_ROUND_OPERANDS_H_
