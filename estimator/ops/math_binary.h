// Arithmetic on two tensors, element by element, with NumPy's broadcasting.
//
// Both operands have one dtype, which the result has, too; either may be a number. Shapes are
// broadcast from the last axis on: sizes are equal, or one of them is 1 or missing.
// Errors (kept by the graph): INVALID_ARGUMENT naming both types if dtypes differ or shapes do not
// fit.
#ifndef ESTIMATOR_OPS_MATH_BINARY_H_
#define ESTIMATOR_OPS_MATH_BINARY_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "estimator/graph/tensor.h"
#include "estimator/ops/operand.h"

namespace estimator {

Tensor Add(const Operand& x, const Operand& y, absl::string_view name = "add");       // AddV2
Tensor Subtract(const Operand& x, const Operand& y, absl::string_view name = "sub");  // Sub
Tensor Multiply(const Operand& x, const Operand& y, absl::string_view name = "mul");  // Mul
// tf.divide, Python's `/`: integers are divided as f64 (i8, u8, i16: f32).
Tensor Divide(const Operand& x, const Operand& y, absl::string_view name = "truediv");  // RealDiv
// Integers: towards zero, as C++. Floating: RealDiv. A zero divisor is an error at run time.
Tensor TruncateDiv(const Operand& x, const Operand& y, absl::string_view name = "Div");  // Div
// Python's `//` and `%`: floor(x / y), and x - floor(x / y) * y, of y's sign.
Tensor FloorDiv(const Operand& x, const Operand& y,
                absl::string_view name = "floordiv");                                 // FloorDiv
Tensor FloorMod(const Operand& x, const Operand& y, absl::string_view name = "mod");  // FloorMod
// C's `%`, of x's sign.
Tensor TruncateMod(const Operand& x, const Operand& y, absl::string_view name = "TruncateMod");
// x / y and x log(y), and 0 where x is 0, whatever y is.
Tensor Xdivy(const Operand& x, const Operand& y, absl::string_view name = "xdivy");
Tensor Xlogy(const Operand& x, const Operand& y, absl::string_view name = "xlogy");
// Bit by bit, integers only. Shifts by 0 to the number of bits less 1; right keeps the sign.
Tensor BitwiseAnd(const Operand& x, const Operand& y, absl::string_view name = "BitwiseAnd");
Tensor BitwiseOr(const Operand& x, const Operand& y, absl::string_view name = "BitwiseOr");
Tensor BitwiseXor(const Operand& x, const Operand& y, absl::string_view name = "BitwiseXor");
Tensor LeftShift(const Operand& x, const Operand& y, absl::string_view name = "LeftShift");
Tensor RightShift(const Operand& x, const Operand& y, absl::string_view name = "RightShift");
// x / y, and 0 where y is 0. Source: TF 2.15 tf.math.divide_no_nan.
Tensor DivideNoNan(const Operand& x, const Operand& y, absl::string_view name = "div_no_nan");

// The gradient of equal elements goes to x, as in TensorFlow. NaN wins.
Tensor Maximum(const Operand& x, const Operand& y, absl::string_view name = "Maximum");
Tensor Minimum(const Operand& x, const Operand& y, absl::string_view name = "Minimum");
Tensor Pow(const Operand& x, const Operand& y, absl::string_view name = "Pow");
Tensor SquaredDifference(const Operand& x, const Operand& y,
                         absl::string_view name = "SquaredDifference");
Tensor Atan2(const Operand& y, const Operand& x, absl::string_view name = "Atan2");

// The sum of tensors of one type. REQUIRES: at least one.
Tensor AddN(const std::vector<Tensor>& inputs, absl::string_view name = "AddN");

// min(max(x, low), high), as tf.clip_by_value: no gradient outside of the range.
Tensor ClipByValue(const Tensor& x, const Operand& low, const Operand& high,
                   absl::string_view name = "clip_by_value");

inline Tensor operator+(const Operand& x, const Operand& y) { return Add(x, y); }
inline Tensor operator-(const Operand& x, const Operand& y) { return Subtract(x, y); }
inline Tensor operator*(const Operand& x, const Operand& y) { return Multiply(x, y); }
inline Tensor operator/(const Operand& x, const Operand& y) { return Divide(x, y); }
// These make `x` another tensor; nothing is changed in place.
inline Tensor& operator+=(Tensor& x, const Operand& y) { return x = Add(x, y); }
inline Tensor& operator-=(Tensor& x, const Operand& y) { return x = Subtract(x, y); }
inline Tensor& operator*=(Tensor& x, const Operand& y) { return x = Multiply(x, y); }
inline Tensor& operator/=(Tensor& x, const Operand& y) { return x = Divide(x, y); }

// Sums `gradient` over the axes that broadcasting `x` added or stretched, to x's shape.
Tensor SumToShapeOf(const Tensor& gradient, const Tensor& x);

}  // namespace estimator

#endif  // ESTIMATOR_OPS_MATH_BINARY_H_
