// Plan memory: assigns a place in memory to every value of a step.
//
// Values that are needed only within a step share one arena: they are placed by their live ranges
// in the schedule, first fit, 64-byte aligned. An output overwrites its input if the kernel allows
// it and no other node reads the input afterwards. Fetches and strings have buffers of their own,
// which are valid until the next step. Constants, feeds and variables keep their own memory.
#ifndef ESTIMATOR_RUNTIME_PASSES_PLAN_MEMORY_H_
#define ESTIMATOR_RUNTIME_PASSES_PLAN_MEMORY_H_

#include <cstdint>
#include <map>
#include <vector>

#include "estimator/runtime/ir.h"
#include "estimator/runtime/passes/schedule.h"

namespace estimator::ir {

struct Buffer {
  enum class Kind { kArena, kOwn, kConstant, kFeed, kVariable };
  Kind kind = Kind::kArena;
  int64_t offset = 0;  // kArena: in bytes
  int index = 0;  // kOwn: in MemoryPlan::own; kConstant: the node; kFeed, kVariable: its number
};

struct MemoryPlan {
  std::vector<Buffer> buffers;
  // buffer_of[n][o] is the buffer of output o of node n. A view has the buffer of its root.
  std::vector<std::vector<int>> buffer_of;
  std::vector<int64_t> scratch;  // for each position in the order: offset in the arena, or -1
  std::vector<TensorSpec> own;
  int64_t arena_bytes = 0;

  int buffer(Value value) const { return At(buffer_of, value); }
};

MemoryPlan PlanMemory(const Module& module, const Schedule& schedule);

// Allocates offsets in an unbounded range: each gets the lowest gap that is large enough.
class FirstFit {
 public:
  static constexpr int64_t kAlignment = 64;  // bytes
  int64_t Allocate(size_t bytes);
  // REQUIRES: Allocate(bytes) returned `offset`.
  void Free(int64_t offset, size_t bytes);
  int64_t peak() const { return peak_; }  // the highest end of any allocation so far

 private:
  static int64_t Rounded(size_t bytes);
  std::map<int64_t, int64_t> gaps_;  // offset -> bytes, all below end_
  int64_t end_ = 0;
  int64_t peak_ = 0;
};

}  // namespace estimator::ir

#endif  // ESTIMATOR_RUNTIME_PASSES_PLAN_MEMORY_H_
