// Arrays whose elements are all equal: Zeros() builds a Const or a Fill of them, by their size.
#ifndef ESTIMATOR_EXPORT_ANY_BATCH_UNIFORM_ARRAY_H_
#define ESTIMATOR_EXPORT_ANY_BATCH_UNIFORM_ARRAY_H_

#include <cstdint>
#include <cstring>

#include "estimator/array/array.h"

namespace estimator {

// Whether all elements have the same bytes. False for strings, and for no elements.
inline bool IsUniform(const Array& array) {
  const size_t size = DTypeSize(array.dtype());
  if (size == 0 || array.num_elements() == 0) return false;
  const auto* bytes = static_cast<const char*>(array.raw());
  for (int64_t i = 1; i < array.num_elements(); ++i) {
    if (std::memcmp(bytes, bytes + static_cast<size_t>(i) * size, size) != 0) return false;
  }
  return true;
}

// The first element, as a scalar. REQUIRES: there is one.
inline Array FirstElement(const Array& array) {
  return array.Reshaped({array.num_elements()}).Row(0);
}

}  // namespace estimator

#endif  // ESTIMATOR_EXPORT_ANY_BATCH_UNIFORM_ARRAY_H_
