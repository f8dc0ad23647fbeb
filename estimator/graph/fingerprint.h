// A number that tells graphs apart, to see whether processes build the same model.
#ifndef ESTIMATOR_GRAPH_FINGERPRINT_H_
#define ESTIMATOR_GRAPH_FINGERPRINT_H_

#include <cstdint>

#include "estimator/graph/graph.h"

namespace estimator {

// A checksum of the names, ops, inputs, attributes and types of all nodes, those in the bodies of
// functions included. Of constants it has the bytes.
uint32_t GraphFingerprint(const Graph& graph);

}  // namespace estimator

#endif  // ESTIMATOR_GRAPH_FINGERPRINT_H_
