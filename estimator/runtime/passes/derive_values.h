// DeriveValues: marks the nodes whose results depend on nothing but constants and variables that
// the step does not update. They are computed before the first step, and again only after one of
// those variables has changed. In evaluation and prediction this includes casts of variables to
// bf16, transposes of filters, and weight decay; in training, what is computed from frozen
// variables.
//
// A cast of a f32 variable to bf16 is marked even if the step updates the variable: replicas share
// it, and the update can write it (write_copies.h).
//
// It also splits kernels that copy such a value into a layout of their own
// (kernels/prepared_input.h): a node _PrepareInput writes the copy, which is derived too.
//
// In the body of a loop, captures are such values too: what depends on them alone is computed
// before the first trip of each run.
//
// A fetch or the value of an update is not derived, because each has a buffer with another
// lifetime. A result that is more than twice as large as its operands is not derived either,
// because it would take memory that the arena gives to several values in turn.
#ifndef ESTIMATOR_RUNTIME_PASSES_DERIVE_VALUES_H_
#define ESTIMATOR_RUNTIME_PASSES_DERIVE_VALUES_H_

#include "estimator/runtime/ir.h"

namespace estimator::ir {

// The op of a node that calls PreparedInput::Prepare. Its output is u8 [bytes].
inline constexpr char kPrepareOp[] = "_PrepareInput";

// Whether the node rounds a f32 variable to bf16.
bool IsBfloat16Copy(const Module& module, const Node& node);

// Sets Node::derived and Node::kept.
//   prepare_inputs: also splits kernels. --check_kernels needs them whole, because it compares a
//   kernel with the reference kernel on the same operands.
// REQUIRES: kernels are selected, and no later pass adds or removes nodes.
void DeriveValues(Module& module, bool prepare_inputs);

}  // namespace estimator::ir

#endif  // ESTIMATOR_RUNTIME_PASSES_DERIVE_VALUES_H_
