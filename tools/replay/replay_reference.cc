// Replays the cases of testdata/reference: what TensorFlow 2.15.1 computed for them.
//   replay_reference                                             all
//   replay_reference --case=mnist_momentum --num_shards=4 --rtol=1e-6
// With REFERENCE_WHOLE_MNIST=1 in the environment: the cases mnist_* with all filters of
// models/mnist, whose references regenerate.py makes under the same variable.
#include <gflags/gflags.h>

#include <cstdlib>

#include "tools/replay/cases/cases.h"
#include "tools/replay/replay_main.h"

int main(int argc, char** argv) {
  gflags::SetUsageMessage("holds the models of testdata/reference against TensorFlow's numbers");
  const bool whole = std::getenv("REFERENCE_WHOLE_MNIST") != nullptr;
  return estimator::replay::ReplayMain(
      argc, argv, whole ? estimator::replay::WholeMnistCases() : estimator::replay::AllCases());
}
