// How many bytes of constants a graph holds, which GraphToGraphDef would write whole: asked before
// a graph is written, since protobuf takes no message of 2 GiB.
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
  std::string largest_node = "";  // "": there are none
};
ConstantBytes CountConstantBytes(const Graph& graph);

// Whether `graph` can go into `file` ("model.ckpt-N.meta", as the message says it).
// Errors: RESOURCE_EXHAUSTED if its constants are more than max_bytes, with the sizes, the largest
// constant and the cure.
absl::Status CheckConstantBytes(const Graph& graph, size_t max_bytes, absl::string_view file);

}  // namespace estimator

#endif  // ESTIMATOR_GRAPHDEF_GRAPH_SIZE_H_
