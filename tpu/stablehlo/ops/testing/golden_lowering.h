// Lowers the cases of testdata/ops, one op at a time.
#ifndef TPU_STABLEHLO_OPS_TESTING_GOLDEN_LOWERING_H_
#define TPU_STABLEHLO_OPS_TESTING_GOLDEN_LOWERING_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/kernels/kernel.h"
#include "estimator/ops/testing/golden_table.h"
#include "tpu/stablehlo/op_lowering.h"
#include "tpu/stablehlo/writer.h"

namespace estimator::tpu::stablehlo::testing {

// What a kernel of the case is built from. The types of the outputs come from the op's shape rule.
// Errors: those of the graph.
absl::StatusOr<KernelSpec> SpecOf(const estimator::testing::GoldenCase& golden);

// Calls the op's lowering for step 0 on replica 0. REQUIRES: it has one.
LoweringResult Lower(Writer& w, const KernelSpec& spec, const Values& inputs);

// The types of arguments and results of a function with the specs.
std::vector<Type> Types(const std::vector<TensorSpec>& specs);

// Lowers the op in a module of its own.
// Errors: those of the lowering; INTERNAL if a result does not have the output's type.
absl::Status TryLowering(const KernelSpec& spec);

}  // namespace estimator::tpu::stablehlo::testing

#endif  // TPU_STABLEHLO_OPS_TESTING_GOLDEN_LOWERING_H_
