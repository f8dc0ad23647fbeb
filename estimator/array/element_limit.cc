#include "estimator/array/element_limit.h"

#include <algorithm>

namespace estimator {

bool HasElementsAtMost(const Shape& shape, int64_t most) {
  int64_t product = 1;
  for (const int64_t dim : shape.dims()) {
    const int64_t size = std::max<int64_t>(dim, 1);
    if (dim < 0 || product > most / size) return false;
    product *= size;
  }
  return true;
}

}  // namespace estimator
