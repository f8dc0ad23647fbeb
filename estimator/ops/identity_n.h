// Copies of several tensors by one node.
#ifndef ESTIMATOR_OPS_IDENTITY_N_H_
#define ESTIMATOR_OPS_IDENTITY_N_H_

#include <vector>

#include "estimator/base/string_arg.h"
#include "estimator/graph/tensor.h"

namespace estimator {

// A copy of each tensor, of any types.
// Source: TF 2.15 tf.identity_n.
std::vector<Tensor> IdentityN(const std::vector<Tensor>& inputs, StringArg name = "IdentityN");

}  // namespace estimator

#endif  // ESTIMATOR_OPS_IDENTITY_N_H_
