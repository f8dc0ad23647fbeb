// Checks that shape rules share. Inside ops only.
#ifndef ESTIMATOR_OPS_BUILDING_SHAPE_CHECKS_H_
#define ESTIMATOR_OPS_BUILDING_SHAPE_CHECKS_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/graph/op_registry.h"

namespace estimator {

// Errors of all: INVALID_ARGUMENT with what was found and what was expected, without the op's name
// and its types, which the graph adds.

// "labels has rank 2, expected 1". hint goes in parentheses: "(batch, rows, columns, channels)".
absl::Status CheckRank(const TensorSpec& spec, int rank, absl::string_view what,
                       absl::string_view hint = "");
// Input i has the dtype of input 0 for every i in inputs; all where inputs is empty.
absl::Status CheckSameDType(const ShapeContext& c, const std::vector<int>& inputs = {});
// float32, float64, bfloat16 or float16.
absl::Status CheckFloating(const TensorSpec& spec, absl::string_view what);
// "grad is [2,3], expected [2,4]".
absl::Status CheckShape(const TensorSpec& spec, const Shape& expected, absl::string_view what);

// Shape rules: one floating input, its type is the output's; and several of the same floating type.
absl::StatusOr<std::vector<TensorSpec>> SameFloating(const ShapeContext& c);

}  // namespace estimator

#endif  // ESTIMATOR_OPS_BUILDING_SHAPE_CHECKS_H_
