// tf.io.parse_example in an imported graph: placeholders, and how the host fills them.
#ifndef ESTIMATOR_GRAPHDEF_IMPORT_PARSE_EXAMPLE_H_
#define ESTIMATOR_GRAPHDEF_IMPORT_PARSE_EXAMPLE_H_

#include <map>
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
  int output = 0;  // of the ParseExample node
};

// The dense features of a ParseExample or ParseExampleV2 node whose inputs are imported; those of a
// length that varies are left out.
// Errors: INVALID_ARGUMENT if keys, types, shapes and default values are not as many, or if keys or
// default values are not constants.
absl::StatusOr<std::vector<DenseFeature>> DenseFeatures(const proto::NodeDef& node,
                                                        const std::vector<Tensor>& inputs);

}  // namespace estimator

#endif  // ESTIMATOR_GRAPHDEF_IMPORT_PARSE_EXAMPLE_H_
