// Whether the elements of a shape that comes from outside can be counted.
#ifndef ESTIMATOR_ARRAY_ELEMENT_LIMIT_H_
#define ESTIMATOR_ARRAY_ELEMENT_LIMIT_H_

#include <cstdint>

#include "estimator/array/shape.h"

namespace estimator {

// Whether all sizes are known and their product is `most` at the most. A 0 counts as 1: strides are
// products of the sizes beside it, and must not overflow either. Where it is not so,
// Shape::num_elements may overflow.
bool HasElementsAtMost(const Shape& shape, int64_t most);

}  // namespace estimator

#endif  // ESTIMATOR_ARRAY_ELEMENT_LIMIT_H_
