// Numbers for tests.
#ifndef ESTIMATOR_OPS_TESTING_PATTERN_H_
#define ESTIMATOR_OPS_TESTING_PATTERN_H_

#include <cstdint>

#include "estimator/array/array.h"

namespace estimator::testing {

// Multiples of 1/8 in [-5/8, 5/8], which every floating type holds exactly. Many are equal.
inline Array Pattern(const Shape& shape, int64_t seed) {
  Array array(DType::kFloat32, shape);
  for (int64_t i = 0; i < array.num_elements(); ++i) {
    array.data<float>()[i] = static_cast<float>((i * 7 + seed * 5) % 11 - 5) / 8;
  }
  return array;
}

}  // namespace estimator::testing

#endif  // ESTIMATOR_OPS_TESTING_PATTERN_H_
