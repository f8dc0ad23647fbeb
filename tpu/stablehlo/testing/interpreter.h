// An interpreter of the StableHLO that the lowerings write, for tests: slow, and written from the
// specification alone. So an error of a lowering changes a number here, without JAX or a plugin.
//
//   absl::StatusOr<ReplicaValues> results = Interpret(module.text, {{x, y}});  // one replica
//
// Every result is checked against its op's shape rule and the type in the text. Sums are added in
// float64 and rounded once, because StableHLO defines no order; all other floats are rounded after
// each op. What StableHLO leaves open (an integer divided by 0) is as XLA has it.
#ifndef TPU_STABLEHLO_TESTING_INTERPRETER_H_
#define TPU_STABLEHLO_TESTING_INTERPRETER_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/array/array.h"

namespace estimator::tpu::stablehlo::testing {

using ReplicaValues = std::vector<std::vector<Array>>;  // [replica][argument or result]

// Runs @main of a module once on each replica, in step.
// Errors: INVALID_ARGUMENT for a text that is no valid module, or for arguments of other types;
// UNIMPLEMENTED for an op that the lowerings do not write.
absl::StatusOr<ReplicaValues> Interpret(absl::string_view module, const ReplicaValues& arguments);

}  // namespace estimator::tpu::stablehlo::testing

#endif  // TPU_STABLEHLO_TESTING_INTERPRETER_H_
