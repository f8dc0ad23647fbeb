// The variables of a session's model, in files of their own.
#ifndef ESTIMATOR_TRAINING_CALLBACKS_WEIGHTS_H_
#define ESTIMATOR_TRAINING_CALLBACKS_WEIGHTS_H_

#include <string>

#include "absl/status/status.h"
#include "estimator/training/hooks/hook.h"

namespace estimator::callbacks {

// Writes the weights to a checkpoint `prefix`: all variables but local ones, global_step and those
// of the optimizer. SaveAll leaves out the local ones only.
absl::Status SaveWeights(Session& session, const std::string& prefix);
absl::Status SaveAll(Session& session, const std::string& prefix);
// Writes the weights to a file that Keras' load_weights reads. Of a variable that has an average,
// it has the average, with which evaluations compute.
// Errors: those of WriteKerasWeights.
absl::Status SaveKerasWeights(Session& session, const std::string& path);
// Sets the weights to those of a file of SaveWeights.
// Errors: those of reading it; NOT_FOUND if it lacks one.
absl::Status RestoreWeights(Session& session, const std::string& prefix);

}  // namespace estimator::callbacks

#endif  // ESTIMATOR_TRAINING_CALLBACKS_WEIGHTS_H_
