// LowerStep: a step of a graph as a StableHLO module, for JAX, libtpu and every PJRT plugin.
//
// The module's function @main runs up to `iterations` steps on each replica:
//
//   (variables..., feeds stacked [iterations, ...]..., num_steps, first_step)
//       -> (updated variables..., fetches stacked [iterations, ...]..., steps_done)
//
//   for i = 0; i < num_steps and all losses so far are finite; ++i:
//     fetches[i], new variables = step(variables, feeds[i])
//     if the guard's fetch is finite on every replica: variables = new variables; ++steps_done
//
// So a step with a NaN in its loss changes no variable and ends the loop, its fetches are in row
// steps_done, and steps_done < num_steps tells the host. Rows from there on are zeros, or after a
// failed guard, from row steps_done + 1.
//
// Replicas are independent copies of the program. CrossReplicaSum is an all_reduce over its groups.
// All replicas keep equal variables: an update that depends on the replica's own batch (the moving
// averages of batch normalization) takes the value of replica 0, as in the replicas of this
// process.
#ifndef TPU_STABLEHLO_LOWER_STEP_H_
#define TPU_STABLEHLO_LOWER_STEP_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "estimator/array/dtype.h"
#include "estimator/array/tensor_spec.h"
#include "estimator/graph/graph.h"
#include "estimator/runtime/backend.h"

namespace estimator::tpu::stablehlo {

struct LowerOptions {
  std::string name = "step";  // of the module
  int num_replicas = 1;
  // The most steps that one call of the module runs: the leading dimension of feeds and fetches.
  int64_t iterations = 1;
  // The number of the fetch (in ProgramSpec::fetches, of a floating dtype) that must be finite for
  // a step's updates to count: the loss. None: every step counts.
  std::optional<size_t> guard_fetch = std::nullopt;
  // kBfloat16: f32 operands of matrix products and convolutions are rounded to bf16; the results
  // stay in f32. kFloat32 leaves the precision to the compiler: a TPU rounds to bf16 as well.
  DType compute_dtype = DType::kFloat32;
  // Updated variables are written in place: their argument's buffer is reused for the result.
  bool donate_variables = true;
};

struct StepArgument {
  enum class Kind {
    kVariable,
    kFeed,      // [iterations, ...] of feed number `index`; differs between replicas
    kNumSteps,  // i32 []: how many steps to run, at most `iterations`
    kFirstStep  // i64 []: the step from which random numbers begin; only without a global_step
  };
  Kind kind = Kind::kVariable;
  std::string name;  // the variable's, or the placeholder's
  TensorSpec spec;
  int index = -1;  // of a feed in ProgramSpec::feeds
  // Of a variable: the number of the result that takes its buffer; -1: not donated.
  int donated_to = -1;
};

struct StepResult {
  enum class Kind {
    kVariable,  // its value after the last step; equal on all replicas
    kFetch,     // [iterations, ...] of fetch number `index`, for each replica its own
    kStepsDone  // i32 []: the steps whose updates took effect
  };
  Kind kind = Kind::kVariable;
  std::string name;  // the variable's, or the fetched tensor's
  TensorSpec spec;
  int index = -1;  // of a fetch in ProgramSpec::fetches
};

struct StepModule {
  std::string text;  // StableHLO in MLIR's text form
  // In the order of @main: variables by their order in the step, feeds, num_steps, first_step.
  std::vector<StepArgument> arguments;
  std::vector<StepResult> results;  // updated variables, fetches, steps_done
  int num_replicas = 1;
  int64_t iterations = 1;
};

// Errors: graph.status(), if it is an error; those of a step that cannot be compiled
// (runtime/lower.h); INVALID_ARGUMENT for options out of range; UNIMPLEMENTED listing every node
// that cannot be lowered, with op, shape and reason.
absl::StatusOr<StepModule> LowerStep(const Graph& graph, const ProgramSpec& spec,
                                     const LowerOptions& options = {});

}  // namespace estimator::tpu::stablehlo

#endif  // TPU_STABLEHLO_LOWER_STEP_H_
