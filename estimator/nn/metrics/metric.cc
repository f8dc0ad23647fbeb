#include "estimator/nn/metrics/metric.h"

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
