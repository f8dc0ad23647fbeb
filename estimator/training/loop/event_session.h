// Tells the readers of event files that a training session begins.
#ifndef ESTIMATOR_TRAINING_LOOP_EVENT_SESSION_H_
#define ESTIMATOR_TRAINING_LOOP_EVENT_SESSION_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"

namespace estimator {

// Training begins with variables at `global_step`. Starts a session (StartEventSession) in
// model_dir, and in its folders `eval` and `eval_NAME`, because evaluations of later steps were of
// checkpoints that no longer count. Readers then show no step twice after a run was killed or went
// back to an earlier checkpoint. Creates no file.
// Errors: those of listing model_dir.
absl::Status StartTrainingEvents(const std::string& model_dir, int64_t global_step);

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_LOOP_EVENT_SESSION_H_
