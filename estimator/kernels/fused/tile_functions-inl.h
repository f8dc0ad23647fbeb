// Functions of vectors of floats, for the ops on tiles: those that are more than a formula
// (op_def/elementwise_table.h). tile_ops.h says how exact they are.
//
// A file that Highway's foreach_target.h compiles once for every instruction set includes this
// after hwy/highway.h and hwy/contrib/math/math-inl.h.
#if defined(ESTIMATOR_KERNELS_FUSED_TILE_FUNCTIONS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ESTIMATOR_KERNELS_FUSED_TILE_FUNCTIONS_INL_H_
#undef ESTIMATOR_KERNELS_FUSED_TILE_FUNCTIONS_INL_H_
#else
#define ESTIMATOR_KERNELS_FUSED_TILE_FUNCTIONS_INL_H_
#endif

#include <limits>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace estimator::fused {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

// Highway's functions, corrected at the ends of their ranges and for NaN.
HWY_INLINE V Exp(V x) {
  const D d;
  // x is clamped to the range of hn::Exp. A result above f32's range is infinity.
  const V infinity = hn::Set(d, std::numeric_limits<float>::infinity());
  const V y = hn::Exp(d, hn::Min(x, hn::Set(d, 88.8f)));
  const V bounded = hn::IfThenElse(hn::Gt(x, hn::Set(d, 88.7228317f)), infinity, y);
  return hn::IfThenElse(hn::IsNaN(x), x, bounded);
}

HWY_INLINE V Log(V x) {
  const D d;
  const V zero = hn::Zero(d), infinity = hn::Set(d, std::numeric_limits<float>::infinity());
  V y = hn::Log(d, x);
  y = hn::IfThenElse(hn::Eq(x, zero), hn::Neg(infinity), y);
  y = hn::IfThenElse(hn::Eq(x, infinity), infinity, y);
  return hn::IfThenElse(hn::Ge(x, zero), y, hn::Set(d, std::numeric_limits<float>::quiet_NaN()));
}

// a b + c, rounded twice. The compiler cannot make one instruction of both, which rounds once.
HWY_INLINE V MulThenAdd(V a, V b, V c) {
  V product = hn::Mul(a, b);
  asm("" : "+v"(product.raw));
  return hn::Add(product, c);
}

// x P(x^2) / Q(x^2) with the coefficients of Eigen 3.4, with the bits of TensorFlow's tanh: near 1,
// the gradient 1 - y^2 depends on the last bit. It takes half the time of hn::Tanh.
HWY_INLINE V Tanh(V x) {
  const D d;
  const V limit = hn::Set(d, 7.90531110763549805f);  // the result is 1 from here on
  const V c = hn::Max(hn::Min(x, limit), hn::Neg(limit)), z = hn::Mul(c, c);
  V p = hn::Set(d, -2.76076847742355e-16f);
  for (const float a : {2.00018790482477e-13f, -8.60467152213735e-11f, 5.12229709037114e-08f,
                        1.48572235717979e-05f, 6.37261928875436e-04f, 4.89352455891786e-03f})
    p = MulThenAdd(p, z, hn::Set(d, a));
  V q = hn::Set(d, 1.19825839466702e-06f);
  for (const float b : {1.18534705686654e-04f, 2.26843463243900e-03f, 4.89352518554385e-03f})
    q = MulThenAdd(q, z, hn::Set(d, b));
  V y = hn::Div(hn::Mul(c, p), q);
  y = hn::IfThenElse(hn::Lt(hn::Abs(x), hn::Set(d, 4e-4f)), x, y);  // tanh(x) rounds to x
  return hn::IfThenElse(hn::IsNaN(x), x, y);
}

HWY_INLINE V Sigmoid(V x) {
  const D d;
  // Uses e = exp(-|x|) <= 1, which cannot overflow: 1 / (1 + e) for x >= 0, e / (1 + e) for x < 0.
  const V one = hn::Set(d, 1.0f);
  const V e = Exp(hn::Neg(hn::Abs(x)));
  const V numerator = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), e, one);
  return hn::Div(numerator, hn::Add(one, e));
}

// max(x, 0) + log(1 + e) with e = exp(-|x|) <= 1, which cannot overflow.
HWY_INLINE V Softplus(V x) {
  const D d;
  // Beyond it, 1 + e rounds to 1, and softplus to x or to e. It is TensorFlow's limit.
  const V limit = hn::Set(d, 13.9423847f);  // -(log(2^-23) + 2)
  const V size = hn::Abs(x), zero = hn::Zero(d);
  const V e = Exp(hn::Neg(size));
  const auto is_large = hn::Gt(size, limit);
  const V rest = hn::IfThenElse(is_large, e, hn::Log1p(d, e));
  const V positive = hn::IfThenElse(is_large, x, hn::Add(x, rest));
  const V y = hn::IfThenElse(hn::Lt(x, zero), rest, positive);
  return hn::IfThenElse(hn::IsNaN(x), x, y);
}

// x P(x^2) / Q(x^2) with the coefficients of Eigen 3.4. Beyond 4, erf rounds to 1.
HWY_INLINE V Erf(V x) {
  const D d;
  const V limit = hn::Set(d, 4.0f), one = hn::Set(d, 1.0f);
  const V c = hn::Max(hn::Min(x, limit), hn::Neg(limit)), z = hn::Mul(c, c);
  V p = hn::Set(d, -2.72614225801306e-10f);
  for (const float a : {2.77068142495902e-08f, -2.10102402082508e-06f, -5.69250639462346e-05f,
                        -7.34990630326855e-04f, -2.95459980854025e-03f, -1.60960333262415e-02f})
    p = hn::MulAdd(p, z, hn::Set(d, a));
  V q = hn::Set(d, -1.45660718464996e-05f);
  for (const float b : {-2.13374055278905e-04f, -1.68282697438203e-03f, -7.37332916720468e-03f,
                        -1.42647390514189e-02f})
    q = hn::MulAdd(q, z, hn::Set(d, b));
  const V y = hn::Div(hn::Mul(c, p), q);
  return hn::IfThenElse(hn::IsNaN(x), x, hn::Max(hn::Min(y, one), hn::Neg(one)));
}

// exp(y * log(x)) of half a vector, in double precision. So the error of the logarithm, which y
// multiplies, stays far below one unit of the float result.
template <typename DH, typename VH>
HWY_INLINE VH PowOfHalf(DH d, VH x, VH y) {
  const hn::Rebind<double, DH> dd;
  const auto base = hn::PromoteTo(dd, x), exponent = hn::PromoteTo(dd, y);
  const auto infinity = hn::Set(dd, std::numeric_limits<double>::infinity());
  // hn::Log has no result for 0 and infinity.
  auto log = hn::Log(dd, base);
  log = hn::IfThenElse(hn::Eq(base, hn::Zero(dd)), hn::Neg(infinity), log);
  log = hn::IfThenElse(hn::Eq(base, infinity), infinity, log);
  // Beyond e^+-200 the float result is infinite or zero.
  const auto limit = hn::Set(dd, 200.0);
  const auto power = hn::Mul(exponent, log);
  return hn::DemoteTo(d, hn::Exp(dd, hn::Max(hn::Min(power, limit), hn::Neg(limit))));
}

HWY_INLINE V Pow(V x, V y) {
  const D d;
  const hn::Half<D> dh;
  const V one = hn::Set(d, 1.0f), zero = hn::Zero(d);
  const V infinity = hn::Set(d, std::numeric_limits<float>::infinity());
  const V nan = hn::Set(d, std::numeric_limits<float>::quiet_NaN());
  const V base = hn::Abs(x), size = hn::Abs(y);
  V power = hn::Combine(d, PowOfHalf(dh, hn::UpperHalf(dh, base), hn::UpperHalf(dh, y)),
                        PowOfHalf(dh, hn::LowerHalf(dh, base), hn::LowerHalf(dh, y)));
  // From 2^24 on, every float is an even number.
  const auto is_integer = hn::Or(hn::Eq(hn::Round(y), y), hn::Ge(size, hn::Set(d, 16777216.0f)));
  const V half = hn::Mul(y, hn::Set(d, 0.5f));
  const auto is_odd = hn::And(hn::And(is_integer, hn::Ne(hn::Round(half), half)),
                              hn::Lt(size, hn::Set(d, 16777216.0f)));
  power = hn::IfThenElse(is_odd, hn::CopySign(power, x), power);
  // A negative finite base has no power by a fraction. -0 and -infinity have.
  const auto negative = hn::And(hn::Lt(x, zero), hn::Lt(base, infinity));
  power = hn::IfThenElse(hn::AndNot(is_integer, negative), nan, power);
  power = hn::IfThenElse(hn::Or(hn::IsNaN(x), hn::IsNaN(y)), nan, power);
  // 1 to any power is 1, also to NaN. So is -1 to the power of an infinity, and anything to 0.
  const auto is_one = hn::Or(hn::Eq(x, one), hn::And(hn::Eq(base, one), hn::Eq(size, infinity)));
  return hn::IfThenElse(hn::Or(is_one, hn::Eq(y, zero)), one, power);
}

// 2^x of x clamped to [-127, 128], where it is 0 and infinity. Below 2^-126 it has no exact digits.
// The polynomial has a relative error of 1.1e-7.
HWY_INLINE V Exp2(V x) {
  const D d;
  const hn::RebindToSigned<D> di;
  const V c = hn::Max(hn::Min(x, hn::Set(d, 128.0f)), hn::Set(d, -127.0f));
  const auto n = hn::NearestInt(c);
  const V f = hn::Sub(c, hn::ConvertTo(d, n));
  V p = hn::Set(d, 0.0013264798326417804f);
  for (const float a : {0.009671538136899471f, 0.05550733953714371f, 0.24022242426872253f,
                        0.6931470036506653f, 1.0f})
    p = hn::MulAdd(p, f, hn::Set(d, a));
  return hn::BitCast(d, hn::Add(hn::BitCast(di, p), hn::ShiftLeft<23>(n)));  // p 2^n
}

constexpr float kLog2E = 1.4426950408889634f;
constexpr float kRootHalf = 0.70710678118654752f;
constexpr float kInverseRoot2Pi = 0.39894228040143268f;
// gelu(x) with tanh is x s(x), where s(x) = 1 / (1 + exp(-2 u)),
// 2 u = x (kGeluSlope + kGeluCubicSlope x^2).
constexpr float kGeluSlope = 1.5957691216057308f;  // 2 sqrt(2 / pi)
constexpr float kGeluCubicSlope = 0.044715f * kGeluSlope;

HWY_INLINE V GeluApproximate(V x) {
  const D d;
  const V factor = hn::MulAdd(hn::Mul(x, x), hn::Set(d, -kLog2E * kGeluCubicSlope),
                              hn::Set(d, -kLog2E * kGeluSlope));
  return hn::Div(x, hn::Add(Exp2(hn::Mul(x, factor)), hn::Set(d, 1.0f)));
}

// dy (s + x s (1 - s) 2 u'), where 1 - s = e s with e = exp(-2 u).
HWY_INLINE V GeluApproximateGrad(V gradient, V x) {
  const D d;
  const V one = hn::Set(d, 1.0f);
  // s is 0 or 1 where x^2 is at the limit. Beyond it, 2 u' or e could be infinite, and 0 times it
  // NaN.
  const V square = hn::Min(hn::Mul(x, x), hn::Set(d, 400.0f));
  const V factor =
      hn::MulAdd(square, hn::Set(d, -kLog2E * kGeluCubicSlope), hn::Set(d, -kLog2E * kGeluSlope));
  const V e = Exp2(hn::Mul(x, factor));
  const V s = hn::Div(one, hn::Add(e, one));
  const V rest = hn::Mul(hn::Min(e, hn::Set(d, 1e30f)), s);
  const V slope = hn::MulAdd(square, hn::Set(d, 3 * kGeluCubicSlope), hn::Set(d, kGeluSlope));
  return hn::Mul(gradient, hn::MulAdd(hn::Mul(x, s), hn::Mul(rest, slope), s));
}

// The normal distribution: (1 + erf(x / sqrt(2))) / 2.
HWY_INLINE V NormalCdf(V x) {
  const V half = hn::Set(D(), 0.5f);
  return hn::MulAdd(Erf(hn::Mul(x, hn::Set(D(), kRootHalf))), half, half);
}

HWY_INLINE V Gelu(V x) { return hn::Mul(x, NormalCdf(x)); }

// dy (cdf(x) + x pdf(x)), where pdf(x) = exp(-x^2 / 2) / sqrt(2 pi).
HWY_INLINE V GeluGrad(V gradient, V x) {
  const D d;
  const V power = Exp2(hn::Mul(hn::Mul(x, x), hn::Set(d, -0.5f * kLog2E)));
  const V pdf = hn::Mul(power, hn::Set(d, kInverseRoot2Pi));
  return hn::Mul(gradient, hn::MulAdd(x, pdf, NormalCdf(x)));
}

}  // namespace HWY_NAMESPACE
}  // namespace estimator::fused
HWY_AFTER_NAMESPACE();

#endif  // ESTIMATOR_KERNELS_FUSED_TILE_FUNCTIONS_INL_H_
