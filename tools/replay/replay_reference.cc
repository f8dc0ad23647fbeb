// Replays the cases of testdata/reference: what TensorFlow 2.15.1 computed for them.
//   replay_reference                                             all
//   replay_reference --case=mnist_momentum --num_shards=4 --rtol=1e-6
#include <gflags/gflags.h>

#include "tools/replay/cases/cases.h"
#include "tools/replay/replay_main.h"

int main(int argc, char** argv) {
  gflags::SetUsageMessage("holds the models of testdata/reference against TensorFlow's numbers");
  return estimator::replay::ReplayMain(argc, argv, estimator::replay::AllCases());
}
