// Metrics: numbers that accumulate over the batches of an evaluation, as tf.compat.v1.metrics.
//
// A metric keeps its sums in local variables, which checkpoints do not contain. The sums are f64,
// where TensorFlow uses f32, so that the result does not depend on the batch size even for millions
// of examples.
#ifndef ESTIMATOR_NN_METRICS_METRIC_H_
#define ESTIMATOR_NN_METRICS_METRIC_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "estimator/array/shape.h"
#include "estimator/base/string_arg.h"
#include "estimator/graph/tensor.h"
#include "estimator/graph/variable.h"
#include "estimator/nn/match_shapes.h"
#include "estimator/ops/operand.h"

namespace estimator::metrics {

struct Metric {
  Tensor value;      // depends on local variables only: read it after all updates have run
  Operation update;  // adds one batch
};

// Keyed by the name under which a result is shown. Sorted by name, as in TensorFlow.
using MetricMap = std::map<std::string, Metric>;

// The options of every metric.
struct Options {
  // A number, or a tensor that broadcasts to the values: it has their rank, and each size is 1 or
  // equal to theirs. An element with weight 0 does not count. None: 1.
  std::optional<Operand> weights = std::nullopt;
  std::string name = "";  // scope of the variables; none: accuracy, accuracy_1, ...
};

// For your own metrics: the variable scope of a metric. Sum creates a local f64 variable of zeros
// in the current scope.
class MetricScope {
 public:
  MetricScope(StringArg name, StringArg default_name);
  static Variable Sum(StringArg name, const Shape& shape = {});

 private:
  const VariableScope scope_;
};
// The result of a metric that cannot be built: invalid handles in the graph of `like`.
Metric InvalidMetric(const Tensor& like);

// Returns `weights` as f64 in the shape of `values`, or ones if there are no weights. After an
// error the result is invalid. `metric` begins the error message.
Tensor FullWeights(const std::optional<Operand>& weights, const Tensor& values, StringArg metric);

// Returns `classes`, and fails the evaluation if a value is outside [0, num_classes). `what` names
// them in the error message.
Tensor CheckClasses(const Tensor& classes, int64_t num_classes, const std::string& what);

}  // namespace estimator::metrics

#endif  // ESTIMATOR_NN_METRICS_METRIC_H_
