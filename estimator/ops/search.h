// The largest and smallest elements, and where they are. No gradient flows through an index.
#ifndef ESTIMATOR_OPS_SEARCH_H_
#define ESTIMATOR_OPS_SEARCH_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "estimator/array/dtype.h"
#include "estimator/graph/tensor.h"

namespace estimator {

struct ArgMaxOptions {
  DType output_type = DType::kInt64;  // or i32
  std::string name = "";
};
// The index of the largest (smallest) element along `axis`, which the result lacks; of equal
// elements the first.
Tensor ArgMax(const Tensor& x, int axis = 0, const ArgMaxOptions& options = {});
Tensor ArgMin(const Tensor& x, int axis = 0, const ArgMaxOptions& options = {});

struct TopKResult {
  Tensor values;   // [..., k], from the largest down
  Tensor indices;  // i32 [..., k]; of equals the lower index first
};
struct TopKOptions {
  bool sorted = true;
  std::string name = "TopKV2";
};
// tf.math.top_k along the last axis. The gradient flows to the chosen elements.
TopKResult TopK(const Tensor& x, int64_t k, const TopKOptions& options = {});

// tf.compat.v1.nn.in_top_k, and its order of arguments: whether fewer than k predictions of a row
// are larger than the target's.
//   predictions: f32 [N, C].  targets: i32 or i64 [N].  Returns bool [N]; false where the target is
//   out of range or its prediction not finite.
Tensor InTopK(const Tensor& predictions, const Tensor& targets, int64_t k,
              absl::string_view name = "InTopKV2");

}  // namespace estimator

#endif  // ESTIMATOR_OPS_SEARCH_H_
