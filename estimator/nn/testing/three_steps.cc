#include "estimator/nn/testing/three_steps.h"

#include "absl/strings/str_join.h"
#include "estimator/graph/graph.h"
#include "estimator/nn/testing/step.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/reduction.h"
#include "glog/logging.h"

namespace estimator::testing {
namespace {

Operation Minimize(train::Optimizer& optimizer, const Parabola& parabola) {
  const Variable w =
      GetVariable(parabola.name, parabola.w.shape(),
                  {.initializer = [&](const Shape&, DType) { return Constant(parabola.w); }});
  GetOrCreateGlobalStep();
  return optimizer.Minimize(ReduceSum(Constant(parabola.slope) * Square(w)));
}

}  // namespace

void ExpectAfterThreeSteps(train::Optimizer&& optimizer, const std::vector<double>& expected,
                           const std::vector<std::string>& state, const Parabola& parabola) {
  Graph graph;
  const GraphScope scope(graph);
  const Operation step = Minimize(optimizer, parabola);
  Stepper stepper(graph);
  stepper.Run(step, {}, 3);
  ExpectNear(stepper.Value(parabola.name), expected, 3e-6);
  ExpectNear(stepper.Value("global_step"), {3});
  std::vector<std::string> names = VariableNames(graph);
  names.erase(names.begin(), names.begin() + 2);
  CHECK(names == state) << absl::StrJoin(names, ", ");
}

absl::Status MinimizeStatus(train::Optimizer&& optimizer) {
  Graph graph;
  const GraphScope scope(graph);
  (void)Minimize(optimizer, {});
  return graph.status();
}

}  // namespace estimator::testing
