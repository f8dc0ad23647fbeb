#include "estimator/nn/train/stochastic_weight_averaging.h"

#include "estimator/base/status.h"
#include "estimator/graph/graph.h"
#include "estimator/nn/moving_average.h"
#include "estimator/nn/train/slot_creator.h"
#include "estimator/ops/comparison.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/select.h"

namespace estimator::train {

Operation StochasticWeightAveraging::Apply(const Operation& after) const {
  Graph& graph = Graph::Current();
  const Operation invalid(&graph, nullptr);
  const auto& [start, period] = options_;
  if (start < 0 || period < 1) {
    graph.Fail(InvalidArgument("StochasticWeightAveraging: start_averaging is ", start,
                               " and average_period is ", period,
                               ", but they must be >= 0 and >= 1"));
    return invalid;
  }
  std::vector<Operation> before = graph.update_ops();
  before.push_back(after);
  const Operation done = Group(before, "before_averages");
  const NameScope scope("StochasticWeightAveraging", graph);
  const Tensor since = UpdatedValue(done, GetOrCreateGlobalStep()) - start;
  const Tensor n = FloorDiv(Maximum(since, 0), period);
  const Tensor is_first = LessEqual(since, 0), is_taken = Equal(n * period, since);
  const Tensor share = Where(is_taken, 1 / (Cast(n, DType::kFloat32) + 1), 0);
  std::vector<Operation> updates;
  for (const Variable& variable : graph.TrainableVariables()) {
    if (!IsFloating(variable.dtype())) {
      graph.Fail(InvalidArgument("StochasticWeightAveraging: variable '", variable.name(), "' is ",
                                 variable.spec().ToString(), ", but must be floating"));
      return invalid;
    }
    const Variable average = CreateSlot(
        variable, "average",
        [&variable](const Shape&, DType) { return InitializedValue(variable); }, variable.spec());
    if (!average.valid()) return invalid;
    const Tensor value = UpdatedValue(done, variable);
    const Tensor mean = average + (value - average) * Cast(share, variable.dtype());
    updates.push_back(Assign(average, Where(is_first, value, mean)));
  }
  return Group(updates, "averages");
}

}  // namespace estimator::train
