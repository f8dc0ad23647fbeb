// Networks of public TPUEstimator programs, for measurements of their steps.
#ifndef TOOLS_OP_TABLE_NETWORKS_H_
#define TOOLS_OP_TABLE_NETWORKS_H_

#include <functional>
#include <string>
#include <vector>

#include "estimator/array/array.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/tensor.h"

namespace estimator {

// A training step: its placeholders with a value for each, and its update.
struct TrainingStep {
  std::vector<Tensor> feeds;
  std::vector<Array> values;
  Operation update;
};

struct Network {
  std::string name;
  // Adds the network to the current graph.
  std::function<TrainingStep()> build;
};

// BERT base for classification with 2 of its 12 layers: batch 8, 128 tokens. Then the seven
// networks of cloudml-samples' tpu/templates with their batch sizes: basic, cnn, film, gan, grl,
// lstm (5 steps) and triplet_loss.
std::vector<Network> PublicNetworks();

}  // namespace estimator

#endif  // TOOLS_OP_TABLE_NETWORKS_H_
