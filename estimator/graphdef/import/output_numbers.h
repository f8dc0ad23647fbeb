// Numbers of the outputs of TensorFlow's ops, from the names that function bodies use: "norm:y:0".
#ifndef ESTIMATOR_GRAPHDEF_IMPORT_OUTPUT_NUMBERS_H_
#define ESTIMATOR_GRAPHDEF_IMPORT_OUTPUT_NUMBERS_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace estimator {

namespace proto {
class NodeDef;
}  // namespace proto

// The number of an output: 1 for "batch_mean:0" of a FusedBatchNormV3, 2 for "output:2" of a Split.
// Errors: INVALID_ARGUMENT if the op has no such output.
absl::StatusOr<int> OutputNumber(const proto::NodeDef& node, absl::string_view output);

// The name of output `number` in a function body: "batch_mean:0" for 1 of a FusedBatchNormV3. A new
// op whose only output is not called "output" in TensorFlow needs a row there.
std::string OutputName(absl::string_view op, int number);

// The outputs of a ParseExample or ParseExampleV2 node. A sparse feature has 3 outputs, a dense one
// has 1; only dense features are imported.
struct ParseExampleOutputs {
  int num_sparse = 0;
  int num_dense = 0;
  int first_dense() const { return 3 * num_sparse; }
};
ParseExampleOutputs ParseExampleOutputsOf(const proto::NodeDef& node);

}  // namespace estimator

#endif  // ESTIMATOR_GRAPHDEF_IMPORT_OUTPUT_NUMBERS_H_
