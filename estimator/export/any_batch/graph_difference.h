// Holds two graphs against each other: whether they compute the same.
#ifndef ESTIMATOR_EXPORT_ANY_BATCH_GRAPH_DIFFERENCE_H_
#define ESTIMATOR_EXPORT_ANY_BATCH_GRAPH_DIFFERENCE_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "estimator/graph/graph.h"

namespace estimator {

// Walks both graphs from the pairs of `roots` to their inputs and control inputs, and holds every
// node against its partner: op, attributes, shapes, constants, the names of variables and
// placeholders. Other names may differ. A constant of one value everywhere is the same as a Fill
// with it: Zeros() is the one or the other, by its size.
// Returns what differs first, in creation order; nullopt: nothing, the graphs compute the same.
std::optional<std::string> GraphDifference(const std::vector<std::pair<Tensor, Tensor>>& roots);

}  // namespace estimator

#endif  // ESTIMATOR_EXPORT_ANY_BATCH_GRAPH_DIFFERENCE_H_
