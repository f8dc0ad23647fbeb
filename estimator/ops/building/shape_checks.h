// Checks that shape rules share. Only for ops.
#ifndef ESTIMATOR_OPS_BUILDING_SHAPE_CHECKS_H_
#define ESTIMATOR_OPS_BUILDING_SHAPE_CHECKS_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "estimator/graph/op_registry.h"

namespace estimator {

// All checks return INVALID_ARGUMENT with the actual and the expected value. The graph adds the
// op's name and the types of its inputs to the message.

//   labels has rank 2, expected 1
//   hint: put in the message after the rank: "(batch, rows, columns, channels)".
absl::Status CheckRank(const TensorSpec& spec, int rank, absl::string_view what,
                       absl::string_view hint = "");
//   x has rank 1, expected 2 or more
absl::Status CheckRankAtLeast(const TensorSpec& spec, int rank, absl::string_view what);
// Checks that each input in `inputs` has the dtype of input 0; if `inputs` is empty, all inputs.
absl::Status CheckSameDType(const ShapeContext& c, const std::vector<int>& inputs = {});
// Checks for float32, float64, bfloat16 or float16.
absl::Status CheckFloating(const TensorSpec& spec, absl::string_view what);
//   grad is [2,3], expected [2,4]
absl::Status CheckShape(const TensorSpec& spec, const Shape& expected, absl::string_view what);

// A shape rule: all inputs have one floating type, and the output has it, too.
OutputSpecs SameFloating(const ShapeContext& c);

}  // namespace estimator

#endif  // ESTIMATOR_OPS_BUILDING_SHAPE_CHECKS_H_
