// For tests of ops: evaluates tensors of a graph kernel by kernel, and checks gradients against
// finite differences. It uses no runtime, no fusion and no variable store.
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

// The values of `fetches`. Runs the nodes that they need in the order of their ids; a variable has
// its initial value.
//   feeds: the values of placeholders, or of any other tensors.
//   fastest: each op runs with its fastest kernel up to this tier; by default the reference kernel.
// Errors: the graph's first error; INVALID_ARGUMENT if a placeholder is not fed; errors of kernels.
absl::StatusOr<std::vector<Array>> EvalAll(const std::vector<Tensor>& fetches,
                                           const std::map<Tensor, Array>& feeds = {},
                                           const StepContext& step = {},
                                           KernelTier fastest = KernelTier::kReference);
absl::StatusOr<Array> Eval(const Tensor& fetch, const std::map<Tensor, Array>& feeds = {},
                           const StepContext& step = {});

// The elements of a tensor that needs no feed, in row-major order. On an error, logs it and returns
// no elements.
std::vector<double> Doubles(const Tensor& fetch, const StepContext& step = {});
// The error that a graph keeps after `build` has added its ops; "" if there is none.
std::string ErrorOf(const std::function<void()>& build);

// Builds one tensor from inputs, in the current graph.
using TensorFn = std::function<Tensor(const std::vector<Tensor>&)>;

// Compares Gradients(fn(inputs), inputs) with central differences of fn (step 1e-5), for every
// element of every floating input. The elements of the output are multiplied by fixed weights of
// both signs, so that errors do not cancel. Use few float64 inputs that are not near a kink.
//   tolerance: of |difference|, relative to max(1, |expected|).
// Errors: INTERNAL naming the input, the element and both values; errors of building or running fn.
absl::Status CheckGradients(const TensorFn& fn, const std::vector<Array>& inputs,
                            double tolerance = 1e-6);

// float64 (or float32) numbers in [low, high], all different, in a fixed irregular order: inputs
// for CheckGradients and for kernels. Any two numbers differ by at least (high - low) /
// num_elements, so that Max and sorting have no ties.
Array Scrambled(const Shape& shape, double low, double high, DType dtype = DType::kFloat64);

}  // namespace estimator::testing

#endif  // ESTIMATOR_OPS_TESTING_EVAL_H_
