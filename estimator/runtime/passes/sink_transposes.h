// Moves transposes of images below the ops that read them, until they meet their inverse.
#ifndef ESTIMATOR_RUNTIME_PASSES_SINK_TRANSPOSES_H_
#define ESTIMATOR_RUNTIME_PASSES_SINK_TRANSPOSES_H_

#include "estimator/runtime/ir.h"

namespace estimator::ir {

// Where T makes [N,C,H,W] of [N,H,W,C], as the import does after each op of a graph in NCHW:
//   Relu(T(x))                       -> T(Relu(x)), and each element-wise op
//   AddV2(T(x), T(y))                -> T(AddV2(x, y))
//   AddV2(T(x), bias)                -> T(AddV2(x, inverse(bias))), if `bias` is small
//   ConcatV2, Pad, Slice, Mean, ...  -> the same with another axis, other paddings, ...
// An operand that is not small is transposed too if an inverse of T reads the result.
// Simplify then removes each T that an inverse reads. A module without an inverse stays as it is.
// Returns whether a node has changed.
bool SinkTransposes(Module& module);

}  // namespace estimator::ir

#endif  // ESTIMATOR_RUNTIME_PASSES_SINK_TRANSPOSES_H_
