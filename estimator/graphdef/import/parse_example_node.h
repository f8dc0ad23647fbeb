// Imports tf.io.parse_example as placeholders, and tells the host how to fill them.
#ifndef ESTIMATOR_GRAPHDEF_IMPORT_PARSE_EXAMPLE_NODE_H_
#define ESTIMATOR_GRAPHDEF_IMPORT_PARSE_EXAMPLE_NODE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "estimator/data/parsing/parse_example.h"
#include "estimator/graph/graph.h"

namespace estimator {

namespace proto {
class NodeDef;
}  // namespace proto

struct DenseFeature {
  std::string key;
  FixedLenFeature spec;
  int output = 0;  // the number of the output of the ParseExample node
};

// The dense features of a ParseExample or ParseExampleV2 node, without those of variable length.
//   inputs: the inputs of the node, imported already.
// Errors: INVALID_ARGUMENT if the numbers of keys, types, shapes and default values differ, or if
// keys or default values are not constants.
absl::StatusOr<std::vector<DenseFeature>> DenseFeatures(const proto::NodeDef& node,
                                                        const std::vector<Tensor>& inputs);

// Adds the spec of a feature. Several nodes may parse the same Examples, and a feature may be in
// several of them.
// Errors: INVALID_ARGUMENT if `specs` has another spec of this name.
absl::Status AddFeatureSpec(const std::string& name, const FeatureSpec& spec, FeatureSpecs* specs);

}  // namespace estimator

#endif  // ESTIMATOR_GRAPHDEF_IMPORT_PARSE_EXAMPLE_NODE_H_
