// Functions of one tensor, computed for each element. The result has x's dtype and shape. x must be
// floating, unless a comment says otherwise. bf16 and f16 are computed in f32 and rounded once.
#ifndef ESTIMATOR_OPS_MATH_UNARY_H_
#define ESTIMATOR_OPS_MATH_UNARY_H_

#include "absl/strings/string_view.h"
#include "estimator/array/dtype.h"
#include "estimator/graph/tensor.h"

namespace estimator {

Tensor Negate(const Tensor& x, absl::string_view name = "Neg");  // any number
inline Tensor operator-(const Tensor& x) { return Negate(x); }
Tensor Abs(const Tensor& x, absl::string_view name = "Abs");        // any number; derivative 0 at 0
Tensor Sign(const Tensor& x, absl::string_view name = "Sign");      // any number: -1, 0 or 1
Tensor Square(const Tensor& x, absl::string_view name = "Square");  // any number
Tensor Sqrt(const Tensor& x, absl::string_view name = "Sqrt");
Tensor Rsqrt(const Tensor& x, absl::string_view name = "Rsqrt");  // 1 / sqrt(x)
Tensor Exp(const Tensor& x, absl::string_view name = "Exp");
Tensor Expm1(const Tensor& x, absl::string_view name = "Expm1");  // exp(x) - 1
Tensor Log(const Tensor& x, absl::string_view name = "Log");
Tensor Log1p(const Tensor& x, absl::string_view name = "Log1p");  // log(1 + x)
Tensor Sin(const Tensor& x, absl::string_view name = "Sin");
Tensor Cos(const Tensor& x, absl::string_view name = "Cos");
Tensor Tan(const Tensor& x, absl::string_view name = "Tan");
Tensor Erf(const Tensor& x, absl::string_view name = "Erf");
Tensor Erfc(const Tensor& x, absl::string_view name = "Erfc");  // 1 - erf(x)
Tensor Asin(const Tensor& x, absl::string_view name = "Asin");
Tensor Acos(const Tensor& x, absl::string_view name = "Acos");
Tensor Atan(const Tensor& x, absl::string_view name = "Atan");
Tensor Sinh(const Tensor& x, absl::string_view name = "Sinh");
Tensor Cosh(const Tensor& x, absl::string_view name = "Cosh");
Tensor Asinh(const Tensor& x, absl::string_view name = "Asinh");
Tensor Acosh(const Tensor& x, absl::string_view name = "Acosh");
Tensor Atanh(const Tensor& x, absl::string_view name = "Atanh");
Tensor Rint(const Tensor& x, absl::string_view name = "Rint");      // half to even; derivative 0
Tensor Invert(const Tensor& x, absl::string_view name = "Invert");  // integers: flips all bits
Tensor Floor(const Tensor& x, absl::string_view name = "Floor");    // derivative 0
Tensor Ceil(const Tensor& x, absl::string_view name = "Ceil");      // derivative 0
// Rounds half to even. Any number; derivative 0.
Tensor Round(const Tensor& x, absl::string_view name = "Round");
Tensor Reciprocal(const Tensor& x, absl::string_view name = "Reciprocal");  // 1 / x

// These return bool with x's shape.
Tensor IsNan(const Tensor& x, absl::string_view name = "IsNan");
Tensor IsInf(const Tensor& x, absl::string_view name = "IsInf");
Tensor IsFinite(const Tensor& x, absl::string_view name = "IsFinite");

// tf.cast: from any numeric dtype or bool to any other. Returns x itself if it has the dtype
// already. Floating to integer truncates towards zero; to bool is x != 0. The gradient is cast
// back; it flows only between floating dtypes.
Tensor Cast(const Tensor& x, DType dtype, absl::string_view name = "Cast");

}  // namespace estimator

#endif  // ESTIMATOR_OPS_MATH_UNARY_H_
