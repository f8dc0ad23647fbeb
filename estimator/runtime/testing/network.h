// What the tests of networks of real ops share: numbers, inputs and a training loop.
#ifndef ESTIMATOR_RUNTIME_TESTING_NETWORK_H_
#define ESTIMATOR_RUNTIME_TESTING_NETWORK_H_

#include <vector>

#include "absl/status/statusor.h"
#include "estimator/graph/graph.h"
#include "estimator/runtime/backend.h"
#include "estimator/runtime/program.h"

namespace estimator::testing {

// f32 numbers in [-scale, scale) that look random but are the same every time.
Array Numbers(const Shape& shape, int seed, float scale);

// A classifier of four images in a graph of its own, which is current while it lives. A test
// derives from it and builds `loss` and `train`.
struct Network {
  static constexpr int64_t kBatch = 4;

  Network();
  ProgramSpec spec() const {
    return {.feeds = {images, labels}, .fetches = {loss}, .updates = {train}};
  }

  Graph graph;
  GraphScope scope{graph};
  Tensor images;  // f32 [kBatch, 8, 8, 3]
  Tensor labels;  // i32 [kBatch]
  Tensor loss;
  Operation train;
};

// The losses of `steps` steps on the same batch; the variables stay in `store`.
absl::StatusOr<std::vector<float>> Train(const Network& network, VariableStore& store,
                                         const CompileOptions& options, int steps);

}  // namespace estimator::testing

#endif  // ESTIMATOR_RUNTIME_TESTING_NETWORK_H_
