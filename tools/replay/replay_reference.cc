// Replays the cases of testdata/reference, and compares them with TensorFlow 2.15.1.
//
//   replay_reference                                                    all cases
//   replay_reference --case=mnist_momentum --num_shards=4 --rtol=1e-6   one case
//
// If the environment has REFERENCE_WHOLE_MNIST=1, it replays the cases mnist_* with all filters of
// models/mnist, and with REFERENCE_WHOLE_RESNET=1 the cases resnet* with the whole networks.
// regenerate.py makes their references if the same variable is set.
#include <gflags/gflags.h>

#include <cstdlib>

#include "tools/replay/cases/cases.h"
#include "tools/replay/replay_main.h"

namespace {

estimator::replay::Cases CasesOfEnvironment() {
  if (std::getenv("REFERENCE_WHOLE_MNIST") != nullptr) return estimator::replay::WholeMnistCases();
  if (std::getenv("REFERENCE_WHOLE_RESNET") != nullptr)
    return estimator::replay::WholeResnetCases();
  return estimator::replay::AllCases();
}

}  // namespace

int main(int argc, char** argv) {
  gflags::SetUsageMessage("compares the models of testdata/reference with TensorFlow's numbers");
  return estimator::replay::ReplayMain(argc, argv, CasesOfEnvironment());
}
