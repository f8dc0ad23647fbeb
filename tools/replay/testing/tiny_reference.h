// A reference of three steps that can be checked by hand, and its model: one weight that learns 2.
//   x = [1, 2], y = [2, 4], w = 1 at first; loss = mean((w x - y)^2), gradient descent at rate 0.1.
//   loss 2.5, 0.625, 0.15625; gradient -5; w 1.5, 1.75, 1.875 after the steps.
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

  // As above.
  TinyReference();
  // Writes the folder. CHECKs that it can.
  void Write(absl::string_view folder) const;
};

}  // namespace estimator::replay::testing

#endif  // TOOLS_REPLAY_TESTING_TINY_REFERENCE_H_
