// Plan memory: assigns a place in memory to every value of a step.
//
// Values that are needed only within a step share one arena: they are placed by their live ranges
// in the schedule, 64-byte aligned. Two placements are computed, first fit in the order of the
// schedule and by size (PlaceBySize), and the smaller one is used. An output overwrites its input
// if the kernel allows it and no other node reads the input afterwards. Fetches and strings have
// buffers of their own, which are valid until the next step. Kept derived values (derive_values.h)
// are outside the arena too, because other programs use the arena between steps. Constants, feeds
// and variables keep their own memory. In the body of a loop, the next value of a carried value
// overwrites it if a chain of kernels allows that and no other node reads it afterwards; then it
// has the buffer of the feed.
//
// Replicas take turns: each runs a whole segment before the next one does. In a program with
// collectives, a value that lives within one segment is therefore in a second arena, which all
// replicas share. Only what crosses a segment or is summed has a place in each replica's own arena.
// What is summed in buckets (buckets.h) has a memory of its own instead, which is not used twice.
#ifndef ESTIMATOR_RUNTIME_PASSES_PLAN_MEMORY_H_
#define ESTIMATOR_RUNTIME_PASSES_PLAN_MEMORY_H_

#include <cstdint>
#include <map>
#include <vector>

#include "estimator/runtime/ir.h"
#include "estimator/runtime/passes/schedule.h"

namespace estimator::ir {

struct Buffer {
  // kShared: in the arena that the replicas share.
  // kDerived: in the memory of kept derived values.
  // kBucket: in the memory of all buckets.
  enum class Kind { kArena, kShared, kDerived, kBucket, kOwn, kList, kConstant, kFeed, kVariable };
  Kind kind = Kind::kArena;
  int64_t offset = 0;  // kArena, kShared, kDerived, kBucket: in bytes
  // kOwn: in MemoryPlan::own; kList: in MemoryPlan::lists; kConstant: the node; kFeed, kVariable:
  // its number
  int index = 0;
};

struct MemoryPlan {
  std::vector<Buffer> buffers;
  // buffer_of[n][o] is the buffer of output o of node n. A view has the buffer of its root.
  std::vector<std::vector<int>> buffer_of;
  // For each position in the order: the offset of its scratch, or -1. It is in the shared arena if
  // shared_bytes > 0, else in the arena.
  std::vector<int64_t> scratch;
  std::vector<TensorSpec> own;
  std::vector<TensorSpec> lists;  // the specs of their elements; a buffer is a GrowingList
  int64_t arena_bytes = 0;
  int64_t shared_bytes = 0;   // 0 in a program without collectives
  int64_t derived_bytes = 0;  // 0 in a program without kept derived values
  int64_t bucket_bytes = 0;   // of each replica; 0 in a program without buckets

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
  // The number of bytes that an allocation takes.
  static int64_t Rounded(size_t bytes);

 private:
  std::map<int64_t, int64_t> gaps_;  // offset -> bytes, all below end_
  int64_t end_ = 0;
  int64_t peak_ = 0;
};

// A value that needs `size` bytes at the positions [begin, end] of the schedule.
struct LiveRange {
  int64_t size = 0;
  int begin = 0;
  int end = 0;
};

// Gives every range an offset, the largest first: each gets the smallest gap that is large enough
// between the ranges that are placed and live at the same time. Returns the offsets.
//   peak: the highest end of a range.
// Takes time quadratic in the number of ranges.
std::vector<int64_t> PlaceBySize(const std::vector<LiveRange>& ranges, int64_t* peak);

}  // namespace estimator::ir

#endif  // ESTIMATOR_RUNTIME_PASSES_PLAN_MEMORY_H_
