// A small MNIST in IDX files, for tests of the program.
#ifndef MODELS_MNIST_SMALL_MNIST_H_
#define MODELS_MNIST_SMALL_MNIST_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "models/mnist/digits.h"

namespace estimator::mnist {

// Writes `<directory>/<split>-images-idx3-ubyte` and `<split>-labels-idx1-ubyte`; a split is
// "train" or "t10k".
absl::Status WriteIdxSet(absl::string_view directory, absl::string_view split, const DigitSet& set);

// Writes the four files, with 300 drawn digits to train on and 50 to test on.
absl::Status WriteSmallMnist(absl::string_view directory);

}  // namespace estimator::mnist

#endif  // MODELS_MNIST_SMALL_MNIST_H_
