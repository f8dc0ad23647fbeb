// SessionRunHook: the user's code that runs around the steps of a loop. A loop is:
//
//   for (hook : hooks) hook.Begin(graph);                  // hooks may add nodes
//   variables = checkpoint or first values;
//   for (hook : hooks) hook.AfterCreateSession(session);
//   while (input has a next batch && no hook called context.RequestStop()) {
//     for (hook : hooks) fetches += hook.BeforeRun(context);
//     for (n steps) run(batch), host_call(), update variables;      // a run
//     for (hook : hooks) hook.AfterRun(context, {fetches of the last step});
//   }
//   for (hook : hooks) hook.End(session);                  // only after a clean stop
//
// In training, n is 1 locally and iterations_per_loop on replicas, or less if the next batch has
// another shape. Elsewhere it is 1.
// A step whose loss is not finite ends the training run and updates nothing.
// The order of calls is TensorFlow's (TF 2.15 tf.estimator.SessionRunHook).
#ifndef ESTIMATOR_TRAINING_HOOKS_HOOK_H_
#define ESTIMATOR_TRAINING_HOOKS_HOOK_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/array/array.h"
#include "estimator/data/pipeline/dataset.h"
#include "estimator/graph/graph.h"
#include "estimator/training/hooks/loop_times.h"

namespace estimator {

class VariableStore;
struct ExecutableInfo;  // runtime/backend.h

// What a hook can ask the loop for. It lives as long as the loop.
class Session {
 public:
  virtual ~Session() = default;
  virtual const Graph& graph() const = 0;
  virtual VariableStore& variables() = 0;
  virtual int64_t global_step() const = 0;
  virtual const std::string& model_dir() const = 0;
  // Steps per run, for hooks that act at a certain step.
  virtual int64_t steps_per_run() const = 0;
  // Examples of one step over all replicas; 0 if unknown.
  virtual int64_t examples_per_step() const = 0;
  // Writes a checkpoint of the current state (variables, slots, input position) and returns its
  // prefix. On other ranks than the chief nothing is written.
  // Errors: FAILED_PRECONDITION outside of training; those of writing.
  virtual absl::StatusOr<std::string> SaveCheckpoint() = 0;
  // Starts a checkpoint of the current state and returns its prefix. Another thread writes it, and
  // calls `committed` with the prefix when it is whole. With RunConfig::async_checkpoint = false,
  // both happen before this returns. Writes one checkpoint at a time: a call waits for the one in
  // progress. An error of writing or of `committed` ends training after the run in which it
  // happens.
  virtual absl::StatusOr<std::string> SaveCheckpointInBackground(
      const std::function<absl::Status(const std::string& prefix)>& committed) {
    absl::StatusOr<std::string> prefix = SaveCheckpoint();
    if (!prefix.ok()) return prefix;
    const absl::Status status = committed(*prefix);
    if (!status.ok()) return status;
    return prefix;
  }
  // Waits for the checkpoint of SaveCheckpointInBackground, and frees its copy of the variables.
  // Errors: those of writing it.
  virtual absl::Status FinishCheckpoint() { return absl::OkStatus(); }
  // The learning rate of the next step. If there are several (train::RateByName, several
  // optimizers): the largest.
  // Errors: FAILED_PRECONDITION outside of training, or if train_op has no rate; OUT_OF_RANGE for a
  // rate that depends on the input.
  virtual absl::StatusOr<double> LearningRate() {
    return absl::FailedPreconditionError("only training has a learning rate");
  }
  // Sets the learning rate of all ranks, from the next step on, in place of the optimizer's
  // constant or schedule. It is rounded to f32, is part of checkpoints (the variable
  // set_learning_rate), and holds until it is set again, also in a run that continues from them.
  // If there are several rates, the largest becomes `rate`, and the others keep their ratio to
  // it. Call it between runs: in AfterCreateSession, BeforeRun or AfterRun. The first call
  // compiles the step again, unless the hook's Begin has called train::MakeLearningRateSettable
  // (nn/train/settable_rate.h).
  // Errors: as LearningRate; INVALID_ARGUMENT if `rate` is negative or not finite.
  virtual absl::Status SetLearningRate(double /*rate*/) {
    return absl::FailedPreconditionError("only training has a learning rate that can be set");
  }
  // A hook that changes variables calls it afterwards. Saves this step again if a checkpoint has
  // it, which would be without the change. If several processes train together, all of them take
  // the variables of the first rank that calls it, before the next run.
  virtual absl::Status VariablesWereSet() { return absl::OkStatus(); }
  // The global step that the variables were restored from; -1 after a fresh start.
  virtual int64_t restored_step() const = 0;
  // After a step with a NaN or Inf, in training: the first tensor in forward order that has one, as
  // "dense/MatMul:0 (f32 [8,10]) is NaN at [3,2]". It runs the step again, with the variables from
  // before the step.
  virtual std::string FirstNonFiniteTensor() = 0;
  // The time of each stage of the input so far (Iterator::StageTimes). Empty outside of training.
  virtual std::vector<StageTime> InputStageTimes() const { return {}; }
  // The number of this process among those that train together; 0 is the chief, which saves and
  // writes. 0 in evaluation and prediction too.
  virtual int rank() const { return 0; }
  // Facts about the compiled step, such as its planned memory. Null before it is compiled, and
  // outside of training.
  virtual const ExecutableInfo* program_info() const { return nullptr; }

  // Where the time of this loop went. The loop and hooks that do such work add to it.
  LoopTimes& times() { return times_; }

 private:
  LoopTimes times_;
};

// The context of one run.
class RunContext {
 public:
  RunContext(Session& session, int64_t global_step)
      : session_(session), global_step_(global_step) {}
  Session& session() const { return session_; }
  int64_t global_step() const { return global_step_; }  // before the run
  int rank() const { return session_.rank(); }
  // Ends the loop after this run, in all processes that train together. End is then called.
  void RequestStop() { stop_requested_ = true; }
  bool stop_requested() const { return stop_requested_; }

 private:
  Session& session_;
  const int64_t global_step_;
  bool stop_requested_ = false;
};

// The results of a run.
struct RunValues {
  // One value for each tensor that BeforeRun asked for, in that order, of the run's last step. On
  // several replicas a floating scalar is their mean, any other scalar is replica 0's, and anything
  // else is concatenated on axis 0.
  std::vector<Array> results;
  int64_t global_step = 0;  // after the run
  int64_t num_steps = 0;    // steps of this run
  // The run ended at a step whose loss is not finite. `results` are of that step; it changed no
  // variable and is not counted.
  bool loss_not_finite = false;
  double seconds = 0;  // that the steps of this run took
};

// A method that returns an error ends the loop with that error.
// If several processes train together, each has hooks of its own. All of them see the same values,
// those of all replicas. What a hook decides holds for all: a stop, an error, a learning rate.
class SessionRunHook {
 public:
  virtual ~SessionRunHook() = default;
  // Whether the hook is one for the chief, because it writes files. On other ranks only its Begin
  // and Fetches are called, so that all compile the same step.
  virtual bool IsForChief() const { return false; }
  // The model is built; the hook may look up tensors, and add nodes.
  virtual absl::Status Begin(Graph& /*graph*/) { return absl::OkStatus(); }
  // Variables have their values.
  virtual absl::Status AfterCreateSession(Session& /*session*/) { return absl::OkStatus(); }
  // The tensors that BeforeRun may return. The loop asks once, after Begin, and compiles the step
  // for them. Not in TensorFlow, which does not compile a step.
  virtual std::vector<Tensor> Fetches() { return {}; }
  // The tensors whose values AfterRun needs. Return none in a run whose values are not needed: the
  // run then does not compute them. A tensor that is not in Fetches() and was not asked for before
  // means that the step is compiled again. Batches of another shape have a model of their own,
  // which must have tensors of the same names.
  virtual std::vector<Tensor> BeforeRun(RunContext& /*context*/) { return {}; }
  virtual absl::Status AfterRun(RunContext& /*context*/, const RunValues& /*values*/) {
    return absl::OkStatus();
  }
  virtual absl::Status End(Session& /*session*/) { return absl::OkStatus(); }
};

using HookPtr = std::shared_ptr<SessionRunHook>;
using Hooks = std::vector<HookPtr>;

// Called around every checkpoint that a CheckpointSaverHook writes.
class CheckpointSaverListener {
 public:
  virtual ~CheckpointSaverListener() = default;
  // For the plan that is logged before training: "an evaluation, at most every 600 seconds". Empty:
  // not mentioned.
  virtual std::string Describe() const { return ""; }
  virtual absl::Status Begin() { return absl::OkStatus(); }
  virtual absl::Status BeforeSave(Session& /*session*/, int64_t /*global_step*/) {
    return absl::OkStatus();
  }
  // Whether the checkpoint must be whole when AfterSave is called. If all listeners return false,
  // AfterSave is called while it is written. A listener that then needs the files calls
  // Session::FinishCheckpoint. Not in TensorFlow, which always waits.
  virtual bool AwaitsCheckpoint() const { return true; }
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
