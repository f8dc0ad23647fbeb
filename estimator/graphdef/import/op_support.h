// Which nodes can be imported, and the reasons why the others cannot.
#ifndef ESTIMATOR_GRAPHDEF_IMPORT_OP_SUPPORT_H_
#define ESTIMATOR_GRAPHDEF_IMPORT_OP_SUPPORT_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "estimator/array/tensor_spec.h"
#include "estimator/graphdef/import/flat_graph.h"
#include "estimator/graphdef/import/op_rules.h"

namespace estimator {

// The largest number of elements of a tensor. No graph has a larger one, and a product of sizes
// does not overflow.
inline constexpr int64_t kMaxImportedElements = int64_t{1} << 31;

// The reason why a node cannot be imported: "not supported", "data_format = NCHW",
// "dtype DT_COMPLEX64". nullopt if it can be imported.
std::optional<std::string> NodeProblem(const FlatNode& node);

// Whether an op with a problem may do more than compute its outputs: a write, a loop, a Python
// function.
bool MayHaveEffects(absl::string_view op);

// The reason why an output of a node that parses Examples cannot be imported.
std::optional<std::string> ParsedOutputProblem(const proto::NodeDef& node, int output);

// The spec of a variable from its node.
// Errors: UNIMPLEMENTED with the node's problem; INVALID_ARGUMENT if it is too large.
absl::StatusOr<TensorSpec> VariableSpec(const FlatNode& node);

// Whether a shape is `wanted`, whose unknown sizes stand for any.
bool FitsShape(const Shape& actual, const Shape& wanted);

}  // namespace estimator

#endif  // ESTIMATOR_GRAPHDEF_IMPORT_OP_SUPPORT_H_
