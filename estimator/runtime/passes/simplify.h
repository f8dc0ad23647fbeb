// Simplify: rewrites that make a node cheaper or free, with the same value up to rounding.
//   Identity(x), StopGradient(x), Cast to x's own dtype, AddN of one     -> x
//   IdentityN(x, y, ...)                                                 -> x, y, ...
//   AddN of two                                                          -> AddV2
//   ExpandDims, Squeeze, Reshape and chains of them                      -> one Reshape, or x
//   Transpose by the identity, Transpose of the inverse Transpose        -> x
//   Transpose that moves only axes of size 1                             -> Reshape
//   x * 1, x / 1, x + 0, x - 0 (and 1 * x, 0 + x), Neg(Neg(x))           -> x
//   (x * c) * d with scalars c, d                                        -> x * (c d)
//   Pow(x, c) with one of these constants c, in float32 and float64:
//     0, 1, 2, 3, 4                -> 1, x, Square(x), Square(x) * x, Square(Square(x))
//     -1, -2                       -> Reciprocal(x), Square(Reciprocal(x))
//     0.5, 1.5, -0.5, -1.5         -> Sqrt(x), x * Sqrt(x), Rsqrt(x), Rsqrt(x) / x
//     The roots are NaN where x is -infinity and keep the sign of -0. TensorFlow's ConvertPow, of
//     its graph optimizer, has the same exceptions.
//   ReluGrad(dy, x), if there is a Relu(x)                               -> ReluGrad(dy, Relu(x))
//   Sum, Mean, Max, Min, Prod over axes of size 1                        -> Reshape
#ifndef ESTIMATOR_RUNTIME_PASSES_SIMPLIFY_H_
#define ESTIMATOR_RUNTIME_PASSES_SIMPLIFY_H_

#include "estimator/runtime/ir.h"

namespace estimator::ir {

//   single_replica: also replaces CrossReplicaSum(x) by x.
void Simplify(Module& module, bool single_replica);

}  // namespace estimator::ir

#endif  // ESTIMATOR_RUNTIME_PASSES_SIMPLIFY_H_
