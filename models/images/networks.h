// The networks of this folder by name: what --network of a program may be.
#ifndef MODELS_IMAGES_NETWORKS_H_
#define MODELS_IMAGES_NETWORKS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "estimator/base/string_arg.h"
#include "estimator/graph/tensor.h"
#include "models/images/network_options.h"

namespace estimator::images {

struct NetworkEntry {
  std::string name;  // Keras', as "MobileNetV2"
  // The network with the defaults of its own options.
  Tensor (*build)(const Tensor& images, const NetworkOptions& options);
  // Pixels of 0 to 255 as `build` takes them, f32.
  Tensor (*preprocess)(const Tensor& images);
  int64_t image_size;  // rows and columns that it was published with
  bool in_keras;       // whether tf.keras.applications of TensorFlow 2.15 has it
};

// All networks, in the order of their publication.
const std::vector<NetworkEntry>& Networks();

// Upper and lower case do not matter.
// Errors: INVALID_ARGUMENT listing the names.
absl::StatusOr<NetworkEntry> FindNetwork(StringArg name);

}  // namespace estimator::images

#endif  // MODELS_IMAGES_NETWORKS_H_
