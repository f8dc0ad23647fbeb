// Ops of TensorFlow that become several ops of ours, or none.
#ifndef ESTIMATOR_GRAPHDEF_IMPORT_CONVERSIONS_H_
#define ESTIMATOR_GRAPHDEF_IMPORT_CONVERSIONS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "estimator/graphdef/import_rules.h"

namespace estimator {

// Each is an ImportFn. Errors of shapes are kept by the graph; the handles are then invalid.

// The outputs are the inputs: Identity, and what only matters in training.
absl::StatusOr<std::vector<Tensor>> PassThrough(const ImportNode& node);
absl::StatusOr<std::vector<Tensor>> ConvertClipByValue(const ImportNode& node);
// The old Concat takes the axis first.
absl::StatusOr<std::vector<Tensor>> ConvertConcat(const ImportNode& node);
absl::StatusOr<std::vector<Tensor>> ConvertEinsum(const ImportNode& node);
absl::StatusOr<std::vector<Tensor>> ConvertEnsureShape(const ImportNode& node);
// Along axis 0; ResourceGather too, whose variable is its value here.
absl::StatusOr<std::vector<Tensor>> ConvertGather(const ImportNode& node);
absl::StatusOr<std::vector<Tensor>> ConvertInTopK(const ImportNode& node);
// The later versions, which also set other diagonals: of the main one.
absl::StatusOr<std::vector<Tensor>> ConvertMatrixDiag(const ImportNode& node);
absl::StatusOr<std::vector<Tensor>> ConvertMatrixDiagPart(const ImportNode& node);
// The old Select does not broadcast, but takes one condition for each row.
absl::StatusOr<std::vector<Tensor>> ConvertSelect(const ImportNode& node);
absl::StatusOr<std::vector<Tensor>> ConvertShapeN(const ImportNode& node);
absl::StatusOr<std::vector<Tensor>> ConvertTopK(const ImportNode& node);

}  // namespace estimator

#endif  // ESTIMATOR_GRAPHDEF_IMPORT_CONVERSIONS_H_
