// Finds the nodes of a graph that some tensors need.
#ifndef ESTIMATOR_GRAPH_NEEDED_NODES_H_
#define ESTIMATOR_GRAPH_NEEDED_NODES_H_

#include <vector>

#include "estimator/graph/graph.h"

namespace estimator {

// The nodes that compute `roots`, in creation order, with all their inputs and control inputs.
std::vector<const Node*> NeededNodes(const Graph& graph, const std::vector<Tensor>& roots);
// The same for nodes.
std::vector<const Node*> NeededNodes(const Graph& graph, std::vector<const Node*> roots);

}  // namespace estimator

#endif  // ESTIMATOR_GRAPH_NEEDED_NODES_H_
