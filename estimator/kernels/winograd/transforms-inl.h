// The one-dimensional transforms of Winograd's algorithm: F43, F45 and F65, for tiles of 4 or 6
// outputs and filters of 3 or 5 taps. On both axes, F43 is what the literature calls F(4x4, 3x3).
//
// A tile has kOut outputs and kOut + taps - 1 inputs. With d the inputs and g the filter,
//   y = Output(Filter(g) * Input(d)), element by element at kPoints points.
// The last tile of an axis may have fewer outputs, 2 or kMiddleEdge (0: only 2): it uses a subset
// of the points. Its transformed filter at a point differs from the full tile's by a factor, and
// Input applies that factor, so all kinds of tiles use the same transformed filter. Gradient is the
// transpose of Output.
//
// Included once for every instruction set (Highway).
#if defined(ESTIMATOR_KERNELS_WINOGRAD_TRANSFORMS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ESTIMATOR_KERNELS_WINOGRAD_TRANSFORMS_INL_H_
#undef ESTIMATOR_KERNELS_WINOGRAD_TRANSFORMS_INL_H_
#else
#define ESTIMATOR_KERNELS_WINOGRAD_TRANSFORMS_INL_H_
#endif

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "estimator/kernels/winograd/winograd.h"
#include "hwy/highway.h"

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

template <float kFactor>
HWY_INLINE V Scaled(V a) {
  if constexpr (kFactor == 1) return a;
  return Times(kFactor, a);
}
// a + kFactor * b
template <float kFactor>
HWY_INLINE V PlusScaled(V a, V b) {
  if constexpr (kFactor == 1) return Plus(a, b);
  if constexpr (kFactor == -1) return Minus(a, b);
  if constexpr (kFactor < 0) return Minus(a, -kFactor, b);  // shares the constant of +kFactor
  return Plus(a, kFactor, b);
}

constexpr double Power(double number, int exponent) {
  double power = 1;
  for (int i = 0; i < exponent; ++i) power *= number;
  return power;
}

// Points 0, s and -s for each s of kNumbersOf, infinity. Edge tiles have an even number of outputs
// and use the first numbers.
//   Source of the choice of points: Barabasz et al., "Error Analysis and Improving the Accuracy of
//   Winograd Convolution for Deep Neural Networks", 2020.
template <int kTapsOf, double... kNumbersOf>
struct Symmetric {
  static constexpr std::array<double, sizeof...(kNumbersOf)> kNumbers = {kNumbersOf...};
  static constexpr int kTaps = kTapsOf;
  static constexpr int kPoints = 2 * static_cast<int>(kNumbers.size()) + 2;
  static constexpr int kOutputs = kPoints - kTaps + 1;
  static constexpr int kMiddleEdge = kOutputs > 4 ? 4 : 0;

  // How many of the numbers a tile with `out` outputs uses, and whether it uses a point.
  static constexpr int Used(int out) { return (out + kTaps - 3) / 2; }
  static constexpr bool Uses(int out, int point) {
    return point <= 2 * Used(out) || point == kPoints - 1;
  }

  // For a point p but infinity, tap t: p^t / (the product of p - q over the other points q).
  static constexpr std::array<std::array<float, kTaps>, kPoints> MakeFilter() {
    const auto point = [](int i) {
      const double number = i == 0 ? 0 : kNumbers[static_cast<size_t>(i - 1) / 2];
      return i % 2 == 0 ? -number : number;
    };
    std::array<std::array<float, kTaps>, kPoints> filter = {};
    for (int i = 0; i < kPoints - 1; ++i) {
      double product = 1;
      for (int q = 0; q < kPoints - 1; ++q) {
        if (q != i) product *= point(i) - point(q);
      }
      for (int t = 0; t < kTaps; ++t) {
        filter[static_cast<size_t>(i)][static_cast<size_t>(t)] =
            static_cast<float>(Power(point(i), t) / product);
      }
    }
    // At infinity a polynomial is its highest coefficient.
    filter[kPoints - 1][kTaps - 1] = 1;
    return filter;
  }
  static constexpr std::array<std::array<float, kTaps>, kPoints> kFilter = MakeFilter();

  template <int kOut>
  static HWY_INLINE void Input(const V* d, V* y) {
    constexpr int kUsed = Used(kOut);
    y[0] = Sum<Coefficients<kUsed>(UnusedFactor(kUsed, 0)), 2 * kUsed>(d, Indices<kUsed>());
    y[kPoints - 1] = Sum<Coefficients<kUsed>(1), 2 * kUsed + 1>(d, Indices<kUsed>());
    InputPairs<kUsed>(d, y, Indices<kUsed>());
  }

  template <int kOut>
  static HWY_INLINE void Output(const V* m, V* y) {
    constexpr int kUsed = Used(kOut);
    V sums[kUsed], differences[kUsed];
    EST_UNROLL for (int n = 0; n < kUsed; ++n) {
      sums[n] = Plus(m[2 * n + 1], m[2 * n + 2]);
      differences[n] = Minus(m[2 * n + 1], m[2 * n + 2]);
    }
    Outputs<kUsed>(m, sums, differences, y, Indices<kOut>());
  }

  template <int kOut>
  static HWY_INLINE void Gradient(const V* y, V* m) {
    m[0] = y[0];
    m[kPoints - 1] = y[kOut - 1];
    GradientPairs<kOut>(y, m, Indices<Used(kOut)>());
  }

 private:
  template <int kCount>
  using Indices = std::make_index_sequence<static_cast<size_t>(kCount)>;

  static constexpr double Square(size_t n) { return kNumbers[n] * kNumbers[n]; }

  // The factor of an edge tile's input at a point with this square: the product of (square - s * s)
  // over the numbers s that it does not use.
  static constexpr double UnusedFactor(int used, double square) {
    double factor = 1;
    for (size_t n = static_cast<size_t>(used); n < kNumbers.size(); ++n)
      factor *= square - Square(n);
    return factor;
  }

  // Of the product of (x - s * s) over the numbers s that are used, highest power first, times
  // `factor`.
  //   without: the number of one to leave out.
  template <int kCount>
  static constexpr std::array<float, static_cast<size_t>(kCount) + 1> Coefficients(
      double factor, size_t without = kNumbers.size()) {
    std::array<double, static_cast<size_t>(kCount) + 1> product = {factor};
    for (size_t n = 0, length = 1; length < product.size(); ++n) {
      if (n == without) continue;
      for (size_t i = length; i > 0; --i) product[i] -= Square(n) * product[i - 1];
      ++length;
    }
    std::array<float, product.size()> result = {};
    for (size_t i = 0; i < product.size(); ++i) result[i] = static_cast<float>(product[i]);
    return result;
  }

  // The sum of kFactors[i] * d[kLast - 2 * i].
  template <std::array kFactors, int kLast, size_t... kIndex>
  static HWY_INLINE V Sum(const V* d, std::index_sequence<kIndex...>) {
    V sum = Scaled<kFactors[0]>(d[kLast]);
    ((sum = PlusScaled<kFactors[kIndex + 1]>(sum, d[kLast - 2 * static_cast<int>(kIndex) - 2])),
     ...);
    return sum;
  }

  template <int kUsed, size_t... kNumber>
  static HWY_INLINE void InputPairs(const V* d, V* y, std::index_sequence<kNumber...>) {
    (InputPair<kUsed, kNumber>(d, y), ...);
  }
  template <int kUsed, size_t kNumber>
  static HWY_INLINE void InputPair(const V* d, V* y) {
    constexpr auto kFactors =
        Coefficients<kUsed - 1>(UnusedFactor(kUsed, Square(kNumber)), kNumber);
    constexpr float kS = static_cast<float>(kNumbers[kNumber]);
    const V even = Sum<kFactors, 2 * kUsed>(d, Indices<kUsed - 1>());
    const V odd = Sum<kFactors, 2 * kUsed - 1>(d, Indices<kUsed - 1>());
    y[2 * kNumber + 1] = PlusScaled<kS>(even, odd);
    y[2 * kNumber + 2] = PlusScaled<-kS>(even, odd);
  }

  static constexpr float PowerOf(size_t number, size_t exponent) {
    return static_cast<float>(Power(kNumbers[number], static_cast<int>(exponent)));
  }

  template <int kUsed, size_t... kOutput>
  static HWY_INLINE void Outputs(const V* m, const V* sums, const V* differences, V* y,
                                 std::index_sequence<kOutput...>) {
    ((y[kOutput] = OutputAt<kOutput, kOutput == sizeof...(kOutput) - 1>(
          m, kOutput % 2 == 0 ? sums : differences, Indices<kUsed - 1>())),
     ...);
  }
  // The sum of s^kOutput * terms[n] over the numbers s that are used, and of points 0 and infinity.
  template <size_t kOutput, bool kLast, size_t... kIndex>
  static HWY_INLINE V OutputAt(const V* m, const V* terms, std::index_sequence<kIndex...>) {
    constexpr float kFirst = PowerOf(0, kOutput);
    V sum = kOutput == 0 ? Plus(m[0], terms[0])
            : kLast      ? PlusScaled<kFirst>(m[kPoints - 1], terms[0])
                         : Scaled<kFirst>(terms[0]);
    ((sum = PlusScaled<PowerOf(kIndex + 1, kOutput)>(sum, terms[kIndex + 1])), ...);
    return sum;
  }

  template <int kOut, size_t... kNumber>
  static HWY_INLINE void GradientPairs(const V* y, V* m, std::index_sequence<kNumber...>) {
    (GradientPair<kNumber>(y, m, Indices<kOut / 2 - 1>()), ...);
  }
  template <size_t kNumber, size_t... kIndex>
  static HWY_INLINE void GradientPair(const V* y, V* m, std::index_sequence<kIndex...>) {
    constexpr float kS = static_cast<float>(kNumbers[kNumber]);
    V even = y[0], odd = y[1];
    ((even = PlusScaled<PowerOf(kNumber, 2 * kIndex + 2)>(even, y[2 * kIndex + 2])), ...);
    ((odd = PlusScaled<PowerOf(kNumber, 2 * kIndex + 2)>(odd, y[2 * kIndex + 3])), ...);
    m[2 * kNumber + 1] = PlusScaled<kS>(even, odd);
    m[2 * kNumber + 2] = PlusScaled<-kS>(even, odd);
  }
};

using F45 = Symmetric<5, 1.0, 2.0, 0.5>;
using F65 = Symmetric<5, 0.5, 2.5, 0.8, 1.25>;

// Points 0, 1, -1, 2, -2, infinity.
struct F43 {
  static constexpr int kTaps = 3;
  static constexpr int kPoints = 6;
  static constexpr int kOutputs = 4;
  static constexpr int kMiddleEdge = 3;
  static constexpr float kFilter[6][3] = {{1.f / 4, 0, 0},
                                          {-1.f / 6, -1.f / 6, -1.f / 6},
                                          {-1.f / 6, 1.f / 6, -1.f / 6},
                                          {1.f / 24, 1.f / 12, 1.f / 6},
                                          {1.f / 24, -1.f / 12, 1.f / 6},
                                          {0, 0, 1}};
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

// Calls function(F()) with the transforms of a convolution's tiles.
template <class Function>
HWY_INLINE void WithTransforms(const Convolution& conv, const Function& function) {
  if (conv.filter_rows == 3) return function(F43());
  if (conv.tile == 4) return function(F45());
  function(F65());
}

// Calls function(std::integral_constant<int, outputs>) for a full tile or one at an edge.
template <class F, class Function>
HWY_INLINE void WithOutputs(int outputs, const Function& function) {
  if (outputs == F::kOutputs) return function(std::integral_constant<int, F::kOutputs>());
  if constexpr (F::kMiddleEdge != 0) {
    if (outputs == F::kMiddleEdge) return function(std::integral_constant<int, F::kMiddleEdge>());
  }
  function(std::integral_constant<int, 2>());
}

}  // namespace HWY_NAMESPACE
}  // namespace estimator::winograd
HWY_AFTER_NAMESPACE();

#endif  // the toggle of each instruction set
