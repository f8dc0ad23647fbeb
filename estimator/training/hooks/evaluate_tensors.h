// Evaluates tensors between the runs of a loop.
#ifndef ESTIMATOR_TRAINING_HOOKS_EVALUATE_TENSORS_H_
#define ESTIMATOR_TRAINING_HOOKS_EVALUATE_TENSORS_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/array/array.h"
#include "estimator/training/hooks/hook.h"

namespace estimator {

// Returns the values of tensors of the session's graph, computed from the current variables, which
// do not change. Hooks may call it in AfterCreateSession, AfterRun and End. Each call compiles a
// program. A sum over replicas has the value of one replica.
// Errors: those of CheckNeedsNoInput; FAILED_PRECONDITION naming variables without a value.
absl::StatusOr<std::vector<Array>> EvaluateTensors(Session& session,
                                                   const std::vector<Tensor>& tensors);

// Checks that the tensors do not depend on the input.
// Errors: INVALID_ARGUMENT for an invalid tensor; OUT_OF_RANGE (TensorFlow's "end of input") naming
// the tensor and the part of the input that it depends on.
absl::Status CheckNeedsNoInput(const std::vector<Tensor>& tensors);

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_HOOKS_EVALUATE_TENSORS_H_
