// Runs an op golden: builds the op of a case with its gradients, and compares the values of every
// kernel tier with TensorFlow's.
#ifndef ESTIMATOR_OPS_TESTING_GOLDEN_RUNNER_H_
#define ESTIMATOR_OPS_TESTING_GOLDEN_RUNNER_H_

#include <functional>
#include <vector>

#include "absl/strings/string_view.h"
#include "estimator/array/array.h"
#include "estimator/array/compare.h"
#include "estimator/graph/tensor.h"
#include "estimator/ops/testing/golden_table.h"

namespace estimator::testing {

// The cases of testdata/ops, read once. If they cannot be read, the test fails and there are none.
const std::vector<GoldenCase>& Goldens();

// The tolerance of a case for the value `expected`: see the table in golden_runner.cc.
Tolerance GoldenTolerance(absl::string_view tolerance_class, const Array& expected);

// Builds the outputs of a case in the current graph.
using GoldenBuilder = std::function<std::vector<Tensor>(const std::vector<Tensor>& inputs)>;
// Builds the node that the case names.
GoldenBuilder NodeOf(const GoldenCase& golden);

// Fails the test if outputs or gradients differ from TensorFlow's, with the reference kernels or
// the fastest kernels.
void ExpectEqualsTensorFlow(const GoldenCase& golden, const GoldenBuilder& build);

}  // namespace estimator::testing

#endif  // ESTIMATOR_OPS_TESTING_GOLDEN_RUNNER_H_
