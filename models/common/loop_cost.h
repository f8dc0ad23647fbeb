// LoopCostHook: measures what the training loop adds to the steps of the bare program.
#ifndef MODELS_COMMON_LOOP_COST_H_
#define MODELS_COMMON_LOOP_COST_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/graph/graph.h"
#include "estimator/runtime/compile_options.h"
#include "estimator/runtime/program.h"
#include "estimator/runtime/variable_store.h"
#include "models/common/benchmark_json.h"

namespace estimator {

// What a training step computes.
struct StepParts {
  Tensor loss;
  Operation train_op;
};

// Two kinds of steps run in turn, ten steps of each: those of the loop, which read input and call
// hooks, and those of a program of the same step alone, which runs on the first batch with a copy
// of the variables. Pass it to Train on one replica. It stops the training when it has measured
// `options.steps` steps of the loop, or has measured for `options.seconds`; at least one block.
class LoopCostHook : public SessionRunHook {
 public:
  //   compile: the options of the loop's program.
  //   parts: of the session's graph. The model_fn sets them.
  LoopCostHook(const BenchmarkOptions& options, CompileOptions compile,
               std::shared_ptr<const StepParts> parts)
      : options_(options), compile_(std::move(compile)), parts_(std::move(parts)) {}

  // Returns the fields of the JSON:
  //   loop_percent   by how much a step of the loop takes longer than one of the program, the
  //                  median over pairs of blocks; below 0 if it takes less time
  //   loop_ms        of a step of the loop, the median over blocks
  //   program_ms     of a step of the program
  //   measured_steps of each kind
  ReportFields Fields() const;

  absl::Status Begin(Graph& graph) override;
  // The first batch.
  std::vector<Tensor> BeforeRun(RunContext& /*context*/) override {
    return run_ == nullptr ? placeholders_ : std::vector<Tensor>();
  }
  absl::Status AfterRun(RunContext& context, const RunValues& values) override;

 private:
  absl::Status Prepare(const Session& session, const std::vector<Array>& batch);
  // Runs a block of steps, and returns the seconds of one.
  absl::StatusOr<double> RunBlock(VariableStore& variables);

  const BenchmarkOptions options_;
  const CompileOptions compile_;
  const std::shared_ptr<const StepParts> parts_;
  const Clock clock_ = SteadyClock();
  std::vector<Tensor> placeholders_;
  VariableStore variables_;  // of the bare program
  std::shared_ptr<const Program> program_;
  std::unique_ptr<ProgramRun> run_;
  std::vector<Array> batch_;
  int64_t steps_done_ = 0;  // of the loop
  int64_t block_steps_ = 0;
  double block_begin_ = 0;
  std::vector<double> loop_seconds_, program_seconds_;  // of a step, for each block
  double measured_seconds_ = 0;                         // of the blocks of both kinds
};

}  // namespace estimator

#endif  // MODELS_COMMON_LOOP_COST_H_
