// Activations, computed for each element. The result has x's floating dtype and shape.
//
// A layer takes a function of one tensor as its activation: `.activation = Relu`. So these
// functions have no name argument. To name the op, build it under a NameScope, or use
// Identity(Relu(x), "name").
// Source: TF 2.15 tf.nn.
#ifndef ESTIMATOR_OPS_ACTIVATIONS_H_
#define ESTIMATOR_OPS_ACTIVATIONS_H_

#include "estimator/graph/tensor.h"

namespace estimator {

Tensor Relu(const Tensor& x);      // max(x, 0)
Tensor Relu6(const Tensor& x);     // min(max(x, 0), 6)
Tensor Elu(const Tensor& x);       // x if x > 0, else exp(x) - 1
Tensor Selu(const Tensor& x);      // 1.0507 * (x if x > 0, else 1.6733 * (exp(x) - 1))
Tensor Softplus(const Tensor& x);  // log(1 + exp(x))
Tensor Softsign(const Tensor& x);  // x / (1 + |x|)
Tensor Sigmoid(const Tensor& x);   // 1 / (1 + exp(-x))
Tensor Tanh(const Tensor& x);
Tensor Swish(const Tensor& x);  // x * sigmoid(x); also called SiLU
// 0.5 * x * (1 + erf(x / sqrt(2)))
Tensor Gelu(const Tensor& x);
// 0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))): tf.nn.gelu(x, approximate=True), and
// the gelu of BERT's own code.
Tensor GeluApproximate(const Tensor& x);
// x if x > 0, else alpha * x.
Tensor LeakyRelu(const Tensor& x, float alpha = 0.2f);

}  // namespace estimator

#endif  // ESTIMATOR_OPS_ACTIVATIONS_H_
