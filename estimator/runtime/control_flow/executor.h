// Executor: runs the instructions of a compiled module on buffers that its owner provides: of a
// step (ProgramRun), or of the bodies of a loop or a branch (kernels.h). Internal to
// runtime.
#ifndef ESTIMATOR_RUNTIME_CONTROL_FLOW_EXECUTOR_H_
#define ESTIMATOR_RUNTIME_CONTROL_FLOW_EXECUTOR_H_

#include <array>
#include <cstddef>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "estimator/kernels/kernel.h"
#include "estimator/runtime/arena_fence.h"
#include "estimator/runtime/compile_module.h"
#include "estimator/runtime/trace.h"

namespace estimator {

// Not thread-safe. Executors of one module take turns, because they use the same kernels.
class Executor {
 public:
  // `compiled` must outlive the executor. Constants have their addresses; the owner sets the
  // others.
  explicit Executor(const CompiledModule& compiled);
  Executor(Executor&&) = default;

  const CompiledModule& compiled() const { return *compiled_; }
  void* address(int buffer) const { return ir::At(address_, buffer); }
  void set_address(int buffer, void* address) { ir::At(address_, buffer) = address; }
  // Writes the addresses into the operands of all instructions.
  //   areas: the memory of values and scratch, which a fence guards (arena_fence.h); two at most.
  //   scratch: where the offsets of scratch memory begin.
  void Bind(absl::Span<const MemoryArea> areas, char* scratch);

  // The operands that are in one buffer.
  struct Uses {
    int buffer = -1;
    std::vector<const void**> inputs;
    std::vector<void**> outputs;
  };
  // Valid while the executor exists, also after it has moved. No uses for buffer -1.
  Uses UsesOf(int buffer);
  // Moves one buffer, which takes less time than Bind.
  void Rebind(const Uses& uses, void* address);

  // The addresses of the outputs of instruction `i`.
  absl::Span<void* const> outputs(size_t i) const { return args_[i].outputs; }

  // Runs instruction `i`. With check_kernels, also the reference kernels.
  //   trace: null: not traced.
  // Errors: those of the kernel, with the node's name; DEADLINE_EXCEEDED after step.deadline.
  absl::Status Run(size_t i, const StepContext& step, Trace* trace);

 private:
  absl::Status RunUntraced(size_t i);
  absl::Status RunChecked(size_t i, const ir::Node& node);
  void AllowOperands(const ArenaFence& fence, size_t i, const ir::Node& node) const;

  const CompiledModule* compiled_;
  std::array<MemoryArea, 2> areas_ = {};
  std::vector<void*> address_;       // of each buffer
  std::vector<const void*> inputs_;  // of all instructions, one after the other
  std::vector<void*> outputs_;
  std::vector<KernelArgs> args_;  // of each instruction
};

}  // namespace estimator

#endif  // ESTIMATOR_RUNTIME_CONTROL_FLOW_EXECUTOR_H_
