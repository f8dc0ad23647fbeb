// SessionRunHook: code of the user's that runs around the steps of a loop.
//
// Contract, as TensorFlow's: Begin -> AfterCreateSession -> [BeforeRun -> run -> AfterRun]* -> End,
// End only after a clean stop. A run is one step locally and one loop of iterations_per_loop steps
// on shards.
#ifndef ESTIMATOR_TRAINING_HOOKS_HOOK_H_
#define ESTIMATOR_TRAINING_HOOKS_HOOK_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/array/array.h"
#include "estimator/graph/graph.h"

namespace estimator {

class VariableStore;

// What a hook may ask of the loop that it runs in.
class Session {
 public:
  virtual ~Session() = default;
  virtual const Graph& graph() const = 0;
  virtual VariableStore& variables() = 0;
  virtual int64_t global_step() const = 0;
  virtual const std::string& model_dir() const = 0;
  // Steps per run, for hooks that act at a step (iterations_per_loop; 1 locally).
  virtual int64_t steps_per_run() const = 0;
  // Examples of one step over all replicas; 0 where unknown.
  virtual int64_t examples_per_step() const = 0;
  // Writes a checkpoint of the current state (variables, slots, input position); returns its
  // prefix.
  virtual absl::StatusOr<std::string> SaveCheckpoint() = 0;
  // The global step that the variables were restored from; -1 after a fresh start.
  virtual int64_t restored_step() const = 0;
  // After a step with a NaN or Inf: the first tensor in forward order that has one, as
  // "dense/MatMul:0 (f32 [8,10]) has a NaN at [3,2]". Variables are still those from before the
  // step.
  virtual std::string FirstNonFiniteTensor() = 0;
};

// One run's context.
class RunContext {
 public:
  RunContext(Session& session, int64_t global_step)
      : session_(session), global_step_(global_step) {}
  Session& session() const { return session_; }
  int64_t global_step() const { return global_step_; }  // before the run
  // The loop ends after this run, cleanly.
  void RequestStop() { stop_requested_ = true; }
  bool stop_requested() const { return stop_requested_; }

 private:
  Session& session_;
  const int64_t global_step_;
  bool stop_requested_ = false;
};

// What a run gave.
struct RunValues {
  // One per tensor that BeforeRun asked for: of the run's last step. On several replicas a floating
  // scalar is their mean, any other scalar replica 0's, anything else is concatenated on axis 0.
  std::vector<Array> results;
  int64_t global_step = 0;  // after the run
  int64_t num_steps = 0;    // steps of this run
  // The run ended at a step whose loss is not finite: `results` are of that step, which has changed
  // nothing and is not counted.
  bool loss_not_finite = false;
  double seconds = 0;
};

class SessionRunHook {
 public:
  virtual ~SessionRunHook() = default;
  // The model is built; the hook may look up tensors, and add nodes.
  virtual absl::Status Begin(Graph& /*graph*/) { return absl::OkStatus(); }
  // Variables have their values.
  virtual absl::Status AfterCreateSession(Session& /*session*/) { return absl::OkStatus(); }
  // The tensors whose values AfterRun wants. Best the same every time: a new one compiles the step
  // anew.
  virtual std::vector<Tensor> BeforeRun(RunContext& /*context*/) { return {}; }
  virtual absl::Status AfterRun(RunContext& /*context*/, const RunValues& /*values*/) {
    return absl::OkStatus();
  }
  virtual absl::Status End(Session& /*session*/) { return absl::OkStatus(); }
};

using Hooks = std::vector<std::shared_ptr<SessionRunHook>>;

// Called around every checkpoint that a CheckpointSaverHook writes.
class CheckpointSaverListener {
 public:
  virtual ~CheckpointSaverListener() = default;
  virtual absl::Status Begin() { return absl::OkStatus(); }
  virtual absl::Status BeforeSave(Session& /*session*/, int64_t /*global_step*/) {
    return absl::OkStatus();
  }
  // True stops training.
  virtual absl::StatusOr<bool> AfterSave(Session& /*session*/, int64_t /*global_step*/) {
    return false;
  }
  virtual absl::Status End(Session& /*session*/, int64_t /*global_step*/) {
    return absl::OkStatus();
  }
};

using SavingListeners = std::vector<std::shared_ptr<CheckpointSaverListener>>;

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_HOOKS_HOOK_H_
