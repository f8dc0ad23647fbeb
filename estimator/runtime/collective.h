// A sum over replicas, which runs between two segments of a program.
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
};

}  // namespace estimator

#endif  // ESTIMATOR_RUNTIME_COLLECTIVE_H_
