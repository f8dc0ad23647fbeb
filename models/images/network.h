// What the networks of this folder share: checks, layers that follow the options, the end of a
// network. Not for users.
#ifndef MODELS_IMAGES_NETWORK_H_
#define MODELS_IMAGES_NETWORK_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "estimator/estimator.h"
#include "models/images/network_options.h"

namespace estimator::images {

// Returns filters * width, rounded, and at least 1.
int64_t Scaled(int64_t filters, double width);

// Adds rows and columns of zeros, `before` the image and `after` it.
// Source: TF 2.15 tf.keras.layers.ZeroPadding2D.
Tensor ZeroPad(const Tensor& x, int64_t before, int64_t after);

// One call of a network's function. The layers are those of estimator::layers, frozen if
// options.trainable is false.
class Network {
 public:
  // Checks the images, the options that all networks have, `width` if the options have it, and what
  // the function found itself. If something is wrong, the graph keeps one error with all of it.
  //   function: its name, for the error.
  //   min_size: the least height and width of the images, Keras' min_size.
  template <typename Options>
  Network(StringArg function, const Tensor& images, const Options& options, int64_t min_size = 32,
          std::vector<std::string> problems = {})
      : options_{.training = options.training,
                 .include_top = options.include_top,
                 .classes = options.classes,
                 .pooling = options.pooling,
                 .trainable = options.trainable,
                 .weights = options.weights,
                 .softmax = options.softmax} {
    if constexpr (requires { options.width; }) {
      if (!(options.width > 0)) {
        problems.push_back(absl::StrCat("width must be positive, got ", options.width));
      }
    }
    Begin(function, images, min_size, std::move(problems));
  }
  // Whether the network can be built. If not, return Invalid().
  bool ok() const { return ok_; }
  static Tensor Invalid() { return Tensor(&Graph::Current(), nullptr, 0); }

  Tensor Conv2D(const Tensor& x, layers::Conv2DOptions options) const;
  Tensor DepthwiseConv2D(const Tensor& x, layers::SeparableConv2DOptions options) const;
  Tensor SeparableConv2D(const Tensor& x, layers::SeparableConv2DOptions options) const;
  Tensor Dense(const Tensor& x, layers::DenseOptions options) const;
  // Uses the moments of the batch if the network trains and is not frozen. The defaults are Keras':
  // momentum 0.99, epsilon 1e-3.
  Tensor BatchNormalization(const Tensor& x, layers::BatchNormalizationOptions options) const;
  Tensor Dropout(const Tensor& x, double rate) const;

  // Returns what the network's function returns, from the last feature map [N, H, W, C]: the result
  // of `top`, else that of the pooling. Variables start at `weights`.
  //   top: none: the mean of each channel, and the dense layer `predictions`.
  Tensor Finish(const Tensor& features,
                const std::function<Tensor(const Tensor&)>& top = nullptr) const;

 private:
  void Begin(StringArg function, const Tensor& images, int64_t min_size,
             std::vector<std::string> problems);

  NetworkOptions options_;
  bool ok_ = false;
  std::string scope_;          // "a/b/": where the function was called
  size_t first_variable_ = 0;  // variables of the graph before the network
};

}  // namespace estimator::images

#endif  // MODELS_IMAGES_NETWORK_H_
