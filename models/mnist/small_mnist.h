// Writes a small MNIST as IDX files, for tests of the program.
#ifndef MODELS_MNIST_SMALL_MNIST_H_
#define MODELS_MNIST_SMALL_MNIST_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "models/mnist/digits.h"

namespace estimator::mnist {

// Writes `<directory>/<split>-images-idx3-ubyte` and `<directory>/<split>-labels-idx1-ubyte`.
//   split: "train" or "t10k".
absl::Status WriteIdxSet(absl::string_view directory, absl::string_view split, const DigitSet& set);

// Writes the four files with 300 drawn training digits and 50 drawn test digits.
absl::Status WriteSmallMnist(absl::string_view directory);

}  // namespace estimator::mnist

#endif  // MODELS_MNIST_SMALL_MNIST_H_
