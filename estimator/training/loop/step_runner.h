// StepRunner: runs the steps of training, evaluation and prediction, with the hooks around them.
// hooks/hook.h shows the order of the calls.
#ifndef ESTIMATOR_TRAINING_LOOP_STEP_RUNNER_H_
#define ESTIMATOR_TRAINING_LOOP_STEP_RUNNER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/array/array.h"
#include "estimator/runtime/backend.h"
#include "estimator/training/hooks/hook.h"
#include "estimator/training/input/feeder.h"
#include "estimator/training/model/compiled_step.h"
#include "estimator/training/peers/peers.h"

namespace estimator {

// One step's output, while its updates are not yet applied. Valid during the call: the values are
// buffers that the next step overwrites, unless Request::keeps_values is set.
struct StepOutput {
  const std::vector<Array>& values;  // of StepRunner::Request::fetches, replicas reduced
  const StepFeeds& feeds;            // the step's input
  int64_t num_examples = 0;          // StepInput::num_examples
};

enum class StepVerdict {
  kApply,    // the updates of the step are applied
  kDiscard,  // the step changes no variable, and the run ends with it
};

// Why a run ended.
enum class RunEnd {
  kStepsDone,       // all its steps ran, or the next one has batches of another shape
  kInputEnded,      // the input ended before them
  kInputFailed,     // the input gave an error; the steps before it are applied
  kInterrupted,     // a signal asked for a stop (base/interrupt.h), before all steps ran
  kStepDiscarded,   // the loop discarded its last step
  kHostCallFailed,  // host_call gave an error; the steps before it are applied
  kFailed,          // the program or the loop gave an error
};

// What a run did.
struct StepRun {
  RunEnd end = RunEnd::kStepsDone;
  absl::Status status;    // the error, if `end` is one of the three that failed
  int64_t num_steps = 0;  // whose updates are applied
  // Of the first step of the input whose updates are not applied. The steps after it may have been
  // read too.
  std::string input_position;
  // With Options::peers and input_per_host: those of all ranks.
  std::vector<std::string> input_positions;
  double seconds = 0;           // from the first step's input to the last step's end
  bool stop_requested = false;  // by a hook
};

// Not thread-safe.
class StepRunner {
 public:
  struct Options {
    // Whether all replicas compute the same, so that replica 0's values are taken.
    bool broadcast = false;
    // host_call is called at step 0, n, 2n, ... of every run.
    int64_t host_call_every_n_steps = 1;
    // The loss of the session's graph. A hook that watches it gets the loss of every shape of
    // batch, whatever its name is there.
    Tensor loss = {};
    // The processes that run each step together; null: this one. They outlive the runner. All see
    // the same values: those of all replicas. A run ends on all of them after the same step.
    // host_call is the chief's.
    Peers* peers = nullptr;
    // Whether each process reads an input of its own. Otherwise all of them read the same.
    bool input_per_host = false;
    int accumulate_steps = 1;  // RunConfig's; 1 outside of training
  };
  // `session` is what the hooks see; it outlives the runner. Its graph is the one that the hooks'
  // tensors belong to. REQUIRES: no hook is null.
  StepRunner(Session& session, Hooks hooks, Options options);

  // These call the method of the same name of every hook, in order, up to the first error.
  absl::Status Begin(Graph& graph);
  absl::Status AfterCreateSession();
  // `ended` is called after each hook's End, if it is given.
  absl::Status End(const std::function<void(const HookPtr&)>& ended = {});

  // Registers all that later runs of `step` fetch: the tensors of the loop, of host_call and of the
  // hooks' Fetches(). Call it after Begin and before the step is compiled, which is then done once.
  // Errors: INVALID_ARGUMENT as of Run.
  absl::Status Prepare(CompiledStep& step, const std::vector<Tensor>& fetches);

  struct Request {
    CompiledStep& step;
    Feeder& input;
    int64_t num_steps = 1;
    // That the caller waited for the input of the first step. They are part of StepRun::seconds.
    double waited_seconds = 0;
    // What the loop itself needs of every step, such as the loss.
    std::vector<Tensor> fetches = {};
    // With Options::peers: each of them computes the whole step, as the last, smaller batch.
    bool on_each_rank = false;
    // Called with every step's output, after host_call. An error ends the run.
    std::function<absl::StatusOr<StepVerdict>(const StepOutput&)> on_step = nullptr;
    // True: on_step gets copies of the values, which it may keep.
    bool keeps_values = false;
    // Called after the steps and before the hooks' AfterRun, also if the steps failed. An error
    // ends the run.
    std::function<absl::Status(const StepRun&)> on_run = nullptr;
  };
  // Where the next run begins in the inputs of all ranks.
  void SetInputPositions(std::vector<std::string> positions) { positions_ = std::move(positions); }

  // Prepares the step, asks the hooks for their tensors, compiles the step if any of them is new,
  // and runs up to `num_steps` steps. A signal ends the run after the current step
  // (RunEnd::kInterrupted), and so does a next batch of another shape. Then calls host_call, and
  // gives the hooks the results of the last step. AfterRun is not called if the input ended before
  // the first step. The step's model may be another than session.graph()'s: that of batches of
  // another shape. The hooks' tensors, except Options::loss, are then found in it by name.
  // Errors: INVALID_ARGUMENT if a hook asks for a tensor that is not valid, or that the model does
  // not have; those of compiling; StepRun::status; those of on_run and the hooks.
  absl::StatusOr<StepRun> Run(const Request& request);

 private:
  struct Fetches;

  absl::StatusOr<Fetches> Register(const Request& request, RunContext& context) const;
  absl::StatusOr<std::vector<size_t>> FetchForHook(CompiledStep& step, absl::string_view method,
                                                   const std::vector<Tensor>& tensors) const;
  StepRun RunSteps(const Request& request, const Fetches& fetches, Executable& executable,
                   std::vector<std::vector<Array>>& hook_results);
  bool alone() const { return options_.peers == nullptr || options_.peers->alone(); }
  // Adds what the hooks of other ranks ask for to fetches.for_hooks.
  absl::Status AgreeOnFetches(const Request& request, const absl::Status& registered,
                              Fetches& fetches);

  Session& session_;
  const Hooks hooks_;
  const Options options_;
  const CompiledStep* prepared_ = nullptr;  // the step of the last Prepare
  std::vector<std::string> positions_;      // in the inputs of all ranks, of the next step
};

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_LOOP_STEP_RUNNER_H_
