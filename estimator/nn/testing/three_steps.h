// For tests of optimizers: three steps from a known weight down a known parabola.
#ifndef ESTIMATOR_NN_TESTING_THREE_STEPS_H_
#define ESTIMATOR_NN_TESTING_THREE_STEPS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "estimator/array/array.h"
#include "estimator/nn/train/optimizer.h"

namespace estimator::testing {

// The loss is sum(slope * w^2), so the gradient 2 * slope * w. Both f32, of one shape.
struct Parabola {
  Array w = Array::Of<float>({3}, {1.f, -2.f, 3.f});
  Array slope = Array::Of<float>({3}, {.5f, -1.f, 2.f});
  std::string name = "w";  // of the variable
};

// Ends the test unless three steps take w to `expected` (to 3e-6 of numbers of about 1: f32, three
// steps) and the graph's variables beyond w and global_step are `state`.
void ExpectAfterThreeSteps(train::Optimizer&& optimizer, const std::vector<double>& expected,
                           const std::vector<std::string>& state, const Parabola& parabola = {});

// What the graph says when `optimizer` minimizes a parabola.
absl::Status MinimizeStatus(train::Optimizer&& optimizer);

}  // namespace estimator::testing

#endif  // ESTIMATOR_NN_TESTING_THREE_STEPS_H_
