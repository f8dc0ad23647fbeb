// Imports TensorFlow's ops that become several of our ops, or none.
#ifndef ESTIMATOR_GRAPHDEF_IMPORT_OP_CONVERSIONS_H_
#define ESTIMATOR_GRAPHDEF_IMPORT_OP_CONVERSIONS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "estimator/graphdef/import/op_rules.h"

namespace estimator {

// Adds a node and returns all its outputs; none if the graph keeps an error.
std::vector<Tensor> AddOutputs(Graph& graph, absl::string_view op, std::vector<Tensor> inputs,
                               Attrs attrs, absl::string_view name);

// Each function is an ImportFn. The graph keeps errors of shapes; the handles are then invalid.

// Returns the inputs as outputs: for Identity, and for ops that matter only in training.
absl::StatusOr<std::vector<Tensor>> PassThrough(const ImportNode& node);
absl::StatusOr<std::vector<Tensor>> ConvertClipByValue(const ImportNode& node);
// The old op Concat, whose first input is the axis.
absl::StatusOr<std::vector<Tensor>> ConvertConcat(const ImportNode& node);
absl::StatusOr<std::vector<Tensor>> ConvertEinsum(const ImportNode& node);
absl::StatusOr<std::vector<Tensor>> ConvertEnsureShape(const ImportNode& node);
// Gather along axis 0. Also ResourceGather, whose variable is imported as its value.
absl::StatusOr<std::vector<Tensor>> ConvertGather(const ImportNode& node);
absl::StatusOr<std::vector<Tensor>> ConvertInTopK(const ImportNode& node);
// The later versions (V2, V3), which can also set other diagonals. Only the main one is supported.
absl::StatusOr<std::vector<Tensor>> ConvertMatrixDiag(const ImportNode& node);
absl::StatusOr<std::vector<Tensor>> ConvertMatrixDiagPart(const ImportNode& node);
// The old op Select: it does not broadcast, but accepts one condition for each row.
absl::StatusOr<std::vector<Tensor>> ConvertSelect(const ImportNode& node);
absl::StatusOr<std::vector<Tensor>> ConvertShapeN(const ImportNode& node);
absl::StatusOr<std::vector<Tensor>> ConvertTopK(const ImportNode& node);

}  // namespace estimator

#endif  // ESTIMATOR_GRAPHDEF_IMPORT_OP_CONVERSIONS_H_
