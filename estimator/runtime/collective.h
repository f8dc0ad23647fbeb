// Sums over replicas, which run between two segments of a program.
#ifndef ESTIMATOR_RUNTIME_COLLECTIVE_H_
#define ESTIMATOR_RUNTIME_COLLECTIVE_H_

#include <cstdint>
#include <vector>

#include "estimator/array/tensor_spec.h"

namespace estimator {

// Sums `input` over the replicas of each group, along the tree of array/tree_sum.h over the group's
// list of replicas, into `output` of every replica of the group. Both are buffer numbers for
// ProgramRun::buffer. They may be the same buffer: element i of all inputs is read before element i
// of any output is written.
struct Collective {
  int input = 0;
  int output = 0;
  TensorSpec spec;
  std::vector<std::vector<int64_t>> groups;  // empty: one group of all replicas
  // Whether only updates read the output: then the replica whose updates take effect needs it.
  bool only_updates = false;
};

// Sums over all replicas that processes exchange together, and while the segment still computes.
// Their inputs and outputs are one range of ProgramRun::bucket_memory().
struct CollectiveBucket {
  int ready = 0;  // the inputs are computed before this instruction of the program
  DType dtype = DType::kInvalid;
  int64_t offset = 0;  // of the range, in bytes
  int64_t count = 0;   // elements of the range, with those of gaps between tensors
  std::vector<Collective> collectives;
};

}  // namespace estimator

#endif  // ESTIMATOR_RUNTIME_COLLECTIVE_H_
