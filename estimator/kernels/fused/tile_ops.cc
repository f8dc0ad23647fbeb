#include "estimator/kernels/fused/tile_ops.h"

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
#include "estimator/kernels/fused/tile_functions-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace estimator::fused {
namespace HWY_NAMESPACE {

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
    EST_TILE_CASE(kGelu, 1, Gelu(x))
    EST_TILE_CASE(kGeluGrad, 2, GeluGrad(x, y))
    EST_TILE_CASE(kGeluApproximate, 1, GeluApproximate(x))
    EST_TILE_CASE(kGeluApproximateGrad, 2, GeluApproximateGrad(x, y))
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
    {"_Gelu", {TileOp::kGelu, 1, false, false}},
    {"_GeluGrad", {TileOp::kGeluGrad, 2, false, false}},
    {"_GeluApproximate", {TileOp::kGeluApproximate, 1, false, false}},
    {"_GeluApproximateGrad", {TileOp::kGeluApproximateGrad, 2, false, false}},
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
