// The gradient of a value that a layer uses several times is a sum of parts, which Gradients() adds
// with those of other layers in one AddN. A fused gradient takes the place of its own parts.
#ifndef ESTIMATOR_RUNTIME_PASSES_TRANSFORMER_GRADIENT_SUM_H_
#define ESTIMATOR_RUNTIME_PASSES_TRANSFORMER_GRADIENT_SUM_H_

#include <vector>

#include "estimator/runtime/passes/rewriter.h"

namespace estimator::ir {

struct GradientSum {
  int node = -1;  // an AddN or AddV2; -1: not found
  std::vector<Value> parts = {};
};

// Finds a sum, up to `steps` ops above `value`, that has an input for each pattern. Adds the names
// and nodes of the parts to `match`.
GradientSum FindSum(const Module& module, const Rewriter& rewriter,
                    const std::vector<Pattern>& patterns, Value value, int steps, Match* match);

// Adds a node that would be the sum of the parts alone, for a fused node to replace.
Value AddPartialSum(const Module& module, const GradientSum& sum, Rewriter& rewriter);
// Lets the sum read `partial` in place of its parts.
void UsePartialSum(Module& module, const GradientSum& sum, Value partial, Rewriter& rewriter);

}  // namespace estimator::ir

#endif  // ESTIMATOR_RUNTIME_PASSES_TRANSFORMER_GRADIENT_SUM_H_
