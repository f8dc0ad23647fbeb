// Reverse-mode differentiation of a graph.
#ifndef ESTIMATOR_GRAPH_GRADIENTS_H_
#define ESTIMATOR_GRAPH_GRADIENTS_H_

#include <vector>

#include "estimator/graph/tensor.h"
#include "estimator/graph/variable.h"

namespace estimator {

// d(sum of ys)/dx for every x, built into the graph under the scope `gradients`.
//   Returns one tensor per x, of x's shape and dtype; invalid where no y depends on x.
//   Where x is a table that Gather looks rows up in, the gradient remembers its slices: see
//   indexed_slices.h.
//   grad_ys: the gradient that flows into each y; empty means ones.
// Errors (kept by the graph): INVALID_ARGUMENT if a y is not floating; UNIMPLEMENTED naming an op
// on the path that has no gradient.
// Source: TF 2.15 tf.gradients.
std::vector<Tensor> Gradients(const std::vector<Tensor>& ys, const std::vector<Tensor>& xs,
                              const std::vector<Tensor>& grad_ys = {});
std::vector<Tensor> Gradients(const Tensor& y, const std::vector<Variable>& variables);

// For gradient functions: whether Gradients() has a use for the gradient of `input`, an operand of
// the node that is being differentiated. A gradient function may leave out what is not wanted, and
// so keep the graph small; always true outside of Gradients().
bool GradientWanted(const Tensor& input);

}  // namespace estimator

#endif  // ESTIMATOR_GRAPH_GRADIENTS_H_
