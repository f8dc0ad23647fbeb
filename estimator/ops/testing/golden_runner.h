// Runs an op golden: builds what a case describes, with its gradients, and holds the values that
// every kernel tier gives against TensorFlow's.
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

// The cases of testdata/ops, read once; a failed test and none if they cannot be read.
const std::vector<GoldenCase>& Goldens();

// What a case allows between its value `expected` and ours: see the table in golden_runner.cc.
Tolerance GoldenTolerance(absl::string_view tolerance_class, const Array& expected);

// Builds the outputs of a case in the current graph.
using GoldenBuilder = std::function<std::vector<Tensor>(const std::vector<Tensor>& inputs)>;
// The node that the case names.
GoldenBuilder NodeOf(const GoldenCase& golden);

// Fails the test unless outputs and gradients are TensorFlow's, by the reference kernels and by the
// fastest.
void ExpectEqualsTensorFlow(const GoldenCase& golden, const GoldenBuilder& build);

}  // namespace estimator::testing

#endif  // ESTIMATOR_OPS_TESTING_GOLDEN_RUNNER_H_
