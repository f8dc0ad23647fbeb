// The MNIST network and its optimizer, shared by mnist.cc and mnist_tpu.cc.
#ifndef MODELS_MNIST_NETWORK_H_
#define MODELS_MNIST_NETWORK_H_

#include <memory>

#include "estimator/estimator.h"

namespace estimator::mnist {

// Builds the network and returns the logits.
//   image: u8 [N, 28, 28], or any shape with 784 elements per example, 0 to 255.
//   compute_dtype: bf16 computes the layers in bfloat16; their variables are f32 all the same.
//   Returns f32 [N, 10].
// Layers, each with a kernel and a bias (3,274,634 parameters):
//   conv2d    5x5, 32 filters, relu   kernel [5,5,1,32]     then max pooling
//   conv2d_1  5x5, 64 filters, relu   kernel [5,5,32,64]    then max pooling
//   dense     1024 units, relu        kernel [3136,1024]    then, in training, dropout of 0.4
//   dense_1   10 units                kernel [1024,10]
Tensor Inference(const Tensor& image, Mode mode, DType compute_dtype = DType::kFloat32);

struct OptimizerOptions {
  double learning_rate = 0.05;  // of the first step
  double decay_steps = 97;      // the number of steps after which the rate is 5% lower
  double momentum = 0;          // 0: plain gradient descent
};
// Gradient descent, with momentum if it is given, and a decaying rate.
std::shared_ptr<train::Optimizer> MakeOptimizer(const OptimizerOptions& options);

}  // namespace estimator::mnist

#endif  // MODELS_MNIST_NETWORK_H_
