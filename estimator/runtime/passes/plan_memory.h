// Plan memory: where every value of a step lies.
//
// Values that live only within a step share one arena: liveness over the schedule's order, first
// fit, 64-byte aligned. An output is written over its input where the kernel allows it and nothing
// reads the input afterwards. Fetches and strings have buffers of their own, which survive until
// the next step; constants, feeds and variables lie where they are.
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
  int index = 0;       // kOwn: in MemoryPlan::own; kConstant: node; kFeed, kVariable: which
};

struct MemoryPlan {
  std::vector<Buffer> buffers;
  // buffer_of[n][o]: the buffer of output o of node n. Views have their root's.
  std::vector<std::vector<int>> buffer_of;
  std::vector<int64_t> scratch;  // by position in the order: offset in the arena, or -1
  std::vector<TensorSpec> own;
  int64_t arena_bytes = 0;

  int buffer(Value value) const { return At(buffer_of, value); }
};

MemoryPlan PlanMemory(const Module& module, const Schedule& schedule);

// Offsets in a range without end: the lowest gap that is large enough.
class FirstFit {
 public:
  static constexpr int64_t kAlignment = 64;  // bytes
  int64_t Allocate(size_t bytes);
  // REQUIRES: Allocate(bytes) returned `offset`.
  void Free(int64_t offset, size_t bytes);
  int64_t peak() const { return peak_; }  // the end of the highest allocation there ever was

 private:
  static int64_t Rounded(size_t bytes);
  std::map<int64_t, int64_t> gaps_;  // offset -> bytes, below end_
  int64_t end_ = 0;
  int64_t peak_ = 0;
};

}  // namespace estimator::ir

#endif  // ESTIMATOR_RUNTIME_PASSES_PLAN_MEMORY_H_
