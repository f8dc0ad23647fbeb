// The parts of a compiled program, which Program and ProgramRun share. Internal.
#ifndef ESTIMATOR_RUNTIME_PROGRAM_IMPL_H_
#define ESTIMATOR_RUNTIME_PROGRAM_IMPL_H_

#include <string>
#include <utility>
#include <vector>

#include "estimator/runtime/ir.h"
#include "estimator/runtime/passes/emit.h"
#include "estimator/runtime/passes/plan_memory.h"
#include "estimator/runtime/passes/schedule.h"
#include "estimator/runtime/program.h"

namespace estimator {

class ProgramImpl {
 public:
  ir::Module module;
  ir::Schedule schedule;
  ir::MemoryPlan plan;
  ir::Code code;
  CompileOptions options;
  std::string name;           // ProgramSpec::name
  std::vector<char> checked;  // check_kernels: for each instruction, whether it can be checked
  ExecutableInfo info;
  std::vector<std::pair<std::string, TensorSpec>> variables;
};

}  // namespace estimator

#endif  // ESTIMATOR_RUNTIME_PROGRAM_IMPL_H_
