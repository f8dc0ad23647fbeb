// For tests: the activations that oneDNN's kernels fuse, and what they compute.
#ifndef ESTIMATOR_KERNELS_ONEDNN_TESTING_ACTIVATIONS_H_
#define ESTIMATOR_KERNELS_ONEDNN_TESTING_ACTIVATIONS_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "estimator/array/array.h"
#include "estimator/kernels/kernel.h"

namespace estimator::onednn {

inline constexpr const char* kActivations[] = {"", "Relu", "Relu6", "LeakyRelu"};  // "" for none
inline constexpr float kLeakyReluAlpha = 0.25f;

inline float Activated(const std::string& activation, float y) {
  if (activation == "Relu") return std::max(y, 0.0f);
  if (activation == "Relu6") return std::min(std::max(y, 0.0f), 6.0f);
  if (activation == "LeakyRelu") return y > 0 ? y : kLeakyReluAlpha * y;
  return y;
}

// activation(plain + bias + side), computed one after the other.
//   side: null for none.
inline Array Chain(const std::string& activation, const Array& plain, const Array& bias,
                   const Array* side) {
  Array result = plain.Clone();
  for (int64_t i = 0; i < result.num_elements(); ++i) {
    float& y = result.data<float>()[i];
    y += bias.data<float>()[i % bias.num_elements()] +
         (side != nullptr ? side->data<float>()[i] : 0.0f);
    y = Activated(activation, y);
  }
  return result;
}

// Sets the attributes of a bias and the activation.
inline void SetFusedOps(const std::string& activation, KernelSpec& spec) {
  std::vector<std::string> ops = {"BiasAdd"};
  if (!activation.empty()) ops.push_back(activation);
  spec.attrs.Set("fused_ops", ops);
  spec.attrs.Set("leakyrelu_alpha", kLeakyReluAlpha);
}

}  // namespace estimator::onednn

#endif  // ESTIMATOR_KERNELS_ONEDNN_TESTING_ACTIVATIONS_H_
