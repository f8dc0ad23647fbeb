// The arithmetic of a graph's convolutions and matrix products.
#ifndef MODELS_COMMON_GRAPH_FLOPS_H_
#define MODELS_COMMON_GRAPH_FLOPS_H_

#include "estimator/graph/graph.h"

namespace estimator {

// Returns the floating-point operations of one step: two for each multiply-add of a convolution or
// a matrix product, forward and backward. They are those of the direct algorithm, whatever the
// program computes: Winograd's needs fewer. Padding counts as input. Products that no other op uses
// do not count, because a program does not compute them. Ops inside of loops do not count either.
double ProductFlops(const Graph& graph);

}  // namespace estimator

#endif  // MODELS_COMMON_GRAPH_FLOPS_H_
