// CompileOptions: how a graph becomes a program (runtime/program.h).
#ifndef ESTIMATOR_RUNTIME_COMPILE_OPTIONS_H_
#define ESTIMATOR_RUNTIME_COMPILE_OPTIONS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/base/string_arg.h"
#include "estimator/kernels/kernel.h"

namespace estimator {

struct CompileOptions {
  KernelTier fastest = KernelTier::kNative;  // kReference: the kernels that define the results
  // kDirect: convolutions, and matrix products of f32, have the rounding error of a plain sum.
  // kAuto: Winograd, or three products of bf16 with AMX, where they are faster.
  ConvAlgorithm conv_algorithm = ConvAlgorithm::kAuto;
  // kBfloat16: matrix products of f32 operands are computed in bf16 where the CPU has instructions
  // for that, with sums and results in f32 (passes/bfloat16_products.h). Convolutions of f32 with
  // filters of 5x5 may have errors of 1e-3 of the result's root mean square
  // (kernels/winograd/winograd.h).
  DType compute_dtype = DType::kFloat32;
  // True: f32 matrix products and convolutions read operands that are rounded to bf16, on every
  // CPU. Sums and results are f32. This is the default precision of a TPU
  // (passes/round_operands.h).
  bool bfloat16_operands = false;
  // Passes to leave out, to find the one that changes a result: names of OptionalPasses().
  std::vector<std::string> disable_passes = {};
  // Writes the table of Program::Plan to stdout after compiling.
  bool print_plan = false;
  // --check_kernels: after each instruction, runs the reference kernels of its nodes on the same
  // inputs. The first op with a difference beyond the tolerance fails the step with an error that
  // names it. Ops without a reference kernel are listed in info().unchecked_ops and logged.
  bool check_kernels = false;
  // A step that runs longer ends with an error that names the op, and the trip of a loop. A CPU
  // backend reads it. 0: none.
  double step_timeout_secs = 0;
  // The program will only run as one replica, so collectives are removed and do not prevent fusing.
  bool single_replica = false;
  // Gradients are summed in buckets, which processes exchange during the step (passes/buckets.h).
  bool buckets = false;
};

// The names of the passes that may be left out, in the order in which they run. Without them a
// program gives the same results, up to rounding, and is slower or needs more memory.
const std::vector<std::string>& OptionalPasses();

// Errors: INVALID_ARGUMENT listing all names that are not in OptionalPasses(), and those that are.
absl::Status CheckPassNames(const std::vector<std::string>& names);

// Whether the pass runs. REQUIRES: `pass` is one of OptionalPasses().
bool Runs(const CompileOptions& options, absl::string_view pass);

// For flags. "auto", "direct" or "winograd". Errors: INVALID_ARGUMENT for another text.
absl::StatusOr<ConvAlgorithm> ParseConvAlgorithm(StringArg text);
// For flags: the names in a list that is separated by commas. Does not check them.
std::vector<std::string> ParsePassNames(StringArg text);

}  // namespace estimator

#endif  // ESTIMATOR_RUNTIME_COMPILE_OPTIONS_H_
