// Reductions over axes: tf.reduce_*. Negative axes count from the end; by default all are reduced.
// Errors (kept by the graph): INVALID_ARGUMENT naming an axis that is out of range or given twice.
#ifndef ESTIMATOR_OPS_REDUCTION_H_
#define ESTIMATOR_OPS_REDUCTION_H_

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "estimator/base/string_arg.h"
#include "estimator/graph/tensor.h"

namespace estimator {

// The axes to reduce: ReduceSum(x) reduces all, ReduceSum(x, 1) one, ReduceSum(x, {0, -1}) several.
// {} reduces none, as an empty list in TensorFlow.
class ReduceAxes {
 public:
  ReduceAxes() = default;                                            // all
  ReduceAxes(int64_t axis) : axes_(std::vector<int64_t>{axis}) {}    // NOLINT: by design
  ReduceAxes(std::initializer_list<int64_t> axes) : axes_(axes) {}   // NOLINT
  ReduceAxes(std::vector<int64_t> axes) : axes_(std::move(axes)) {}  // NOLINT
  static ReduceAxes All() { return ReduceAxes(); }
  // The axes as they were given, or all axes of a tensor of rank `rank`.
  std::vector<int64_t> ForRank(int rank) const;

 private:
  std::optional<std::vector<int64_t>> axes_;
};

struct ReduceOptions {
  bool keepdims = false;  // keeps the reduced axes, with size 1
  std::string name = "";  // "": the name of TensorFlow's op
};

// bf16 and f16 are summed in f32 and rounded once. The reduction of no elements is the neutral
// element (0, 1, -inf, +inf, true, false); the mean of no elements is NaN.
Tensor ReduceSum(const Tensor& x, const ReduceAxes& axes = ReduceAxes::All(),
                 const ReduceOptions& options = {});
Tensor ReduceMean(const Tensor& x, const ReduceAxes& axes = ReduceAxes::All(),
                  const ReduceOptions& options = {});
Tensor ReduceProd(const Tensor& x, const ReduceAxes& axes = ReduceAxes::All(),
                  const ReduceOptions& options = {});
// If several elements are the extreme, the gradient is divided evenly among them, as in TensorFlow.
Tensor ReduceMax(const Tensor& x, const ReduceAxes& axes = ReduceAxes::All(),
                 const ReduceOptions& options = {});
Tensor ReduceMin(const Tensor& x, const ReduceAxes& axes = ReduceAxes::All(),
                 const ReduceOptions& options = {});
//   x: bool.
Tensor ReduceAll(const Tensor& x, const ReduceAxes& axes = ReduceAxes::All(),
                 const ReduceOptions& options = {});
Tensor ReduceAny(const Tensor& x, const ReduceAxes& axes = ReduceAxes::All(),
                 const ReduceOptions& options = {});

// log(sum(exp(x))). The maximum is subtracted first, so that exp does not overflow.
Tensor ReduceLogSumExp(const Tensor& x, const ReduceAxes& axes = ReduceAxes::All(),
                       const ReduceOptions& options = {});
struct MeanAndVariance {
  Tensor mean;
  Tensor variance;  // of the population: the sum is divided by N
};
// tf.nn.moments. bf16 and f16 are computed in f32.
MeanAndVariance Moments(const Tensor& x, const ReduceAxes& axes, const ReduceOptions& options = {});

// sum(x^2) / 2, a scalar: tf.nn.l2_loss.
Tensor L2Loss(const Tensor& x, StringArg name = "L2Loss");
// sqrt(sum(x^2)): the Euclidean norm; by default over all axes. Its derivative at 0 is NaN.
Tensor Norm(const Tensor& x, const ReduceAxes& axes = ReduceAxes::All(),
            const ReduceOptions& options = {});
// sqrt(sum over tensors of sum(t^2)): tf.linalg.global_norm. An invalid tensor without a graph (the
// gradient of a variable that has none) is skipped. For a gradient of looked-up rows each slice
// counts by itself, as in TensorFlow: see graph/indexed_slices.h. REQUIRES: at least one valid
// tensor.
Tensor GlobalNorm(const std::vector<Tensor>& tensors, StringArg name = "global_norm");

}  // namespace estimator

#endif  // ESTIMATOR_OPS_REDUCTION_H_
