// The forward tensors and gradients of a model's first step, as far as a reference has them.
#ifndef TOOLS_REPLAY_FIRST_STEP_H_
#define TOOLS_REPLAY_FIRST_STEP_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "estimator/array/array.h"
#include "estimator/runtime/backend.h"
#include "estimator/training/compiled_model.h"
#include "estimator/training/strategies.h"
#include "tools/replay/reference.h"

namespace estimator::replay {

struct FirstStep {
  struct Value {
    std::string name;      // "dense/Relu:0"; of a gradient the variable's
    std::string expected;  // its name in the reference
    Array value;           // of all replicas
  };
  std::vector<Value> forward;    // in the model's order
  std::vector<Value> gradients;  // in the order in which they are computed: the last layer's first
  std::vector<std::string> notes;
};

// Runs `input` without updates, in a program of its own: watching tensors keeps ops from being
// fused, and the steps that train shall run as they always do. Adds the gradients to the graph.
// Forward tensors of several replicas are joined on axis 0, gradients averaged; a forward tensor
// that the graph does not have, or that is not split by examples on several replicas, becomes a
// note. Errors: INVALID_ARGUMENT if a gradient is expected of what is no trainable variable here,
// or of one that the loss does not depend on; if the graph has none of the forward tensors.
absl::StatusOr<FirstStep> RunFirstStep(BuiltModel& model, Backend& backend, const StepInput& input,
                                       const Reference& reference);

}  // namespace estimator::replay

#endif  // TOOLS_REPLAY_FIRST_STEP_H_
