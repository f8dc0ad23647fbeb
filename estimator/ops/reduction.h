// Reductions over axes: tf.reduce_*. Axes may be negative; none means all.
// Errors (kept by the graph): INVALID_ARGUMENT naming an axis out of range or given twice.
#ifndef ESTIMATOR_OPS_REDUCTION_H_
#define ESTIMATOR_OPS_REDUCTION_H_

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "estimator/graph/tensor.h"

namespace estimator {

// The axes to reduce: one number, several, or all of them. ReduceSum(x), ReduceSum(x, 1),
// ReduceSum(x, {0, -1}); {} reduces nothing, as an empty list in TensorFlow.
class ReduceAxes {
 public:
  ReduceAxes() = default;                                            // all
  ReduceAxes(int64_t axis) : axes_(std::vector<int64_t>{axis}) {}    // NOLINT: by design
  ReduceAxes(std::initializer_list<int64_t> axes) : axes_(axes) {}   // NOLINT
  ReduceAxes(std::vector<int64_t> axes) : axes_(std::move(axes)) {}  // NOLINT
  static ReduceAxes All() { return ReduceAxes(); }
  // As they were given, or all of `rank`.
  std::vector<int64_t> ForRank(int rank) const;

 private:
  std::optional<std::vector<int64_t>> axes_;
};

struct ReduceOptions {
  bool keepdims = false;  // reduced axes stay, with size 1
  std::string name = "";  // the name of TensorFlow's op
};

// bf16 and f16 are summed in f32, and rounded once. An empty reduction gives the neutral element
// (0, 1, -inf, +inf, true, false); a mean of nothing is NaN.
Tensor ReduceSum(const Tensor& x, const ReduceAxes& axes = ReduceAxes::All(),
                 const ReduceOptions& options = {});
Tensor ReduceMean(const Tensor& x, const ReduceAxes& axes = ReduceAxes::All(),
                  const ReduceOptions& options = {});
Tensor ReduceProd(const Tensor& x, const ReduceAxes& axes = ReduceAxes::All(),
                  const ReduceOptions& options = {});
// The gradient is divided evenly among equal extremes, as in TensorFlow.
Tensor ReduceMax(const Tensor& x, const ReduceAxes& axes = ReduceAxes::All(),
                 const ReduceOptions& options = {});
Tensor ReduceMin(const Tensor& x, const ReduceAxes& axes = ReduceAxes::All(),
                 const ReduceOptions& options = {});
// x: bool.
Tensor ReduceAll(const Tensor& x, const ReduceAxes& axes = ReduceAxes::All(),
                 const ReduceOptions& options = {});
Tensor ReduceAny(const Tensor& x, const ReduceAxes& axes = ReduceAxes::All(),
                 const ReduceOptions& options = {});

// log(sum(exp(x))), shifted by the maximum.
Tensor ReduceLogSumExp(const Tensor& x, const ReduceAxes& axes = ReduceAxes::All(),
                       const ReduceOptions& options = {});
struct MeanAndVariance {
  Tensor mean;
  Tensor variance;  // of the population: divided by N
};
// tf.nn.moments. bf16 and f16 are computed in f32.
MeanAndVariance Moments(const Tensor& x, const ReduceAxes& axes, const ReduceOptions& options = {});

// sum(x^2) / 2, a scalar: tf.nn.l2_loss.
Tensor L2Loss(const Tensor& x, absl::string_view name = "L2Loss");
// sqrt(sum(x^2)): the Euclidean norm, over all axes unless said. Its derivative at 0 is NaN.
Tensor Norm(const Tensor& x, const ReduceAxes& axes = ReduceAxes::All(),
            const ReduceOptions& options = {});
// sqrt(sum over tensors of sum(t^2)): tf.linalg.global_norm. Invalid tensors without a graph are
// skipped (a variable without gradient). A gradient of looked-up rows counts slice by slice, as
// TensorFlow's: see graph/indexed_slices.h. REQUIRES: at least one tensor is left.
Tensor GlobalNorm(const std::vector<Tensor>& tensors, absl::string_view name = "global_norm");

}  // namespace estimator

#endif  // ESTIMATOR_OPS_REDUCTION_H_
