// The MNIST network, shared by training, evaluation and prediction.
#ifndef MODELS_MNIST_MNIST_H_
#define MODELS_MNIST_MNIST_H_

#include "estimator/graph/tensor.h"
#include "estimator/training/estimator_spec.h"

namespace estimator::mnist {

// Two convolutions 5x5 (32, 64) with relu and max pooling, a dense layer of 1024 with relu and, in
// training, dropout of 0.4, and a dense layer of 10. 3,274,634 parameters:
//   conv2d/kernel [5,5,1,32], conv2d_1/kernel [5,5,32,64], dense/kernel [3136,1024],
//   dense_1/kernel [1024,10], and a bias each.
//   image: u8 [N, 28, 28] (or any shape of 784 an example), 0 to 255.  Returns the logits, f32 [N,
//   10].
Tensor Inference(const Tensor& image, Mode mode);

}  // namespace estimator::mnist

#endif  // MODELS_MNIST_MNIST_H_
