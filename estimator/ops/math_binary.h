// Arithmetic on two tensors for each element, with NumPy's broadcasting.
//
// Both operands and the result have one dtype; one operand may be a C++ number. Shapes are
// broadcast from the last axis on: two sizes must be equal, or one must be 1 or missing.
// Errors (kept by the graph): INVALID_ARGUMENT naming both types if dtypes differ or if shapes do
// not broadcast.
#ifndef ESTIMATOR_OPS_MATH_BINARY_H_
#define ESTIMATOR_OPS_MATH_BINARY_H_

#include <vector>

#include "estimator/base/string_arg.h"
#include "estimator/graph/tensor.h"
#include "estimator/ops/operand.h"

namespace estimator {

Tensor Add(const Operand& x, const Operand& y, StringArg name = "add");       // AddV2
Tensor Subtract(const Operand& x, const Operand& y, StringArg name = "sub");  // Sub
Tensor Multiply(const Operand& x, const Operand& y, StringArg name = "mul");  // Mul
// tf.divide, Python's `/`: integers are converted first, to f64 (i8, u8 and i16 to f32).
Tensor Divide(const Operand& x, const Operand& y, StringArg name = "truediv");  // RealDiv
// Integers: rounds towards zero, as in C++. Floating: as RealDiv. An integer divisor of zero fails
// the step.
Tensor TruncateDiv(const Operand& x, const Operand& y, StringArg name = "Div");  // Div
// Python's `//` and `%`: floor(x / y), and x - floor(x / y) * y, which has the sign of y.
Tensor FloorDiv(const Operand& x, const Operand& y,
                StringArg name = "floordiv");                                 // FloorDiv
Tensor FloorMod(const Operand& x, const Operand& y, StringArg name = "mod");  // FloorMod
// The remainder of C's `%`, which has the sign of x.
Tensor TruncateMod(const Operand& x, const Operand& y, StringArg name = "TruncateMod");
// x / y and x * log(y), but 0 if x is 0, for any y.
Tensor Xdivy(const Operand& x, const Operand& y, StringArg name = "xdivy");
Tensor Xlogy(const Operand& x, const Operand& y, StringArg name = "xlogy");
// Bitwise ops, for integers only. A shift is from 0 to the number of bits less 1; RightShift keeps
// the sign.
Tensor BitwiseAnd(const Operand& x, const Operand& y, StringArg name = "BitwiseAnd");
Tensor BitwiseOr(const Operand& x, const Operand& y, StringArg name = "BitwiseOr");
Tensor BitwiseXor(const Operand& x, const Operand& y, StringArg name = "BitwiseXor");
Tensor LeftShift(const Operand& x, const Operand& y, StringArg name = "LeftShift");
Tensor RightShift(const Operand& x, const Operand& y, StringArg name = "RightShift");
// x / y, but 0 if y is 0. Source: TF 2.15 tf.math.divide_no_nan.
Tensor DivideNoNan(const Operand& x, const Operand& y, StringArg name = "div_no_nan");

// If x and y are equal, the gradient flows to x, as in TensorFlow. If one is NaN,
// the result is NaN.
Tensor Maximum(const Operand& x, const Operand& y, StringArg name = "Maximum");
Tensor Minimum(const Operand& x, const Operand& y, StringArg name = "Minimum");
Tensor Pow(const Operand& x, const Operand& y, StringArg name = "Pow");
Tensor SquaredDifference(const Operand& x, const Operand& y, StringArg name = "SquaredDifference");
Tensor Atan2(const Operand& y, const Operand& x, StringArg name = "Atan2");

// The sum of several tensors of one type. REQUIRES: at least one tensor.
Tensor AddN(const std::vector<Tensor>& inputs, StringArg name = "AddN");

// min(max(x, low), high), as tf.clip_by_value. No gradient flows outside the range.
Tensor ClipByValue(const Tensor& x, const Operand& low, const Operand& high,
                   StringArg name = "clip_by_value");

inline Tensor operator+(const Operand& x, const Operand& y) { return Add(x, y); }
inline Tensor operator-(const Operand& x, const Operand& y) { return Subtract(x, y); }
inline Tensor operator*(const Operand& x, const Operand& y) { return Multiply(x, y); }
inline Tensor operator/(const Operand& x, const Operand& y) { return Divide(x, y); }
// These assign a new tensor to the handle `x`; no value is changed in place.
inline Tensor& operator+=(Tensor& x, const Operand& y) { return x = Add(x, y); }
inline Tensor& operator-=(Tensor& x, const Operand& y) { return x = Subtract(x, y); }
inline Tensor& operator*=(Tensor& x, const Operand& y) { return x = Multiply(x, y); }
inline Tensor& operator/=(Tensor& x, const Operand& y) { return x = Divide(x, y); }

// Sums `gradient` over the axes that broadcasting added to `x` or stretched. The result has x's
// shape.
Tensor SumToShapeOf(const Tensor& gradient, const Tensor& x);

}  // namespace estimator

#endif  // ESTIMATOR_OPS_MATH_BINARY_H_
