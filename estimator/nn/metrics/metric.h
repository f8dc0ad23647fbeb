// Metrics: numbers that accumulate over the batches of an evaluation, as tf.compat.v1.metrics.
//
// A metric keeps its sums in local variables (not saved), in f64, where TensorFlow has f32: sums of
// millions of examples stay exact enough that the result does not depend on the batch size.
#ifndef ESTIMATOR_NN_METRICS_METRIC_H_
#define ESTIMATOR_NN_METRICS_METRIC_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "estimator/array/shape.h"
#include "estimator/graph/tensor.h"
#include "estimator/graph/variable.h"
#include "estimator/nn/match_shapes.h"
#include "estimator/ops/operand.h"

namespace estimator::metrics {

struct Metric {
  Tensor value;      // depends on local variables alone: read it when all updates have run
  Operation update;  // adds one batch
};

// By the name under which the result is shown; sorted, as TensorFlow shows them.
using MetricMap = std::map<std::string, Metric>;

// What every metric takes.
struct Options {
  // A number or a tensor that broadcasts to the values (of their rank, sizes 1 or equal). Weight 0
  // leaves an element out. None: 1.
  std::optional<Operand> weights = std::nullopt;
  std::string name = "";  // scope of its variables; none: accuracy, accuracy_1, ...
};

// For metrics of one's own: the scope, a local variable in it (f64, zeros), and a handle after an
// error.
class MetricScope {
 public:
  MetricScope(absl::string_view name, absl::string_view default_name);
  static Variable Sum(absl::string_view name, const Shape& shape = {});

 private:
  const VariableScope scope_;
};
Metric InvalidMetric(const Tensor& like);

// `weights` as f64, broadcast to the shape of `values`; invalid after an error. No weights: ones.
Tensor FullWeights(const std::optional<Operand>& weights, const Tensor& values,
                   absl::string_view metric);

// `classes`, which must be in [0, num_classes) when they are computed; `what` names them.
Tensor CheckClasses(const Tensor& classes, int64_t num_classes, const std::string& what);

}  // namespace estimator::metrics

#endif  // ESTIMATOR_NN_METRICS_METRIC_H_
