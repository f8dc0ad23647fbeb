// Compares two graphs: whether they compute the same.
#ifndef ESTIMATOR_EXPORT_ANY_BATCH_GRAPH_DIFFERENCE_H_
#define ESTIMATOR_EXPORT_ANY_BATCH_GRAPH_DIFFERENCE_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "estimator/graph/graph.h"

namespace estimator {

// Walks both graphs from the pairs of `roots` to their inputs and control inputs, and compares each
// node with its partner: op, attributes, shapes, constants, and the names of variables and
// placeholders. Other names may differ. A constant whose elements are all equal is the same as a
// Fill with that value: Zeros() builds one or the other, depending on its size.
// Returns the first difference in creation order, or nullopt if the graphs compute the same.
std::optional<std::string> GraphDifference(const std::vector<std::pair<Tensor, Tensor>>& roots);

}  // namespace estimator

#endif  // ESTIMATOR_EXPORT_ANY_BATCH_GRAPH_DIFFERENCE_H_
