// Reverse-mode differentiation of a graph.
#ifndef ESTIMATOR_GRAPH_GRADIENTS_H_
#define ESTIMATOR_GRAPH_GRADIENTS_H_

#include <vector>

#include "estimator/graph/tensor.h"
#include "estimator/graph/variable.h"

namespace estimator {

// d(sum of ys)/dx for every x. The ops are added to the graph under the scope `gradients`.
//   grad_ys: the gradient that flows into each y; empty means ones.
//   Returns one tensor for each x, with x's shape and dtype; it is invalid if no y depends on x.
//   If Gather looks up rows of x, the gradient remembers its slices: see indexed_slices.h.
// Errors (kept by the graph): INVALID_ARGUMENT if the dtype of a y is not floating; UNIMPLEMENTED
// naming an op on the path that has no gradient.
// Source: TF 2.15 tf.gradients.
std::vector<Tensor> Gradients(const std::vector<Tensor>& ys, const std::vector<Tensor>& xs,
                              const std::vector<Tensor>& grad_ys = {});
std::vector<Tensor> Gradients(const Tensor& y, const std::vector<Variable>& variables);

// For gradient functions: whether Gradients() uses the gradient of `input`, an operand of the node
// that is being differentiated. A gradient function may skip the gradients that are not wanted,
// which keeps the graph small. Always true outside Gradients().
bool GradientWanted(const Tensor& input);

}  // namespace estimator

#endif  // ESTIMATOR_GRAPH_GRADIENTS_H_
