// CompileModule: runs the passes of the CPU on a neutral module: a step, or the body of a loop or a
// branch. Internal to runtime.
#ifndef ESTIMATOR_RUNTIME_COMPILE_MODULE_H_
#define ESTIMATOR_RUNTIME_COMPILE_MODULE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "estimator/runtime/backend.h"
#include "estimator/runtime/compile_options.h"
#include "estimator/runtime/ir.h"
#include "estimator/runtime/passes/emit.h"
#include "estimator/runtime/passes/plan_memory.h"
#include "estimator/runtime/passes/schedule.h"

namespace estimator {

// The instructions of a module, and where their operands are.
struct CompiledModule {
  ir::Module module;
  ir::Schedule schedule;
  ir::MemoryPlan plan;
  ir::Code code;
  std::vector<char> checked;  // check_kernels: for each instruction, whether it can be checked
};

// Compiles the bodies of its nodes first: the kernels of these nodes run them
// (control_flow/kernels.h).
//   info: num_instructions, num_fused_nodes and unchecked_ops grow by those of the module and of
//   its bodies.
// Errors: those of Program::Compile that need no graph.
absl::StatusOr<CompiledModule> CompileModule(ir::Module module, const CompileOptions& options,
                                             ExecutableInfo& info);

}  // namespace estimator

#endif  // ESTIMATOR_RUNTIME_COMPILE_MODULE_H_
