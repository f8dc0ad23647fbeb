// Computes the forward tensors and gradients of a model's first step that a reference has.
#ifndef TOOLS_REPLAY_FIRST_STEP_H_
#define TOOLS_REPLAY_FIRST_STEP_H_

#include <string>
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
    std::string name;      // "dense/Relu:0"; for a gradient, the variable's name
    std::string expected;  // the name in the reference
    Array value;           // over all replicas
  };
  std::vector<Value> forward;    // in the order of the model's ops
  std::vector<Value> gradients;  // in the order of computation: those of the last layer come first
  std::vector<std::string> notes;
};

// Runs `input` without updates, and adds the gradients to the graph. It uses a separate program,
// because fetched tensors prevent fusion, and training steps must run with it as usual. The forward
// tensors of several replicas are concatenated on axis 0, and their gradients are averaged. A
// forward tensor that the graph does not have, or that several replicas do not split by examples,
// is reported in `notes`.
// Errors: INVALID_ARGUMENT if a gradient is expected of a variable that is not trainable, or on
// which the loss does not depend; INVALID_ARGUMENT if the graph has none of the forward tensors.
absl::StatusOr<FirstStep> RunFirstStep(BuiltModel& model, Backend& backend, const StepInput& input,
                                       const Reference& reference);

}  // namespace estimator::replay

#endif  // TOOLS_REPLAY_FIRST_STEP_H_
