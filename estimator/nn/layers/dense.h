// The densely connected layer.
#ifndef ESTIMATOR_NN_LAYERS_DENSE_H_
#define ESTIMATOR_NN_LAYERS_DENSE_H_

#include <cstdint>
#include <string>

#include "estimator/graph/tensor.h"
#include "estimator/graph/variable.h"
#include "estimator/nn/activation.h"

namespace estimator::layers {

struct DenseOptions {
  int64_t units = 0;  // required: size of the output's last axis
  Activation activation = nullptr;
  bool use_bias = true;
  Initializer kernel_initializer = nullptr;  // none: the variable scope's, or GlorotUniform
  Initializer bias_initializer = nullptr;    // none: zeros
  Regularizer kernel_regularizer = nullptr;
  Regularizer bias_regularizer = nullptr;
  bool trainable = true;
  std::string name = "";  // none: dense, dense_1, ...
};

// activation(x * kernel + bias), along the last axis.
//   x: [..., C], floating, rank >= 2.  Returns [..., units].
//   Variables: `<name>/kernel` [C, units], `<name>/bias` [units].
// Errors (kept by the graph): INVALID_ARGUMENT if the rank is less than 2, or if units is not
// positive.
// Source: TF 2.15 tf.compat.v1.layers.dense.
Tensor Dense(const Tensor& x, const DenseOptions& options);

}  // namespace estimator::layers

#endif  // ESTIMATOR_NN_LAYERS_DENSE_H_
