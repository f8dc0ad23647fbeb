// Sums of several buffers along a fixed binary tree: over the replicas of a process, and over the
// processes of a ProcessGroup.
#ifndef ESTIMATOR_DISTRIBUTED_TREE_SUM_H_
#define ESTIMATOR_DISTRIBUTED_TREE_SUM_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "estimator/array/dtype.h"

namespace estimator {

// Sets element i of every output to the sum of element i of all inputs:
//   ((0+1)+(2+3))+((4+5)+(6+7)); the left part of n inputs is the largest power of two below n.
// So the sum of 2^k inputs is a subtree of that of more inputs: the sums of subtrees can be summed
// by another call, in another process, with the same bits. The bits do not depend on the number of
// threads. 16-bit floats are summed in float32 and rounded once: a subtree of them must therefore be
// a buffer of float32. Integers wrap around.
//   inputs, outputs: buffers of `count` elements. An output may be one of the inputs.
// REQUIRES: there is an input.
// Errors: UNIMPLEMENTED for strings and bools.
absl::Status TreeSum(DType dtype, int64_t count, const std::vector<const void*>& inputs,
                     const std::vector<void*>& outputs);

}  // namespace estimator

#endif  // ESTIMATOR_DISTRIBUTED_TREE_SUM_H_
