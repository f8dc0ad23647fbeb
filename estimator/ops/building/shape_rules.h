// Shape rules that op families share.
#ifndef ESTIMATOR_OPS_BUILDING_SHAPE_RULES_H_
#define ESTIMATOR_OPS_BUILDING_SHAPE_RULES_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/graph/op_registry.h"

namespace estimator {

// One output with the dtype and shape of input 0.
OutputSpecs SameAsInput(const ShapeContext& context);
// The same. Errors: INVALID_ARGUMENT if the dtype is not floating, or not a number (bool, string).
OutputSpecs SameAsFloatingInput(const ShapeContext& context);
OutputSpecs SameAsNumberInput(const ShapeContext& context);
// Two inputs of one dtype, which are broadcast. BroadcastRule gives that dtype, BroadcastToBoolRule
// gives bool.
OutputSpecs BroadcastRule(const ShapeContext& context);
OutputSpecs BroadcastToBoolRule(const ShapeContext& context);

// Errors: INVALID_ARGUMENT naming both dtypes, or the dtype.
absl::Status CheckSameDType(const TensorSpec& a, const TensorSpec& b);
absl::Status CheckFloating(const TensorSpec& spec);
absl::Status CheckNumber(const TensorSpec& spec);

// The value of an input that is one integer and must be known when the graph is built.
// Errors: as ShapeContext::ConstantInts; INVALID_ARGUMENT if the input has not exactly one value.
absl::StatusOr<int64_t> ConstantInt(const ShapeContext& context, int input);

// `axis`, counted from the front. Errors: INVALID_ARGUMENT naming the axis and the range.
absl::StatusOr<int> CheckAxis(int64_t axis, int rank);

}  // namespace estimator

#endif  // ESTIMATOR_OPS_BUILDING_SHAPE_RULES_H_
