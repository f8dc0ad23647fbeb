// FakeSession: a session without a model, for tests of hooks: steps are counted, not computed.
#ifndef ESTIMATOR_TRAINING_TESTING_FAKE_SESSION_H_
#define ESTIMATOR_TRAINING_TESTING_FAKE_SESSION_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/runtime/variable_store.h"
#include "estimator/training/hooks/hook.h"

namespace estimator::testing {

// What hooks see is set through the fields.
class FakeSession : public Session {
 public:
  const Graph& graph() const override { return fake_graph; }
  VariableStore& variables() override { return store; }
  int64_t global_step() const override { return step; }
  const std::string& model_dir() const override { return dir; }
  int64_t steps_per_run() const override { return steps_a_run; }
  int64_t examples_per_step() const override { return examples; }
  absl::StatusOr<std::string> SaveCheckpoint() override {
    saved_steps.push_back(step);
    return absl::StrCat("model.ckpt-", step);
  }
  absl::StatusOr<std::string> SaveCheckpointInBackground(
      const std::function<absl::Status(const std::string&)>& committed) override {
    background_steps.push_back(step);
    return Session::SaveCheckpointInBackground(committed);
  }
  absl::Status FinishCheckpoint() override {
    ++num_finishes;
    return absl::OkStatus();
  }
  absl::StatusOr<double> LearningRate() override { return static_cast<float>(learning_rate); }
  absl::Status SetLearningRate(double rate) override {
    learning_rate = rate;
    return absl::OkStatus();
  }
  int64_t restored_step() const override { return restored; }
  std::string FirstNonFiniteTensor() override {
    return "dense/MatMul:0 (f32 [8,10]) is NaN at [3,2]";
  }

  // One run: BeforeRun, `steps_a_run` steps, AfterRun. `value` gives each tensor that the hook asks
  // for.
  absl::Status Run(SessionRunHook& hook) {
    RunContext context(*this, step);
    const std::vector<Tensor> tensors = hook.BeforeRun(context);
    step += steps_a_run;
    if (!tensors.empty()) requested_steps.push_back(step);
    if (during_run) during_run();
    RunValues values{.results = {}, .global_step = step, .num_steps = steps_a_run};
    for (const Tensor& tensor : tensors)
      values.results.push_back(value ? value(tensor) : Array::Scalar(0.5f));
    EST_RETURN_IF_ERROR(hook.AfterRun(context, values));
    stop_requested = context.stop_requested();
    return absl::OkStatus();
  }
  // Begin and AfterCreateSession.
  absl::Status Start(SessionRunHook& hook) {
    EST_RETURN_IF_ERROR(hook.Begin(fake_graph));
    return hook.AfterCreateSession(*this);
  }

  std::vector<StageTime> InputStageTimes() const override { return stages; }

  Graph fake_graph;
  std::vector<StageTime> stages;
  VariableStore store;
  int64_t step = 0;
  std::string dir;
  int64_t steps_a_run = 1;
  int64_t examples = 0;
  int64_t restored = -1;
  double learning_rate = 0.1;  // the hook may set it
  std::function<Array(const Tensor&)> value = nullptr;
  std::function<void()> during_run = nullptr;

  std::vector<int64_t> requested_steps;   // after runs for which the hook asked for tensors
  std::vector<int64_t> saved_steps;       // by either method
  std::vector<int64_t> background_steps;  // of these, by SaveCheckpointInBackground
  int num_finishes = 0;                   // calls of FinishCheckpoint
  bool stop_requested = false;            // by the last run
};

}  // namespace estimator::testing

#endif  // ESTIMATOR_TRAINING_TESTING_FAKE_SESSION_H_
