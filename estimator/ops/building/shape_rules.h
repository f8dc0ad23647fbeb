// Shape rules that op families share.
#ifndef ESTIMATOR_OPS_BUILDING_SHAPE_RULES_H_
#define ESTIMATOR_OPS_BUILDING_SHAPE_RULES_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/graph/op_registry.h"

namespace estimator {

using OutputSpecs = absl::StatusOr<std::vector<TensorSpec>>;

// One output, of input 0's dtype and shape.
OutputSpecs SameAsInput(const ShapeContext& context);
// The same. Errors: INVALID_ARGUMENT unless the dtype is floating, or a number (not bool, string).
OutputSpecs SameAsFloatingInput(const ShapeContext& context);
OutputSpecs SameAsNumberInput(const ShapeContext& context);
// Two inputs of one dtype that are broadcast: BroadcastRule, the result has their dtype;
// BroadcastToBoolRule, it is bool.
OutputSpecs BroadcastRule(const ShapeContext& context);
OutputSpecs BroadcastToBoolRule(const ShapeContext& context);

// Errors: INVALID_ARGUMENT naming both.
absl::Status CheckSameDType(const TensorSpec& a, const TensorSpec& b);
absl::Status CheckFloating(const TensorSpec& spec);
absl::Status CheckNumber(const TensorSpec& spec);

// The value of an input that holds one integer and must be known when the graph is built.
// Errors: as ShapeContext::ConstantInts; INVALID_ARGUMENT for another number of values.
absl::StatusOr<int64_t> ConstantInt(const ShapeContext& context, int input);

// `axis` counted from the front. Errors: INVALID_ARGUMENT naming axis and range.
absl::StatusOr<int> CheckAxis(int64_t axis, int rank);

}  // namespace estimator

#endif  // ESTIMATOR_OPS_BUILDING_SHAPE_RULES_H_
