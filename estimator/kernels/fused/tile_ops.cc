#include "estimator/kernels/fused/tile_ops.h"

#include <limits>

// Highway's foreach_target.h compiles this file once for every instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "estimator/kernels/fused/tile_ops.cc"
#define HWY_DISABLE_PCLMUL_AES  // x86-64-v3 lacks it and we do not use it; so AVX2 is the baseline
// The order matters: each header includes this file, or needs what the header before it defined.
// clang-format off
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "hwy/contrib/math/math-inl.h"
#include "estimator/kernels/fused/bfloat16_vectors-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace estimator::fused {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

// Applies fn(va, vb, vc) to whole vectors. The remaining elements are padded to one vector.
//   T: float or Bfloat16, the dtype of operands and result.
template <int kOperands, typename T, typename Fn>
HWY_INLINE void Map(const T* a, const T* b, const T* c, T* out, size_t n, Fn fn) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  const auto apply = [&](const T* pa, const T* pb, const T* pc, T* po) HWY_ATTR {
    const V va = LoadFloats(d, pa);
    const V vb = kOperands > 1 ? LoadFloats(d, pb) : va;
    const V vc = kOperands > 2 ? LoadFloats(d, pc) : va;
    StoreFloats(fn(va, vb, vc), d, po);
  };
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) apply(a + i, b + i, c + i, out + i);
  if (i == n) return;
  HWY_ALIGN T ta[hn::MaxLanes(d)] = {}, tb[hn::MaxLanes(d)] = {}, tc[hn::MaxLanes(d)] = {},
              to[hn::MaxLanes(d)];
  for (size_t j = i; j < n; ++j) {
    ta[j - i] = a[j];
    if constexpr (kOperands > 1) tb[j - i] = b[j];
    if constexpr (kOperands > 2) tc[j - i] = c[j];
  }
  apply(ta, tb, tc, to);
  for (size_t j = i; j < n; ++j) out[j] = to[j - i];
}

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

// x P(x^2) / Q(x^2) with the coefficients of Eigen 3.4, which TensorFlow's tanh has too. It takes
// half the time of hn::Tanh.
HWY_INLINE V Tanh(V x) {
  const D d;
  const V limit = hn::Set(d, 7.90531110763549805f), size = hn::Abs(x);
  const V c = hn::Max(hn::Min(x, limit), hn::Neg(limit)), z = hn::Mul(c, c);
  V p = hn::Set(d, -2.76076847742355e-16f);
  for (const float a : {2.00018790482477e-13f, -8.60467152213735e-11f, 5.12229709037114e-08f,
                        1.48572235717979e-05f, 6.37261928875436e-04f, 4.89352455891786e-03f})
    p = hn::MulAdd(p, z, hn::Set(d, a));
  V q = hn::Set(d, 1.19825839466702e-06f);
  for (const float b : {1.18534705686654e-04f, 2.26843463243900e-03f, 4.89352518554385e-03f})
    q = hn::MulAdd(q, z, hn::Set(d, b));
  V y = hn::Div(hn::Mul(c, p), q);
  y = hn::IfThenElse(hn::Lt(size, hn::Set(d, 4e-4f)), x, y);  // tanh(x) rounds to x
  // tanh(9.1) rounds to 1.
  y = hn::IfThenElse(hn::Gt(size, hn::Set(d, 9.1f)), hn::CopySign(hn::Set(d, 1.0f), x), y);
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

// selu(x) = kSeluScale * x for x >= 0, kSeluScaleAlpha * (exp(x) - 1) for x < 0.
constexpr float kSeluScale = 1.0507009873554804934193349852946f;
constexpr float kSeluScaleAlpha = 1.7580993408473768599402175208123f;

HWY_INLINE V Elu(V x) {
  const D d;
  return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Expm1(d, x), x);
}

HWY_INLINE V Selu(V x) {
  const D d;
  const V scale =
      hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Set(d, kSeluScaleAlpha), hn::Set(d, kSeluScale));
  return hn::Mul(scale, Elu(x));
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

HWY_INLINE V SoftplusGrad(V gradient, V x) {
  return hn::Div(gradient, hn::Add(Exp(hn::Neg(x)), hn::Set(D(), 1.0f)));
}

HWY_INLINE V Softsign(V x) { return hn::Div(x, hn::Add(hn::Abs(x), hn::Set(D(), 1.0f))); }

HWY_INLINE V SoftsignGrad(V gradient, V x) {
  const V sum = hn::Add(hn::Abs(x), hn::Set(D(), 1.0f));
  return hn::Div(gradient, hn::Mul(sum, sum));
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

template <typename M>
HWY_INLINE V ToVector(M mask) {
  return hn::VecFromMask(D(), mask);
}

// The ops that cost less than reading their operands. As in TensorFlow, Maximum and Minimum are NaN
// if an operand is NaN. `alphas` is a vector of the attribute alpha.
#define EST_CHEAP_TILE_CASES(CASE)                                                                 \
  CASE(kAddV2, 2, hn::Add(x, y))                                                                   \
  CASE(kSub, 2, hn::Sub(x, y))                                                                     \
  CASE(kMul, 2, hn::Mul(x, y))                                                                     \
  CASE(kMaximum, 2, hn::IfThenElse(hn::IsNaN(x), x, hn::IfThenElse(hn::Gt(x, y), x, y)))           \
  CASE(kMinimum, 2, hn::IfThenElse(hn::IsNaN(x), x, hn::IfThenElse(hn::Lt(x, y), x, y)))           \
  CASE(kSquaredDifference, 2, hn::Mul(hn::Sub(x, y), hn::Sub(x, y)))                               \
  CASE(kNeg, 1, hn::Neg(x))                                                                        \
  CASE(kAbs, 1, hn::Abs(x))                                                                        \
  CASE(kSquare, 1, hn::Mul(x, x))                                                                  \
  CASE(kRelu, 1, hn::IfThenElse(hn::Lt(x, hn::Zero(D())), hn::Zero(D()), x))                       \
  CASE(kRelu6, 1,                                                                                  \
       hn::IfThenElse(hn::Lt(x, hn::Zero(D())), hn::Zero(D()),                                     \
                      hn::IfThenElse(hn::Gt(x, hn::Set(D(), 6.0f)), hn::Set(D(), 6.0f), x)))       \
  CASE(kReluGrad, 2, hn::IfThenElseZero(hn::Gt(y, hn::Zero(D())), x))                              \
  CASE(kRelu6Grad, 2,                                                                              \
       hn::IfThenElseZero(hn::And(hn::Gt(y, hn::Zero(D())), hn::Lt(y, hn::Set(D(), 6.0f))), x))    \
  CASE(kTanhGrad, 2, hn::Mul(y, hn::NegMulAdd(x, x, hn::Set(D(), 1.0f))))                          \
  CASE(kSigmoidGrad, 2, hn::Mul(hn::Mul(y, x), hn::Sub(hn::Set(D(), 1.0f), x)))                    \
  CASE(kEluGrad, 2,                                                                                \
       hn::IfThenElse(hn::Lt(y, hn::Zero(D())), hn::Mul(x, hn::Add(y, hn::Set(D(), 1.0f))), x))    \
  CASE(kSeluGrad, 2,                                                                               \
       hn::Mul(x,                                                                                  \
               hn::IfThenElse(hn::Lt(y, hn::Zero(D())), hn::Add(y, hn::Set(D(), kSeluScaleAlpha)), \
                              hn::Set(D(), kSeluScale))))                                          \
  CASE(kLeakyRelu, 1, hn::IfThenElse(hn::Gt(x, hn::Zero(D())), x, hn::Mul(x, alphas)))             \
  CASE(kLeakyReluGrad, 2, hn::IfThenElse(hn::Gt(y, hn::Zero(D())), x, hn::Mul(x, alphas)))

#define EST_TILE_CASE(name, operands, expression)                     \
  case TileOp::name:                                                  \
    Map<operands>(a, b, c, out, n, [alphas](V x, V y, V z) HWY_ATTR { \
      (void)alphas, (void)x, (void)y, (void)z;                        \
      return expression;                                              \
    });                                                               \
    break;

void RunTile(TileOp op, const float* a, const float* b, const float* c, float* out, size_t n,
             float alpha) {
  const V alphas = hn::Set(D(), alpha);
  switch (op) {
    EST_CHEAP_TILE_CASES(EST_TILE_CASE)
    EST_TILE_CASE(kRealDiv, 2, hn::Div(x, y))
    EST_TILE_CASE(kPow, 2, Pow(x, y))
    EST_TILE_CASE(kSqrt, 1, hn::Sqrt(x))
    EST_TILE_CASE(kRsqrt, 1, hn::Div(hn::Set(D(), 1.0f), hn::Sqrt(x)))
    EST_TILE_CASE(kReciprocal, 1, hn::Div(hn::Set(D(), 1.0f), x))
    EST_TILE_CASE(kExp, 1, Exp(x))
    EST_TILE_CASE(kLog, 1, Log(x))
    EST_TILE_CASE(kTanh, 1, Tanh(x))
    EST_TILE_CASE(kSigmoid, 1, Sigmoid(x))
    EST_TILE_CASE(kErf, 1, Erf(x))
    EST_TILE_CASE(kElu, 1, Elu(x))
    EST_TILE_CASE(kSelu, 1, Selu(x))
    EST_TILE_CASE(kSoftplus, 1, Softplus(x))
    EST_TILE_CASE(kSoftplusGrad, 2, SoftplusGrad(x, y))
    EST_TILE_CASE(kSoftsign, 1, Softsign(x))
    EST_TILE_CASE(kSoftsignGrad, 2, SoftsignGrad(x, y))
    EST_TILE_CASE(kGreater, 2, ToVector(hn::Gt(x, y)))
    EST_TILE_CASE(kGreaterEqual, 2, ToVector(hn::Ge(x, y)))
    EST_TILE_CASE(kLess, 2, ToVector(hn::Lt(x, y)))
    EST_TILE_CASE(kLessEqual, 2, ToVector(hn::Le(x, y)))
    EST_TILE_CASE(kSelectV2, 3, hn::IfThenElse(hn::MaskFromVec(x), y, z))
  }
}

void RunBfloat16(TileOp op, const Bfloat16* a, const Bfloat16* b, Bfloat16* out, size_t n,
                 float alpha) {
  const Bfloat16* const c = a;  // none of these ops has three operands
  const V alphas = hn::Set(D(), alpha);
  switch (op) {
    EST_CHEAP_TILE_CASES(EST_TILE_CASE)
    default:
      break;
  }
}
#undef EST_TILE_CASE

void ExpShifted(const float* x, float shift, float* out, size_t n) {
  const V shifts = hn::Set(D(), shift);
  Map<1>(x, x, x, out, n, [shifts](V v, V, V) HWY_ATTR { return Exp(hn::Sub(v, shifts)); });
}

}  // namespace HWY_NAMESPACE
}  // namespace estimator::fused
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace estimator::fused {
namespace {

struct Entry {
  absl::string_view name;
  TileOpInfo info;
};

constexpr Entry kEntries[] = {
    {"AddV2", {TileOp::kAddV2, 2, false, false}},
    {"Sub", {TileOp::kSub, 2, false, false}},
    {"Mul", {TileOp::kMul, 2, false, false}},
    {"RealDiv", {TileOp::kRealDiv, 2, false, false}},
    {"Maximum", {TileOp::kMaximum, 2, false, false, true}},
    {"Minimum", {TileOp::kMinimum, 2, false, false, true}},
    {"Pow", {TileOp::kPow, 2, false, false}},
    {"SquaredDifference", {TileOp::kSquaredDifference, 2, false, false}},
    {"Neg", {TileOp::kNeg, 1, false, false, true}},
    {"Abs", {TileOp::kAbs, 1, false, false, true}},
    {"Square", {TileOp::kSquare, 1, false, false}},
    {"Sqrt", {TileOp::kSqrt, 1, false, false}},
    {"Rsqrt", {TileOp::kRsqrt, 1, false, false}},
    {"Reciprocal", {TileOp::kReciprocal, 1, false, false}},
    {"Exp", {TileOp::kExp, 1, false, false}},
    {"Log", {TileOp::kLog, 1, false, false}},
    {"Tanh", {TileOp::kTanh, 1, false, false}},
    {"Sigmoid", {TileOp::kSigmoid, 1, false, false}},
    {"Erf", {TileOp::kErf, 1, false, false}},
    {"Relu", {TileOp::kRelu, 1, false, false, true}},
    {"Relu6", {TileOp::kRelu6, 1, false, false, true}},
    {"ReluGrad", {TileOp::kReluGrad, 2, false, false, true}},
    {"Relu6Grad", {TileOp::kRelu6Grad, 2, false, false, true}},
    {"TanhGrad", {TileOp::kTanhGrad, 2, false, false}},
    {"SigmoidGrad", {TileOp::kSigmoidGrad, 2, false, false}},
    {"Elu", {TileOp::kElu, 1, false, false}},
    {"EluGrad", {TileOp::kEluGrad, 2, false, false}},
    {"Selu", {TileOp::kSelu, 1, false, false}},
    {"SeluGrad", {TileOp::kSeluGrad, 2, false, false}},
    {"LeakyRelu", {.op = TileOp::kLeakyRelu, .num_operands = 1, .has_alpha = true}},
    {"LeakyReluGrad", {.op = TileOp::kLeakyReluGrad, .num_operands = 2, .has_alpha = true}},
    {"Softplus", {TileOp::kSoftplus, 1, false, false}},
    {"SoftplusGrad", {TileOp::kSoftplusGrad, 2, false, false}},
    {"Softsign", {TileOp::kSoftsign, 1, false, false}},
    {"SoftsignGrad", {TileOp::kSoftsignGrad, 2, false, false}},
    {"Greater", {TileOp::kGreater, 2, false, true}},
    {"GreaterEqual", {TileOp::kGreaterEqual, 2, false, true}},
    {"Less", {TileOp::kLess, 2, false, true}},
    {"LessEqual", {TileOp::kLessEqual, 2, false, true}},
    {"SelectV2", {TileOp::kSelectV2, 3, true, false, true}},
};

HWY_EXPORT(RunTile);
HWY_EXPORT(RunBfloat16);
HWY_EXPORT(ExpShifted);

}  // namespace

std::optional<TileOpInfo> FindTileOp(absl::string_view name) {
  for (const Entry& entry : kEntries) {
    if (entry.name == name) return entry.info;
  }
  return std::nullopt;
}

void RunTile(TileOp op, const float* a, const float* b, const float* c, float* out, size_t n,
             float alpha) {
  HWY_DYNAMIC_DISPATCH(RunTile)(op, a, b, c, out, n, alpha);
}

bool IsCheapTileOp(TileOp op) {
  switch (op) {
#define EST_TILE_CASE(name, operands, expression) case TileOp::name:
    EST_CHEAP_TILE_CASES(EST_TILE_CASE)
#undef EST_TILE_CASE
#undef EST_CHEAP_TILE_CASES
    return true;
    default:
      return false;
  }
}

void RunBfloat16Tile(TileOp op, const Bfloat16* a, const Bfloat16* b, Bfloat16* out, size_t n,
                     float alpha) {
  HWY_DYNAMIC_DISPATCH(RunBfloat16)(op, a, b, out, n, alpha);
}

void ExpShifted(const float* x, float shift, float* out, size_t n) {
  HWY_DYNAMIC_DISPATCH(ExpShifted)(x, shift, out, n);
}

}  // namespace estimator::fused
#endif  // HWY_ONCE
