// Programs with loops and branches, for tests of their lowering: built as steps, and run by the
// interpreter (stablehlo/testing) and by JAX (testdata/interop/check_stablehlo_ops.py) beside
// ops/testing/eval.h.
#ifndef TPU_STABLEHLO_OPS_TESTING_CONTROL_FLOW_CASES_H_
#define TPU_STABLEHLO_OPS_TESTING_CONTROL_FLOW_CASES_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "estimator/array/array.h"
#include "estimator/graph/tensor.h"

namespace estimator::tpu::stablehlo::testing {

struct ControlFlowCase {
  std::string name;  // "While_nested"
  // The result for placeholders of the types of `inputs`.
  std::function<Tensors(const Tensors& inputs)> build;
  std::vector<Array> inputs;             // of replica 0
  std::string tolerance = "sum";         // a class of testdata/ops/cases.py
  std::vector<Array> of_replica_1 = {};  // none: those of replica 0
};
std::vector<ControlFlowCase> ControlFlowCases();

// A case as a module of one step.
struct ControlFlowModule {
  std::string text;
  std::vector<std::vector<Array>> arguments;  // of @main, for each replica
  std::vector<std::vector<Array>> results;    // those expected, for each replica
};
// Errors: those of the graph, of LowerStep and of EvalAll.
absl::StatusOr<ControlFlowModule> ModuleOf(const ControlFlowCase& the_case, int num_replicas);

}  // namespace estimator::tpu::stablehlo::testing

#endif  // TPU_STABLEHLO_OPS_TESTING_CONTROL_FLOW_CASES_H_
