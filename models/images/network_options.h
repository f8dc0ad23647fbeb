// The options that the networks of this folder share.
#ifndef MODELS_IMAGES_NETWORK_OPTIONS_H_
#define MODELS_IMAGES_NETWORK_OPTIONS_H_

#include <cstdint>
#include <string>

namespace estimator::images {

enum class Pooling { kNone, kAvg, kMax };  // of the last feature map, without the top

// A family with options of its own repeats these fields: C++20's designated initializers do not
// work with a base class.
struct NetworkOptions {
  bool training = false;    // dropout is on, and batch norms use the batch's moments if trainable
  bool include_top = true;  // false: returns the features, for a head of your own
  int64_t classes = 1000;   // of the top
  Pooling pooling = Pooling::kNone;  // without the top
  bool trainable = true;             // false: variables are frozen, and batch norms infer
  // A checkpoint or a file of Keras': first values of the network's variables, by
  // train::InitFromCheckpoint. Set it in training only: evaluation and prediction read model_dir.
  std::string weights = "";
  bool softmax = false;  // of the top's outputs; Keras' default is true
};

// NetworkOptions, and a width.
struct ScaledNetworkOptions {
  bool training = false;
  bool include_top = true;
  int64_t classes = 1000;
  Pooling pooling = Pooling::kNone;
  bool trainable = true;
  std::string weights = "";
  bool softmax = false;
  double width = 1;  // multiplies the numbers of filters, and of units of dense layers
};

}  // namespace estimator::images

#endif  // MODELS_IMAGES_NETWORK_OPTIONS_H_
