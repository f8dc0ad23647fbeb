// ForwardSession: the session of an evaluation or a prediction, for its hooks. A run is one batch,
// and nothing is saved.
#ifndef ESTIMATOR_TRAINING_LOOP_FORWARD_SESSION_H_
#define ESTIMATOR_TRAINING_LOOP_FORWARD_SESSION_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "estimator/base/status.h"
#include "estimator/training/hooks/hook.h"
#include "estimator/training/model/model_state.h"

namespace estimator {

// The constructor's arguments outlive the session.
class ForwardSession : public Session {
 public:
  ForwardSession(const Graph& graph, ModelState& state, const std::string& model_dir,
                 int64_t examples_per_step)
      : graph_(graph),
        state_(state),
        model_dir_(model_dir),
        examples_per_step_(examples_per_step) {}

  const Graph& graph() const override { return graph_; }
  VariableStore& variables() override { return state_.store(); }
  int64_t global_step() const override { return state_.global_step(); }
  const std::string& model_dir() const override { return model_dir_; }
  int64_t steps_per_run() const override { return 1; }
  int64_t examples_per_step() const override { return examples_per_step_; }
  // Errors: always FAILED_PRECONDITION.
  absl::StatusOr<std::string> SaveCheckpoint() override {
    return FailedPrecondition("evaluation and prediction write no checkpoints");
  }
  int64_t restored_step() const override { return state_.global_step(); }
  std::string FirstNonFiniteTensor() override { return "(only training looks for it)"; }

 private:
  const Graph& graph_;
  ModelState& state_;
  const std::string& model_dir_;
  const int64_t examples_per_step_;
};

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_LOOP_FORWARD_SESSION_H_
