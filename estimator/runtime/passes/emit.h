// Emit: writes the schedule as a flat list of instructions, each a kernel with its buffers.
#ifndef ESTIMATOR_RUNTIME_PASSES_EMIT_H_
#define ESTIMATOR_RUNTIME_PASSES_EMIT_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "estimator/runtime/collective.h"
#include "estimator/runtime/ir.h"
#include "estimator/runtime/passes/plan_memory.h"
#include "estimator/runtime/passes/schedule.h"

namespace estimator::ir {

struct Instruction {
  Kernel* kernel = nullptr;  // owned by the node
  int node = 0;
  std::vector<int> inputs;   // indices of buffers of the MemoryPlan
  std::vector<int> outputs;  // those of the node, then those of Node::copies
  std::vector<int> copies;   // the derived instructions whose outputs are Node::copies
  RowRange rows;             // KernelArgs::rows
  int64_t scratch = -1;      // offset in the arena, or -1
  bool only_updates = false;
  // The groups of fetches that need it; kAlways: every step does.
  uint64_t groups = kAlways;

  static constexpr uint64_t kAlways = ~uint64_t{0};
};

struct Code {
  // What is known of a derived instruction.
  struct Derived {
    bool kept = false;  // its outputs are kept; else it runs whenever one of its readers does
    std::vector<int> variables;  // kept: the variables that its outputs are computed from
    std::vector<int> needs;      // the derived instructions that it reads and that are not kept
  };
  struct Segment {
    int begin = 0;  // instructions[begin, end)
    int end = 0;
    std::vector<Collective> collectives;    // run after the instructions
    std::vector<CollectiveBucket> buckets;  // in the order in which they are ready
  };
  std::vector<Instruction> instructions;
  std::vector<Derived> derived;  // of instructions[0, derived.size()), which run before segment 0
  std::vector<Segment> segments;
  int updates_begin = 0;  // the update phase is instructions[updates_begin, end)
};

// Errors: INVALID_ARGUMENT if a collective's groups are not constant.
absl::StatusOr<Code> Emit(const Module& module, const Schedule& schedule, const MemoryPlan& plan);

}  // namespace estimator::ir

#endif  // ESTIMATOR_RUNTIME_PASSES_EMIT_H_
