// Functions of one tensor, computed for each element. The result has x's dtype and shape. x must be
// floating, unless a comment says otherwise. bf16 and f16 are computed in f32 and rounded once.
#ifndef ESTIMATOR_OPS_MATH_UNARY_H_
#define ESTIMATOR_OPS_MATH_UNARY_H_

#include "estimator/array/dtype.h"
#include "estimator/base/string_arg.h"
#include "estimator/graph/tensor.h"

namespace estimator {

Tensor Negate(const Tensor& x, StringArg name = "Neg");  // any number
inline Tensor operator-(const Tensor& x) { return Negate(x); }
Tensor Abs(const Tensor& x, StringArg name = "Abs");        // any number; derivative 0 at 0
Tensor Sign(const Tensor& x, StringArg name = "Sign");      // any number: -1, 0 or 1
Tensor Square(const Tensor& x, StringArg name = "Square");  // any number
Tensor Sqrt(const Tensor& x, StringArg name = "Sqrt");
Tensor Rsqrt(const Tensor& x, StringArg name = "Rsqrt");  // 1 / sqrt(x)
Tensor Exp(const Tensor& x, StringArg name = "Exp");
Tensor Expm1(const Tensor& x, StringArg name = "Expm1");  // exp(x) - 1
Tensor Log(const Tensor& x, StringArg name = "Log");
Tensor Log1p(const Tensor& x, StringArg name = "Log1p");  // log(1 + x)
Tensor Sin(const Tensor& x, StringArg name = "Sin");
Tensor Cos(const Tensor& x, StringArg name = "Cos");
Tensor Tan(const Tensor& x, StringArg name = "Tan");
Tensor Erf(const Tensor& x, StringArg name = "Erf");
Tensor Erfc(const Tensor& x, StringArg name = "Erfc");  // 1 - erf(x)
Tensor Asin(const Tensor& x, StringArg name = "Asin");
Tensor Acos(const Tensor& x, StringArg name = "Acos");
Tensor Atan(const Tensor& x, StringArg name = "Atan");
Tensor Sinh(const Tensor& x, StringArg name = "Sinh");
Tensor Cosh(const Tensor& x, StringArg name = "Cosh");
Tensor Asinh(const Tensor& x, StringArg name = "Asinh");
Tensor Acosh(const Tensor& x, StringArg name = "Acosh");
Tensor Atanh(const Tensor& x, StringArg name = "Atanh");
Tensor Rint(const Tensor& x, StringArg name = "Rint");      // half to even; derivative 0
Tensor Invert(const Tensor& x, StringArg name = "Invert");  // integers: flips all bits
Tensor Floor(const Tensor& x, StringArg name = "Floor");    // derivative 0
Tensor Ceil(const Tensor& x, StringArg name = "Ceil");      // derivative 0
// Rounds half to even. Any number; derivative 0.
Tensor Round(const Tensor& x, StringArg name = "Round");
Tensor Reciprocal(const Tensor& x, StringArg name = "Reciprocal");  // 1 / x

// These return bool with x's shape.
Tensor IsNan(const Tensor& x, StringArg name = "IsNan");
Tensor IsInf(const Tensor& x, StringArg name = "IsInf");
Tensor IsFinite(const Tensor& x, StringArg name = "IsFinite");

// tf.cast: from any numeric dtype or bool to any other. Returns x itself if it has the dtype
// already. Floating to integer truncates towards zero; to bool is x != 0. The gradient is cast
// back; it flows only between floating dtypes.
Tensor Cast(const Tensor& x, DType dtype, StringArg name = "Cast");

}  // namespace estimator

#endif  // ESTIMATOR_OPS_MATH_UNARY_H_
