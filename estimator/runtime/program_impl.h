// The parts of a compiled program, which Program and ProgramRun share. Internal.
#ifndef ESTIMATOR_RUNTIME_PROGRAM_IMPL_H_
#define ESTIMATOR_RUNTIME_PROGRAM_IMPL_H_

#include <string>
#include <utility>
#include <vector>

#include "estimator/runtime/compile_module.h"
#include "estimator/runtime/program.h"

namespace estimator {

class ProgramImpl : public CompiledModule {
 public:
  CompileOptions options;
  std::string name;  // ProgramSpec::name
  ExecutableInfo info;
  std::vector<std::pair<std::string, TensorSpec>> variables;
  std::vector<std::string> replica_updates;
};

}  // namespace estimator

#endif  // ESTIMATOR_RUNTIME_PROGRAM_IMPL_H_
