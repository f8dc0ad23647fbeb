// A reference of three steps that can be checked by hand. The model is one weight that learns 2:
//   x = [1, 2], y = [2, 4], loss = mean((w * x - y)^2), gradient descent with rate 0.1
//
//   step          1      2       3
//   w before it   1      1.5     1.75
//   loss          2.5    0.625   0.15625
//   w after it    1.5    1.75    1.875
// The gradient of step 1 is -5.
#ifndef TOOLS_REPLAY_TESTING_TINY_REFERENCE_H_
#define TOOLS_REPLAY_TESTING_TINY_REFERENCE_H_

#include <map>
#include <string>

#include "absl/strings/string_view.h"
#include "estimator/array/array.h"

namespace estimator::replay::testing {

struct TinyReference {
  std::string manifest;
  std::map<std::string, Array> initial, batches, expected;

  // The reference above.
  TinyReference();
  // Writes the folder of the reference. CHECKs for errors.
  void Write(absl::string_view folder) const;
};

}  // namespace estimator::replay::testing

#endif  // TOOLS_REPLAY_TESTING_TINY_REFERENCE_H_
