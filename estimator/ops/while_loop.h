// Loops whose number of trips is found while they run.
#ifndef ESTIMATOR_OPS_WHILE_LOOP_H_
#define ESTIMATOR_OPS_WHILE_LOOP_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "estimator/graph/tensor.h"

namespace estimator {

struct WhileLoopOptions {
  // The loop ends after so many trips even if its condition still holds. With it, the gradient
  // keeps its values in memory that is planned when the step is compiled, and a TPU accepts the
  // gradient. Default: no limit.
  std::optional<int64_t> maximum_iterations = std::nullopt;
  std::string name = "while";
};

// Runs `body` while `cond` is true, and returns the last loop variables.
//   cond: from the loop variables to bool [].
//   body: from the loop variables to the new ones, in the same order and of the same types.
// Both may read tensors and variables from outside, and may create variables. A TensorArray
// (tensor_array.h) is a loop variable too. Random ops draw other numbers at each trip.
// Errors: INVALID_ARGUMENT if a type changes from trip to trip, naming the loop variable.
// UNIMPLEMENTED if a body updates a variable, adds a loss or writes a summary.
// Source: TF 2.15 tf.while_loop.
Tensors WhileLoop(const std::function<Tensor(const Tensors&)>& cond,
                  const std::function<Tensors(const Tensors&)>& body, const Tensors& loop_vars,
                  const WhileLoopOptions& options = {});

}  // namespace estimator

#endif  // ESTIMATOR_OPS_WHILE_LOOP_H_
