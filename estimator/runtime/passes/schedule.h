// Schedule: the order in which nodes run, cut into segments at collectives, and the updates that
// are written straight into a variable's storage.
//
//   level(node) = the largest level of its inputs, one more past a CrossReplicaSum.
// Nodes run by level, and within a level in topological order; the collectives of level k stand at
// the end of segment k. After the last segment comes the update phase: the nodes that write
// variables in place, and those that read what they wrote. It holds only ops that cannot fail, and
// every reader of a variable's old value comes before its writer: so a step that fails changes no
// variable.
#ifndef ESTIMATOR_RUNTIME_PASSES_SCHEDULE_H_
#define ESTIMATOR_RUNTIME_PASSES_SCHEDULE_H_

#include <map>
#include <vector>

#include "estimator/runtime/ir.h"

namespace estimator::ir {

struct Schedule {
  struct Segment {
    int begin = 0;  // order[begin, end) runs
    int end = 0;    // order[end, collectives_end) are its collectives
    int collectives_end = 0;
  };
  std::vector<int> order;          // nodes that run, and collectives; views do not
  std::vector<Segment> segments;   // at least one
  int updates_begin = 0;           // order[updates_begin, order.size()) is the update phase
  std::vector<char> only_updates;  // by node: OnlyUpdates
  std::map<Value, int> in_place;   // a node's output -> the variable that it is written into
  std::vector<int> copies;         // indices of the updates that are copied at the end
};

// Inserts copies where bytes of a variable would be read after they changed: a fetch of a variable
// that the step updates, an update to another variable's value. Before SelectKernels.
void ProtectReads(Module& module);

// By node: its level.
std::vector<int> Levels(const Module& module);
// By node: 1 if neither a fetch nor a collective needs it.
std::vector<char> OnlyUpdates(const Module& module);

// REQUIRES: kernels are selected.
Schedule MakeSchedule(const Module& module);

}  // namespace estimator::ir

#endif  // ESTIMATOR_RUNTIME_PASSES_SCHEDULE_H_
