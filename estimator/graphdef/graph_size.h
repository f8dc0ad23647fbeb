// The number of bytes of constants in a graph. GraphToGraphDef writes them whole, and protobuf
// cannot serialize 2 GiB, so callers check this before they write a graph.
#ifndef ESTIMATOR_GRAPHDEF_GRAPH_SIZE_H_
#define ESTIMATOR_GRAPHDEF_GRAPH_SIZE_H_

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "estimator/graph/graph.h"

namespace estimator {

struct ConstantBytes {
  size_t total = 0;
  size_t largest = 0;
  std::string largest_node = "";  // "" if the graph has no constants
};
ConstantBytes CountConstantBytes(const Graph& graph);

// Checks that `graph` can be written into `file` ("model.ckpt-N.meta"; only used in the message).
// Errors: RESOURCE_EXHAUSTED if its constants exceed max_bytes, with both sizes, the largest
// constant and the cure.
absl::Status CheckConstantBytes(const Graph& graph, size_t max_bytes, absl::string_view file);

}  // namespace estimator

#endif  // ESTIMATOR_GRAPHDEF_GRAPH_SIZE_H_
