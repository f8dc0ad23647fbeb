// Simplify: rewrites that make a node cheaper or free, with the same value up to rounding.
//   Identity(x), StopGradient(x), Cast to x's own dtype, AddN of one     -> x
//   IdentityN(x, y, ...)                                                 -> x, y, ...
//   AddN of two                                                          -> AddV2
//   ExpandDims, Squeeze, Reshape and chains of them                      -> one Reshape, or x
//   Transpose by the identity, Transpose of the inverse Transpose        -> x
//   Transpose that moves only axes of size 1                             -> Reshape
//   x * 1, x / 1, x + 0, x - 0 (and 1 * x, 0 + x), Neg(Neg(x))           -> x
//   (x * c) * d with scalars c, d                                        -> x * (c d)
//   Pow(x, 1), of any dtype                                              -> x
//   Pow(x, c) with one of these constants c, in float32 and float64:
//     0, 2, 3, 4                   -> 1, Square(x), Square(x) * x, Square(Square(x))
//     -1, -2                       -> Reciprocal(x), Square(Reciprocal(x))
//     0.5, 1.5, -0.5, -1.5         -> Sqrt(x), x * Sqrt(x), Rsqrt(x), Rsqrt(x) / x
//     Where x is -infinity, the roots are NaN, and Pow is infinity or 0. Where x is -0, they are
//     -0 or -infinity, and Pow is 0 or infinity. TensorFlow's graph optimizer (ConvertPow) has the
//     same exceptions for 0.5 and -0.5.
//   ReluGrad(dy, x), if there is a Relu(x)                               -> ReluGrad(dy, Relu(x))
//     and the same for Relu6, and for LeakyRelu with an alpha of at least 0
//   Sum, Mean, Max, Min, Prod over axes of size 1                        -> Reshape
#ifndef ESTIMATOR_RUNTIME_PASSES_SIMPLIFY_H_
#define ESTIMATOR_RUNTIME_PASSES_SIMPLIFY_H_

#include "estimator/runtime/ir.h"

namespace estimator::ir {

//   single_replica: also replaces CrossReplicaSum(x) by x.
void Simplify(Module& module, bool single_replica);

}  // namespace estimator::ir

#endif  // ESTIMATOR_RUNTIME_PASSES_SIMPLIFY_H_
