// The file `.training_ended` of a model_dir. TrainAndEvaluate of the process that trains writes it
// at its end, for an evaluator in another process.
//
//   max_steps 1000
//   the training has ended at step 400, because its input ended or a hook asked for it
#ifndef ESTIMATOR_TRAINING_TRAINING_END_H_
#define ESTIMATOR_TRAINING_TRAINING_END_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"

namespace estimator {

// When a training begins: the end of an earlier one is none of it.
// Errors: those of removing a file.
absl::Status RemoveTrainingEnd(const std::string& model_dir);
// `step`: of the last checkpoint. Errors: those of writing.
absl::Status WriteTrainingEnd(const std::string& model_dir, std::optional<int64_t> max_steps,
                              int64_t step);
// The sentence; nullopt if the training continues, or if the end is that of a training with other
// max_steps, which the next one has not removed yet.
std::optional<std::string> ReadTrainingEnd(const std::string& model_dir,
                                           std::optional<int64_t> max_steps);

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_TRAINING_END_H_
