// Values of tensors between the runs of a loop.
#ifndef ESTIMATOR_TRAINING_HOOKS_EVALUATE_TENSORS_H_
#define ESTIMATOR_TRAINING_HOOKS_EVALUATE_TENSORS_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/array/array.h"
#include "estimator/training/hooks/hook.h"

namespace estimator {

// Evaluates tensors of the session's graph with the variables as they stand, and changes none. A
// hook calls it outside of a run: in AfterCreateSession, AfterRun or End; each call compiles. A sum
// over replicas is the value of one. Errors: those of CheckNeedsNoInput; FAILED_PRECONDITION naming
// variables without a value.
absl::StatusOr<std::vector<Array>> EvaluateTensors(Session& session,
                                                   const std::vector<Tensor>& tensors);

// Errors: INVALID_ARGUMENT for an invalid tensor; OUT_OF_RANGE, TensorFlow's "end of input", if one
// depends on the input: it names the tensor and the part of the input.
absl::Status CheckNeedsNoInput(const std::vector<Tensor>& tensors);

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_HOOKS_EVALUATE_TENSORS_H_
