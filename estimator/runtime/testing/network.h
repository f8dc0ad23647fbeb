// What tests of networks share: numbers, inputs, a training loop and checks.
#ifndef ESTIMATOR_RUNTIME_TESTING_NETWORK_H_
#define ESTIMATOR_RUNTIME_TESTING_NETWORK_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/graph/graph.h"
#include "estimator/runtime/backend.h"
#include "estimator/runtime/program.h"

namespace estimator::testing {

// f32 numbers in [-scale, scale) that look random but are always the same.
Array Numbers(const Shape& shape, int seed, float scale);
// A variable that has them at first; the seed is the number of its elements.
Variable Weights(absl::string_view name, const Shape& shape, float scale);

// A classifier of four images, in a graph of its own that is the current graph while this exists. A
// test derives from it and calls Minimize, or sets `loss` and `train`.
struct Network {
  static constexpr int64_t kBatch = 4;

  Network();
  ProgramSpec spec() const {
    return {.feeds = {images, labels}, .fetches = {loss}, .updates = {train}};
  }
  // The loss is the mean cross entropy of the logits; a step is gradient descent, by 0.05.
  void Minimize(const Tensor& logits, const std::vector<Variable>& variables);

  Graph graph;
  GraphScope scope{graph};
  Tensor images;  // f32 [kBatch, 8, 8, 3]
  Tensor labels;  // i32 [kBatch]
  Tensor loss;
  Operation train;
};

// The losses of `steps` steps on the same batch. The variables remain in `store`.
absl::StatusOr<std::vector<float>> Train(const Network& network, VariableStore& store,
                                         const CompileOptions& options, int steps);

// Checks that 20 steps lower the loss below `most` of the first one, and that losses and variables
// are those of the reference kernels.
void ExpectTrainsAsTheReference(const Network& network, float most = 1);
// Checks each kernel in `steps` steps against the reference kernel.
void ExpectCheckedKernelsAgree(const Network& network, int steps);

}  // namespace estimator::testing

#endif  // ESTIMATOR_RUNTIME_TESTING_NETWORK_H_
