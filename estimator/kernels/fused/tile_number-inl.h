// A vector of floats as the kind of number for the formulas of op_def/elementwise_table.h. The
// functions are those of tile_functions-inl.h.
//
// A file that Highway's foreach_target.h compiles once for every instruction set includes this
// after tile_functions-inl.h.
#if defined(ESTIMATOR_KERNELS_FUSED_TILE_NUMBER_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ESTIMATOR_KERNELS_FUSED_TILE_NUMBER_INL_H_
#undef ESTIMATOR_KERNELS_FUSED_TILE_NUMBER_INL_H_
#else
#define ESTIMATOR_KERNELS_FUSED_TILE_NUMBER_INL_H_
#endif

#include <concepts>

#include "estimator/kernels/fused/tile_functions-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace estimator::fused {
namespace HWY_NAMESPACE {

struct TileNumber;

// The truth values of a vector's elements.
struct TileMask {
  hn::Mask<D> m;
  friend HWY_INLINE TileMask operator&(TileMask a, TileMask b) { return {hn::And(a.m, b.m)}; }
};

struct TileNumber {
  V v;

  HWY_INLINE TileNumber(V vector) : v(vector) {}  // NOLINT
  HWY_INLINE TileNumber(double constant)
      : v(hn::Set(D(), static_cast<float>(constant))) {}  // NOLINT
  using N = TileNumber;

  friend HWY_INLINE N operator+(N a, N b) { return hn::Add(a.v, b.v); }
  friend HWY_INLINE N operator-(N a, N b) { return hn::Sub(a.v, b.v); }
  friend HWY_INLINE N operator*(N a, N b) { return hn::Mul(a.v, b.v); }
  friend HWY_INLINE N operator/(N a, N b) { return hn::Div(a.v, b.v); }
  friend HWY_INLINE N operator-(N x) { return hn::Neg(x.v); }
  friend HWY_INLINE TileMask operator==(N a, N b) { return {hn::Eq(a.v, b.v)}; }
  friend HWY_INLINE TileMask operator<(N a, N b) { return {hn::Lt(a.v, b.v)}; }
  friend HWY_INLINE TileMask operator<=(N a, N b) { return {hn::Le(a.v, b.v)}; }
  friend HWY_INLINE TileMask operator>(N a, N b) { return {hn::Gt(a.v, b.v)}; }
  friend HWY_INLINE TileMask operator>=(N a, N b) { return {hn::Ge(a.v, b.v)}; }
  friend HWY_INLINE N Select(TileMask c, N a, N b) { return hn::IfThenElse(c.m, a.v, b.v); }
  // An "and" is faster than a selection from zero.
  template <std::same_as<int> Int>
  friend HWY_INLINE N Select(TileMask c, N a, Int b) {
    return b == 0 ? N(hn::IfThenElseZero(c.m, a.v)) : Select(c, a, N(b));
  }
  friend HWY_INLINE N NegMulAdd(N a, N b, N c) { return hn::NegMulAdd(a.v, b.v, c.v); }
  friend HWY_INLINE N Square(N x) { return hn::Mul(x.v, x.v); }
  friend HWY_INLINE N Abs(N x) { return hn::Abs(x.v); }
  friend HWY_INLINE N Sqrt(N x) { return hn::Sqrt(x.v); }
  friend HWY_INLINE N Rsqrt(N x) { return 1 / Sqrt(x); }
  friend HWY_INLINE N Expm1(N x) { return hn::Expm1(D(), x.v); }
  // As in TensorFlow, NaN if an operand is NaN.
  friend HWY_INLINE N Max(N a, N b) { return Select({hn::IsNaN(a.v)}, a, Select(a > b, a, b)); }
  friend HWY_INLINE N Min(N a, N b) { return Select({hn::IsNaN(a.v)}, a, Select(a < b, a, b)); }

#define EST_FUNCTION(name) \
  friend HWY_INLINE N name(N x) { return HWY_NAMESPACE::name(x.v); }
  EST_FUNCTION(Exp)
  EST_FUNCTION(Log)
  EST_FUNCTION(Tanh)
  EST_FUNCTION(Sigmoid)
  EST_FUNCTION(Erf)
  EST_FUNCTION(Softplus)
  EST_FUNCTION(Gelu)
  EST_FUNCTION(GeluApproximate)
#undef EST_FUNCTION
#define EST_FUNCTION(name) \
  friend HWY_INLINE N name(N x, N y) { return HWY_NAMESPACE::name(x.v, y.v); }
  EST_FUNCTION(Pow)
  EST_FUNCTION(GeluGrad)
  EST_FUNCTION(GeluApproximateGrad)
#undef EST_FUNCTION
};

}  // namespace HWY_NAMESPACE
}  // namespace estimator::fused
HWY_AFTER_NAMESPACE();

#endif  // ESTIMATOR_KERNELS_FUSED_TILE_NUMBER_INL_H_
