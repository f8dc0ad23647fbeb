// The one-dimensional transforms of Winograd's algorithm for filters of 3 and 5 taps.
//
// A tile has kOut outputs and kOut + taps - 1 inputs. With d the inputs and g the filter,
//   y = Output(Filter(g) * Input(d)), element by element at kPoints points.
// Tiles have 4 outputs. The last tile of an axis may have 2 or, with 3 taps, 3: it uses a subset of
// the points. Its transformed filter at a point differs from the full tile's by a factor, and Input
// applies that factor, so both kinds of tiles use the same transformed filter.
// Gradient is the transpose of Output.
//
// Included once for every instruction set (Highway).
#if defined(ESTIMATOR_KERNELS_WINOGRAD_TRANSFORMS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ESTIMATOR_KERNELS_WINOGRAD_TRANSFORMS_INL_H_
#undef ESTIMATOR_KERNELS_WINOGRAD_TRANSFORMS_INL_H_
#else
#define ESTIMATOR_KERNELS_WINOGRAD_TRANSFORMS_INL_H_
#endif

#include <cstddef>
#include <cstdint>

#include "hwy/highway.h"

// Arrays of vectors stay in registers only if loops over them are unrolled.
#ifndef EST_UNROLL
#define EST_UNROLL _Pragma("GCC unroll 16")
#endif

HWY_BEFORE_NAMESPACE();
namespace estimator::winograd {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;
constexpr int64_t kLanes = static_cast<int64_t>(hn::MaxLanes(D()));
constexpr int64_t kPanel =
    2 * kLanes;  // the output channels that a matrix product computes at once

HWY_INLINE V Plus(V a, V b) { return hn::Add(a, b); }
HWY_INLINE V Minus(V a, V b) { return hn::Sub(a, b); }
// a + factor * b and a - factor * b
HWY_INLINE V Plus(V a, float factor, V b) { return hn::MulAdd(hn::Set(D(), factor), b, a); }
HWY_INLINE V Minus(V a, float factor, V b) { return hn::NegMulAdd(hn::Set(D(), factor), b, a); }
HWY_INLINE V Times(float factor, V a) { return hn::Mul(hn::Set(D(), factor), a); }

// Points 0, 1, -1, 2, -2, 1/2, -1/2, infinity.
struct Taps5 {
  static constexpr int kTaps = 5;
  static constexpr int kPoints = 8;
  static constexpr float kFilter[8][5] = {{1, 0, 0, 0, 0},
                                          {-2.f / 9, -2.f / 9, -2.f / 9, -2.f / 9, -2.f / 9},
                                          {-2.f / 9, 2.f / 9, -2.f / 9, 2.f / 9, -2.f / 9},
                                          {1.f / 90, 2.f / 90, 4.f / 90, 8.f / 90, 16.f / 90},
                                          {1.f / 90, -2.f / 90, 4.f / 90, -8.f / 90, 16.f / 90},
                                          {32.f / 45, 16.f / 45, 8.f / 45, 4.f / 45, 2.f / 45},
                                          {32.f / 45, -16.f / 45, 8.f / 45, -4.f / 45, 2.f / 45},
                                          {0, 0, 0, 0, 1}};
  // The outputs of the last tile of an axis that has `rest` outputs left.
  static constexpr int EdgeOutputs(int rest) { return rest > 0 && rest <= 2 ? 2 : 4; }
  // Whether a tile with `out` outputs uses the point.
  static constexpr bool Uses(int out, int point) { return out == 4 || point < 5 || point == 7; }

  template <int kOut>
  static HWY_INLINE void Input(const V* d, V* y) {
    if constexpr (kOut == 4) {
      y[0] = Plus(Minus(d[0], d[6]), 5.25f, Minus(d[4], d[2]));
      y[7] = Plus(Minus(d[7], d[1]), 5.25f, Minus(d[3], d[5]));
      V even = Minus(Plus(d[2], d[6]), 4.25f, d[4]);
      V odd = Minus(Plus(d[1], d[5]), 4.25f, d[3]);
      y[1] = Plus(even, odd);
      y[2] = Minus(even, odd);
      even = Minus(Plus(d[6], 0.25f, d[2]), 1.25f, d[4]);
      odd = Minus(Plus(d[5], 0.25f, d[1]), 1.25f, d[3]);
      y[3] = Plus(even, 2, odd);
      y[4] = Minus(even, 2, odd);
      even = Minus(Plus(d[6], 4, d[2]), 5, d[4]);
      odd = Minus(Plus(d[5], 4, d[1]), 5, d[3]);
      y[5] = Plus(even, 0.5f, odd);
      y[6] = Minus(even, 0.5f, odd);
    } else {  // the factor is p * p - 1/4
      y[0] = Plus(Minus(d[0], 1.25f, d[2]), 0.25f, d[4]);
      y[7] = Minus(Plus(d[5], 4, d[1]), 5, d[3]);
      V even = Minus(Times(0.75f, d[4]), 3, d[2]);
      V odd = Minus(Times(0.75f, d[3]), 3, d[1]);
      y[1] = Plus(even, odd);
      y[2] = Minus(even, odd);
      even = Times(3.75f, Minus(d[4], d[2]));
      odd = Times(7.5f, Minus(d[3], d[1]));
      y[3] = Plus(even, odd);
      y[4] = Minus(even, odd);
    }
  }

  template <int kOut>
  static HWY_INLINE void Output(const V* m, V* y) {
    const V sum1 = Plus(m[1], m[2]), difference1 = Minus(m[1], m[2]);
    const V sum2 = Plus(m[3], m[4]), difference2 = Minus(m[3], m[4]);
    if constexpr (kOut == 4) {
      const V sum3 = Plus(m[5], m[6]), difference3 = Minus(m[5], m[6]);
      y[0] = Plus(Plus(m[0], sum1), Plus(sum2, sum3));
      y[1] = Plus(Plus(difference1, 2, difference2), 0.5f, difference3);
      y[2] = Plus(Plus(sum1, 4, sum2), 0.25f, sum3);
      y[3] = Plus(Plus(Plus(m[7], difference1), 8, difference2), 0.125f, difference3);
    } else {
      y[0] = Plus(Plus(m[0], sum1), sum2);
      y[1] = Plus(Plus(m[7], difference1), 2, difference2);
    }
  }

  template <int kOut>
  static HWY_INLINE void Gradient(const V* y, V* m) {
    m[0] = y[0];
    m[7] = y[kOut - 1];
    if constexpr (kOut == 4) {
      V even = Plus(y[0], y[2]), odd = Plus(y[1], y[3]);
      m[1] = Plus(even, odd);
      m[2] = Minus(even, odd);
      even = Plus(y[0], 4, y[2]);
      odd = Plus(y[1], 4, y[3]);
      m[3] = Plus(even, 2, odd);
      m[4] = Minus(even, 2, odd);
      even = Plus(y[0], 0.25f, y[2]);
      odd = Plus(y[1], 0.25f, y[3]);
      m[5] = Plus(even, 0.5f, odd);
      m[6] = Minus(even, 0.5f, odd);
    } else {
      m[1] = Plus(y[0], y[1]);
      m[2] = Minus(y[0], y[1]);
      m[3] = Plus(y[0], 2, y[1]);
      m[4] = Minus(y[0], 2, y[1]);
    }
  }
};

// Points 0, 1, -1, 2, -2, infinity.
struct Taps3 {
  static constexpr int kTaps = 3;
  static constexpr int kPoints = 6;
  static constexpr float kFilter[6][3] = {{1.f / 4, 0, 0},
                                          {-1.f / 6, -1.f / 6, -1.f / 6},
                                          {-1.f / 6, 1.f / 6, -1.f / 6},
                                          {1.f / 24, 1.f / 12, 1.f / 6},
                                          {1.f / 24, -1.f / 12, 1.f / 6},
                                          {0, 0, 1}};
  static constexpr int EdgeOutputs(int rest) { return rest == 0 ? 4 : rest == 3 ? 3 : 2; }
  static constexpr bool Uses(int out, int point) { return out == 4 || point <= out || point == 5; }

  template <int kOut>
  static HWY_INLINE void Input(const V* d, V* y) {
    if constexpr (kOut == 4) {
      const V even1 = Minus(d[4], 4, d[2]), odd1 = Minus(d[3], 4, d[1]);
      const V even2 = Minus(d[4], d[2]), odd2 = Minus(d[3], d[1]);
      y[0] = Plus(Minus(d[4], 5, d[2]), 4, d[0]);
      y[1] = Plus(even1, odd1);
      y[2] = Minus(even1, odd1);
      y[3] = Plus(even2, 2, odd2);
      y[4] = Minus(even2, 2, odd2);
      y[5] = Plus(Minus(d[5], 5, d[3]), 4, d[1]);
    } else if constexpr (kOut == 3) {  // the factor is p + 2
      y[0] = Plus(Times(4, Minus(d[0], d[2])), 2, Minus(d[3], d[1]));
      y[1] = Minus(Times(3, Minus(d[3], d[2])), 6, d[1]);
      y[2] = Plus(Minus(d[3], 3, d[2]), 2, d[1]);
      y[3] = Times(4, Minus(d[3], d[1]));
      y[5] = Plus(Minus(d[4], d[2]), 2, Minus(d[1], d[3]));
    } else {  // the factor is p * p - 4
      y[0] = Times(4, Minus(d[0], d[2]));
      y[1] = Times(-3, Plus(d[1], d[2]));
      y[2] = Times(3, Minus(d[1], d[2]));
      y[5] = Minus(d[3], d[1]);
    }
  }

  template <int kOut>
  static HWY_INLINE void Output(const V* m, V* y) {
    const V sum1 = Plus(m[1], m[2]), difference1 = Minus(m[1], m[2]);
    if constexpr (kOut == 4) {
      const V sum2 = Plus(m[3], m[4]), difference2 = Minus(m[3], m[4]);
      y[0] = Plus(Plus(m[0], sum1), sum2);
      y[1] = Plus(difference1, 2, difference2);
      y[2] = Plus(sum1, 4, sum2);
      y[3] = Plus(Plus(m[5], difference1), 8, difference2);
    } else if constexpr (kOut == 3) {
      y[0] = Plus(Plus(m[0], sum1), m[3]);
      y[1] = Plus(difference1, 2, m[3]);
      y[2] = Plus(Plus(m[5], sum1), 4, m[3]);
    } else {
      y[0] = Plus(m[0], sum1);
      y[1] = Plus(m[5], difference1);
    }
  }

  template <int kOut>
  static HWY_INLINE void Gradient(const V* y, V* m) {
    m[0] = y[0];
    m[5] = y[kOut - 1];
    if constexpr (kOut == 4) {
      const V even1 = Plus(y[0], y[2]), odd1 = Plus(y[1], y[3]);
      m[1] = Plus(even1, odd1);
      m[2] = Minus(even1, odd1);
      const V even2 = Plus(y[0], 4, y[2]), odd2 = Plus(y[1], 4, y[3]);
      m[3] = Plus(even2, 2, odd2);
      m[4] = Minus(even2, 2, odd2);
    } else if constexpr (kOut == 3) {
      const V even = Plus(y[0], y[2]);
      m[1] = Plus(even, y[1]);
      m[2] = Minus(even, y[1]);
      m[3] = Plus(Plus(y[0], 2, y[1]), 4, y[2]);
    } else {
      m[1] = Plus(y[0], y[1]);
      m[2] = Minus(y[0], y[1]);
    }
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace estimator::winograd
HWY_AFTER_NAMESPACE();

#endif  // the toggle of each instruction set
