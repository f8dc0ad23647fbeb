// Constants that depend on the batch size, found from their values at three sizes.
//
// Each of the functions takes the three batch sizes, and what belongs to each of them in the same
// order. It returns nullopt if the values are not linear in the size.
#ifndef ESTIMATOR_EXPORT_ANY_BATCH_BATCH_CONSTANT_H_
#define ESTIMATOR_EXPORT_ANY_BATCH_BATCH_CONSTANT_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "estimator/array/array.h"

namespace estimator {

// A constant that depends on the batch size.
struct BatchConstant {
  enum class Kind {
    kReshape,  // the shape of a Reshape with one varying size: element `index` becomes -1
    kAffine,   // integers: each element is slope * batch + intercept
    kFill,     // all elements are `value`; each dim of the shape is slope * batch + intercept
  };
  Kind kind = Kind::kAffine;
  int64_t index = 0;
  // kReshape: element `index` is (slope * batch + intercept) / divisor, with i64 [] operands. A
  // Reshape to groups of 4 rows has the divisor 4.
  int64_t divisor = 1;
  Array slope = {}, intercept = {};  // of the constant's dtype; kFill: i32 [rank]
  Array value = {};                  // kFill: a scalar
};

// A shape, as kAffine, i64 [rank].
//   dims: of equal ranks.
std::optional<BatchConstant> AffineShape(const std::vector<std::vector<int64_t>>& dims,
                                         const std::vector<int64_t>& sizes);

// Integers, as kReshape if possible, or as kAffine. Numbers of a floating dtype may be integers.
//   values: of equal dtypes and shapes.
//   is_reshape_shape: whether the constant is used only as the shape of a Reshape.
std::optional<BatchConstant> AffineConstant(const std::vector<Array>& values,
                                            const std::vector<int64_t>& sizes,
                                            bool is_reshape_shape);

// Arrays that repeat one value, as kFill.
//   values: of equal dtypes.
std::optional<BatchConstant> FilledConstant(const std::vector<Array>& values,
                                            const std::vector<int64_t>& sizes);

}  // namespace estimator

#endif  // ESTIMATOR_EXPORT_ANY_BATCH_BATCH_CONSTANT_H_
