// Metrics: numbers that accumulate over the batches of an evaluation, as tf.compat.v1.metrics.
//
// A metric keeps its sums in local variables, which checkpoints do not contain. The sums are f64,
// where TensorFlow uses f32, so that the result does not depend on the batch size even for millions
// of examples.
#ifndef ESTIMATOR_NN_METRICS_METRIC_H_
#define ESTIMATOR_NN_METRICS_METRIC_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "estimator/array/array.h"
#include "estimator/array/shape.h"
#include "estimator/base/string_arg.h"
#include "estimator/graph/tensor.h"
#include "estimator/graph/variable.h"
#include "estimator/nn/match_shapes.h"
#include "estimator/ops/operand.h"

namespace estimator::metrics {

// The value of a metric that is computed on the host: a number or an array.
struct HostValue {
  HostValue(double number) : array(Array::Scalar(number)) {}  // NOLINT: `return 0.5;`
  HostValue(Array value) : array(std::move(value)) {}         // NOLINT
  Array array;
};
// Computes a value from all examples: one array for each tensor, with every row once, in the order
// of the input.
using HostValueFn = std::function<absl::StatusOr<HostValue>(const std::vector<Array>&)>;

struct HostComputation {
  std::vector<Tensor> tensors;
  HostValueFn fn;
};

struct Metric {
  Tensor value;      // depends on local variables only: read it after all updates have run
  Operation update;  // adds one batch
  // Of OnHost, whose value and update are not valid handles. Null for every other metric.
  std::shared_ptr<const HostComputation> host = nullptr;
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

// A metric that a function computes on the host, after the last batch. It can compute what no graph
// can: scores of sentences, ranks, curves. Evaluation keeps the values of `tensors` for all
// examples in memory. Fields of Options do not apply: pass weights as one of the tensors.
//   tensors: at least one; each has the examples on axis 0.
//   metrics::OnHost([](const std::vector<Array>& all) { return Score(all[0], all[1]); },
//                   {labels, predictions})
// Errors (kept by the graph): INVALID_ARGUMENT if `tensors` is empty, or one of them is not valid
// or a scalar. Errors of the evaluation: those of `fn`; INVALID_ARGUMENT if the batches differ in
// another axis than axis 0.
// A SavedModel of evaluation does not have this metric.
Metric OnHost(HostValueFn fn, std::vector<Tensor> tensors);

// All rows of `values`, one batch after the other: an array [N, ...] on the host.
// Source: TF 1.15 tf.contrib.metrics.streaming_concat.
Metric Concat(const Tensor& values);

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
