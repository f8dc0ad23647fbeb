// For tests of ops: evaluates graph tensors kernel by kernel, and holds gradients against finite
// differences. No runtime, no fusion, no variables' store.
#ifndef ESTIMATOR_OPS_TESTING_EVAL_H_
#define ESTIMATOR_OPS_TESTING_EVAL_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/array/array.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/tensor.h"
#include "estimator/kernels/kernel.h"

namespace estimator::testing {

// The values of `fetches`. Walks the nodes that they need in order of id; a variable has its
// initial value. `feeds` stands for placeholders, or for any other tensor. Kernels are the
// reference's, or those of the fastest tier up to `fastest` that takes the op.
// Errors: the graph's first error; INVALID_ARGUMENT for a placeholder that is not fed; a kernel's.
absl::StatusOr<std::vector<Array>> EvalAll(const std::vector<Tensor>& fetches,
                                           const std::map<Tensor, Array>& feeds = {},
                                           const StepContext& step = {},
                                           KernelTier fastest = KernelTier::kReference);
absl::StatusOr<Array> Eval(const Tensor& fetch, const std::map<Tensor, Array>& feeds = {},
                           const StepContext& step = {});

// The elements of a tensor that needs no feed, row-major. Empty after an error, which is logged.
std::vector<double> Doubles(const Tensor& fetch, const StepContext& step = {});
// The error that a graph keeps after `build` has built into it; "" if there is none.
std::string ErrorOf(const std::function<void()>& build);

// Builds one tensor from inputs, in the current graph.
using TensorFn = std::function<Tensor(const std::vector<Tensor>&)>;

// Compares Gradients(fn(inputs), inputs) with central differences of fn, step 1e-5, for every
// element of every floating input. The output is weighted with fixed numbers of both signs, so that
// errors do not cancel. Use float64 inputs, away from kinks, and few elements.
//   tolerance: of |difference|, relative to max(1, |expected|).
// Errors: INTERNAL naming the input, the element, and both values; or whatever building it gave.
absl::Status CheckGradients(const TensorFn& fn, const std::vector<Array>& inputs,
                            double tolerance = 1e-6);

// float64 (or float32) numbers in [low, high], all different, in a scrambled order that never
// changes: inputs for CheckGradients and for kernels. Any two differ by at least
// (high - low) / num_elements, so Max and sorting have no ties.
Array Scrambled(const Shape& shape, double low, double high, DType dtype = DType::kFloat64);

}  // namespace estimator::testing

#endif  // ESTIMATOR_OPS_TESTING_EVAL_H_
