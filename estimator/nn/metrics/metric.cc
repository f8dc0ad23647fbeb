#include "estimator/nn/metrics/metric.h"

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/graph/graph.h"
#include "estimator/nn/initializers.h"
#include "estimator/ops/check_range.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/shape_ops.h"

namespace estimator::metrics {

MetricScope::MetricScope(StringArg name, StringArg default_name)
    : scope_(VariableScope::UniqueDefaultName(name.empty() ? default_name : name)) {}

Variable MetricScope::Sum(StringArg name, const Shape& shape) {
  return GetVariable(name, shape,
                     {.dtype = DType::kFloat64,
                      .initializer = initializers::Zeros(),
                      .trainable = false,
                      .local = true});
}

Metric InvalidMetric(const Tensor& like) {
  Graph& graph = GraphFor({like});
  return {Tensor(&graph, nullptr, 0), Operation(&graph, nullptr)};
}

Metric OnHost(HostValueFn fn, std::vector<Tensor> tensors) {
  std::string problem = tensors.empty() ? "no tensors are given" : "";
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (!tensors[i].valid()) {
      absl::StrAppend(&problem, problem.empty() ? "" : "; ", "tensor ", i, " is not a tensor");
    } else if (tensors[i].rank() == 0) {
      absl::StrAppend(&problem, problem.empty() ? "" : "; ", "tensor ", i, " ('", tensors[i].name(),
                      "') is a scalar; it must have the examples on axis 0");
    }
  }
  if (!fn) problem = "there is no function";
  if (!problem.empty()) {
    const Tensor first = tensors.empty() ? Tensor() : tensors[0];
    return InvalidMetric(GraphFor({first}).Fail(InvalidArgument("metric on the host: ", problem)));
  }
  Metric metric = InvalidMetric(tensors[0]);
  metric.host = std::make_shared<const HostComputation>(
      HostComputation{.tensors = std::move(tensors), .fn = std::move(fn)});
  return metric;
}

Metric Concat(const Tensor& values) {
  return OnHost([](const std::vector<Array>& all) -> HostValue { return all[0]; }, {values});
}

Tensor FullWeights(const std::optional<Operand>& weights, const Tensor& values, StringArg metric) {
  if (!weights.has_value()) return Ones(values.shape(), DType::kFloat64);
  const Tensor matched = MatchWeights(*weights, Cast(values, DType::kFloat64), metric);
  return matched.valid() ? BroadcastTo(matched, values.shape()) : matched;
}

Tensor CheckClasses(const Tensor& classes, int64_t num_classes, const std::string& what) {
  return CheckRange(classes, {.low = 0,
                              .high = static_cast<float>(num_classes - 1),
                              .what = what,
                              .cure = "num_classes is one more than the largest class; give "
                                      "elements without a class the class 0 and the weight 0"});
}

}  // namespace estimator::metrics
