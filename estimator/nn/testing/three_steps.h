// For tests of optimizers: runs three steps on a parabola from a known weight.
#ifndef ESTIMATOR_NN_TESTING_THREE_STEPS_H_
#define ESTIMATOR_NN_TESTING_THREE_STEPS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "estimator/array/array.h"
#include "estimator/nn/train/optimizer.h"

namespace estimator::testing {

// The loss is sum(slope * w^2), and its gradient is 2 * slope * w. Both arrays are f32 of one
// shape.
struct Parabola {
  Array w = Array::Of<float>({3}, {1.f, -2.f, 3.f});
  Array slope = Array::Of<float>({3}, {.5f, -1.f, 2.f});
  std::string name = "w";  // the variable's name
};

// Ends the test unless w is `expected` after three steps, and the names of the graph's variables
// after w and global_step are `state`. The tolerance is 3e-6: three steps in f32 with numbers near
// 1.
void ExpectAfterThreeSteps(train::Optimizer&& optimizer, const std::vector<double>& expected,
                           const std::vector<std::string>& state, const Parabola& parabola = {});

// Returns the status of the graph after `optimizer` has minimized a parabola.
absl::Status MinimizeStatus(train::Optimizer&& optimizer);

}  // namespace estimator::testing

#endif  // ESTIMATOR_NN_TESTING_THREE_STEPS_H_
