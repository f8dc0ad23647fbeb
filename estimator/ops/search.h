// Finds the largest and smallest elements and their indices. No gradient flows through an index.
#ifndef ESTIMATOR_OPS_SEARCH_H_
#define ESTIMATOR_OPS_SEARCH_H_

#include <cstdint>
#include <string>

#include "estimator/array/dtype.h"
#include "estimator/base/string_arg.h"
#include "estimator/graph/tensor.h"

namespace estimator {

struct ArgMaxOptions {
  DType output_type = DType::kInt64;  // i64 or i32
  std::string name = "";              // "": ArgMax or ArgMin
};
// The index of the largest (smallest) element along `axis`; the first one if several are equal. A
// NaN is never taken. The result does not have that axis.
Tensor ArgMax(const Tensor& x, int axis = 0, const ArgMaxOptions& options = {});
Tensor ArgMin(const Tensor& x, int axis = 0, const ArgMaxOptions& options = {});

struct TopKResult {
  Tensor values;   // [..., k], in descending order
  Tensor indices;  // i32 [..., k]; equal values are ordered by index
};
struct TopKOptions {
  bool sorted = true;
  std::string name = "TopKV2";
};
// tf.math.top_k along the last axis. The gradient flows to the chosen elements. A NaN comes before
// every number, and one with a sign bit after every number: TensorFlow's order on a TPU.
TopKResult TopK(const Tensor& x, int64_t k, const TopKOptions& options = {});

// tf.compat.v1.nn.in_top_k, with its order of arguments: whether fewer than k predictions of a row
// are larger than the prediction for the target.
//   predictions: f32 [N, C].  targets: i32 or i64 [N].  Returns bool [N], false if the target is
//   out of range or its prediction is not finite.
Tensor InTopK(const Tensor& predictions, const Tensor& targets, int64_t k,
              StringArg name = "InTopKV2");

}  // namespace estimator

#endif  // ESTIMATOR_OPS_SEARCH_H_
