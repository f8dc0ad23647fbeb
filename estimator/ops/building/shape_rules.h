// Shape rules that op families share.
#ifndef ESTIMATOR_OPS_BUILDING_SHAPE_RULES_H_
#define ESTIMATOR_OPS_BUILDING_SHAPE_RULES_H_

#include <cstdint>
#include <vector>

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

// The value of an input that is a shape.
// Errors: as ShapeContext::ConstantInts; INVALID_ARGUMENT naming a negative size.
absl::StatusOr<Shape> ConstantShape(const ShapeContext& context, int input);
// The value of an input of a node that has been built, for its gradient.
std::vector<int64_t> ConstantInts(const Node& node, int input);
// A gradient function: the gradients of the outputs are those of the inputs.
Tensors PassThrough(const Node& node, const Tensors& grads);

// `axis`, counted from the front. Errors: INVALID_ARGUMENT naming the axis and the range.
absl::StatusOr<int> CheckAxis(int64_t axis, int rank);
// The same for the axis that is the value of an input. Errors: also those of ConstantInt.
absl::StatusOr<int> ConstantAxis(const ShapeContext& context, int input, int rank);

}  // namespace estimator

#endif  // ESTIMATOR_OPS_BUILDING_SHAPE_RULES_H_
