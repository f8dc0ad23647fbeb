// The kernels of While, If and Case. Each holds the compiled bodies of its node and runs their
// instructions. Internal to runtime.
//
// If and Case run one of their bodies; its instructions write the node's outputs.
//
// While has two executors of its body, for even and for odd trips, whose carried values are in two
// sets of buffers: a trip reads one set and writes the other. One set is the node's outputs. A
// carried value that its kernel overwrites in place (passes/plan_memory.h) has one buffer. Only the
// rows of scanned inputs and stacked outputs move from trip to trip; a row that is not 64-byte
// aligned is copied. What depends on captures alone is computed before the first trip
// (passes/derive_values.h). A trip allocates nothing, except where a list grows (growing_list.h).
#ifndef ESTIMATOR_RUNTIME_CONTROL_FLOW_KERNELS_H_
#define ESTIMATOR_RUNTIME_CONTROL_FLOW_KERNELS_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "estimator/kernels/kernel.h"
#include "estimator/runtime/compile_module.h"

namespace estimator {

class ControlFlowKernel : public Kernel {
 public:
  // For Program::Plan: what each body is ("body, at each trip"), and its code.
  virtual std::vector<std::pair<std::string, const CompiledModule*>> bodies() const = 0;
};

namespace ir {

// Compiles the bodies of all nodes that have some, and gives these nodes their kernels.
// Errors: those of CompileModule; UNIMPLEMENTED for strings that a loop carries, scans or stacks,
// and for a list (IsList) that is a result of the module, or that another op than a loop reads.
absl::Status CompileBodies(Module& module, const CompileOptions& options, ExecutableInfo& info);

}  // namespace ir
}  // namespace estimator

#endif  // ESTIMATOR_RUNTIME_CONTROL_FLOW_KERNELS_H_
