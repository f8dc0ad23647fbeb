// Adds a bias to every channel.
#ifndef ESTIMATOR_OPS_BIAS_H_
#define ESTIMATOR_OPS_BIAS_H_

#include "estimator/base/string_arg.h"
#include "estimator/graph/tensor.h"

namespace estimator {

// x + bias, added along the last axis.
//   x: [..., C], floating, rank 2 or more.  bias: [C].  Returns x's shape.
// Errors: INVALID_ARGUMENT if the number of elements of bias is not the number of channels of x.
// Source: TF 2.15 tf.nn.bias_add, data_format NHWC.
Tensor BiasAdd(const Tensor& x, const Tensor& bias, StringArg name = "");

// The gradient of the bias: the sum of grad over all axes but the last.
Tensor BiasAddGrad(const Tensor& grad, StringArg name = "");

}  // namespace estimator

#endif  // ESTIMATOR_OPS_BIAS_H_
