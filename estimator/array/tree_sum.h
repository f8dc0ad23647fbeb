// Sums of several arrays, element by element. The order of the sums depends on the number of arrays
// alone, so every sum over replicas or processes uses it.
//
// The tree over n operands: neighbours are added in pairs, 0 + 1, 2 + 3, ..., and one that is left
// over is its own sum. The same is done with the sums, until one is left:
//   n = 8: ((0 + 1) + (2 + 3)) + ((4 + 5) + (6 + 7))    n = 5: ((0 + 1) + (2 + 3)) + 4
// If n operands are divided into consecutive parts of 2^j, the tree over n is the tree over the
// sums of the parts. So processes that have 2^j replicas each exchange one sum each.
#ifndef ESTIMATOR_ARRAY_TREE_SUM_H_
#define ESTIMATOR_ARRAY_TREE_SUM_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "estimator/array/dtype.h"

namespace estimator {

// The dtype that sums of `dtype` are computed in: float32 for 16-bit floats, which are then rounded
// once and not after each operand; else `dtype`.
DType SumDType(DType dtype);

// Sets element i of every output to the sum of element i of all inputs, along the tree. Reads each
// input once, with all OpenMP threads; their number does not change the bits. Integers wrap around.
//   in, out: the dtypes of the inputs and of the outputs.
//   inputs: `count` elements each. At least one. An output may be the same memory as an input.
// REQUIRES: in == out, or one of them is the SumDType of the other.
// Errors: UNIMPLEMENTED for strings and bools.
absl::Status TreeSum(DType in, DType out, int64_t count, absl::Span<const void* const> inputs,
                     absl::Span<void* const> outputs);

}  // namespace estimator

#endif  // ESTIMATOR_ARRAY_TREE_SUM_H_
