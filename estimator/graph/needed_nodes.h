// What of a graph is needed to compute some tensors of it.
#ifndef ESTIMATOR_GRAPH_NEEDED_NODES_H_
#define ESTIMATOR_GRAPH_NEEDED_NODES_H_

#include <vector>

#include "estimator/graph/graph.h"

namespace estimator {

// The nodes that compute `roots`, in creation order: their inputs and control inputs, all the way.
std::vector<const Node*> NeededNodes(const Graph& graph, const std::vector<Tensor>& roots);

}  // namespace estimator

#endif  // ESTIMATOR_GRAPH_NEEDED_NODES_H_
