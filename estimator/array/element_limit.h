// Checks the number of elements of a shape that comes from a file or from the user.
#ifndef ESTIMATOR_ARRAY_ELEMENT_LIMIT_H_
#define ESTIMATOR_ARRAY_ELEMENT_LIMIT_H_

#include <cstdint>

#include "estimator/array/shape.h"

namespace estimator {

// Whether all sizes are known and their product is at most `most`. Call it before
// Shape::num_elements, which may overflow. A size of 0 counts as 1, because strides are products of
// the other sizes and must not overflow either.
bool HasElementsAtMost(const Shape& shape, int64_t most);

}  // namespace estimator

#endif  // ESTIMATOR_ARRAY_ELEMENT_LIMIT_H_
