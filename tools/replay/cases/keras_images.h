// The training step of the cases of models/images.
#ifndef TOOLS_REPLAY_CASES_KERAS_IMAGES_H_
#define TOOLS_REPLAY_CASES_KERAS_IMAGES_H_

#include <cstdint>
#include <functional>

#include "estimator/graph/tensor.h"
#include "tools/replay/model.h"

namespace estimator::replay {

inline constexpr int64_t kKerasImagesClasses = 5;

// The twin of testdata/reference/keras_images/small_network.py.
//   network: returns the logits of images f32 [N, 48, 48, 3] from 0 to 255.
Model KerasImages(std::function<Tensor(const Tensor& images)> network, double rate = 0.002);

}  // namespace estimator::replay

#endif  // TOOLS_REPLAY_CASES_KERAS_IMAGES_H_
