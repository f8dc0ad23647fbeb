// Schedule: the order in which nodes run, divided into segments by collectives, and the updates
// that are written directly into a variable's memory.
//
// Derived nodes (derive_values.h) come first; they run only in steps before which a variable has
// changed.
//
//   level(node) = max over its inputs of level(input) + (1 if the input is a CrossReplicaSum)
// Other nodes run by level, and within a level in topological order. The collectives of level k run
// at the end of segment k. The update phase follows the last segment: the nodes that write
// variables in place, and the nodes that read their results. It has only ops that cannot fail, and
// every reader of a variable's old value runs before the node that writes it. So a step that fails
// changes no variable.
#ifndef ESTIMATOR_RUNTIME_PASSES_SCHEDULE_H_
#define ESTIMATOR_RUNTIME_PASSES_SCHEDULE_H_

#include <map>
#include <vector>

#include "estimator/runtime/ir.h"

namespace estimator::ir {

struct Schedule {
  struct Segment {
    int begin = 0;  // order[begin, end) are nodes that run
    int end = 0;    // order[end, collectives_end) are the segment's collectives
    int collectives_end = 0;
  };
  std::vector<int> order;          // nodes that run, and collectives; views do not run
  int derived_end = 0;             // order[0, derived_end) are the derived nodes
  std::vector<Segment> segments;   // at least one
  int updates_begin = 0;           // order[updates_begin, order.size()) is the update phase
  std::vector<char> only_updates;  // for each node: OnlyUpdates
  std::map<Value, int> in_place;   // a node's output -> the variable that it is written into
  std::vector<int> copies;         // the updates whose values are copied at the end

  // Collectives of a segment whose values are side by side in memory (buckets.h).
  struct Bucket {
    size_t segment = 0;
    DType dtype = DType::kInvalid;
    std::vector<int> collectives;  // nodes, in the order of memory
    int ready = 0;                 // order[0, ready) compute the inputs
    int64_t offset = 0;            // in the memory of all buckets
    int64_t bytes = 0;
    // The last input is computed in these blocks of rows, each of which is sent when it is
    // computed. Empty: it is computed as a whole.
    std::vector<RowRange> blocks = {};
  };
  std::vector<Bucket> buckets;
};

// Inserts copies of variables whose bytes would be read after they have changed: for a fetch of a
// variable that the step updates, and for an update to the value of a variable. Runs before
// SelectKernels.
void ProtectReads(Module& module);

// The values that can overwrite carried value `i` of a loop's body one after the other, the last
// first: that of fetch `i`, what its kernel may overwrite, ..., what may overwrite feed `i`. Empty
// if there is no such chain. Whether a value overwrites the one before it depends on the schedule:
// the node must be the last one that reads it.
// REQUIRES: kernels are selected.
std::vector<Value> OverwritingChain(const Module& module, int i);
// Moves the nodes of such chains behind the other nodes that read what they can overwrite.
void OrderCarried(Module& module);

// The level of each node.
std::vector<int> Levels(const Module& module);
// For each node: 1 if neither a fetch nor a collective depends on it.
std::vector<char> OnlyUpdates(const Module& module);

// REQUIRES: kernels are selected.
Schedule MakeSchedule(const Module& module);

}  // namespace estimator::ir

#endif  // ESTIMATOR_RUNTIME_PASSES_SCHEDULE_H_
