// Small matrix products whose operands are in the cache: the inner loops of Winograd's algorithm.
//
// Included once for every instruction set (Highway).
#if defined(ESTIMATOR_KERNELS_WINOGRAD_PRODUCT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ESTIMATOR_KERNELS_WINOGRAD_PRODUCT_INL_H_
#undef ESTIMATOR_KERNELS_WINOGRAD_PRODUCT_INL_H_
#else
#define ESTIMATOR_KERNELS_WINOGRAD_PRODUCT_INL_H_
#endif

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "estimator/kernels/winograd/transforms-inl.h"
#include "hwy/cache_control.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace estimator::winograd {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The sums of a product stay in registers: this many rows of two vectors.
constexpr int kMaxRows = kLanes >= 16 ? 14 : 6;

// How the left operand is stored: element (row, k) is at a[row * stride + k] or at
// a[k * stride + row].
enum class Left { kRows, kColumns };

// c [kRows, kPanel] = (kAdd ? c : 0) + a [kRows, depth] * b [depth, kPanel].
//   kVectors: 2, or 1 to compute only the first half of the panel's columns.
template <Left kLeft, bool kAdd, int kVectors, int kRows>
HWY_NOINLINE void ProductOfRows(int64_t depth, const float* HWY_RESTRICT a, int64_t stride,
                                const float* HWY_RESTRICT b, float* HWY_RESTRICT c) {
  const D d;
  V sum[kRows][kVectors];
  EST_UNROLL for (int m = 0; m < kRows; ++m) {
    EST_UNROLL for (int n = 0; n < kVectors; ++n) {
      sum[m][n] = hn::Zero(d);
      // c is in the L2 cache. It arrives while the products are computed.
      if (kAdd) hwy::Prefetch(c + m * kPanel + n * kLanes);
    }
  }
  for (int64_t k = 0; k < depth; ++k) {
    V right[kVectors];
    EST_UNROLL for (int n = 0; n < kVectors; ++n) { right[n] = hn::LoadU(d, b + n * kLanes); }
    EST_UNROLL for (int m = 0; m < kRows; ++m) {
      const V left = hn::Set(d, kLeft == Left::kRows ? a[m * stride] : a[m]);
      EST_UNROLL for (int n = 0; n < kVectors; ++n) {
        sum[m][n] = hn::MulAdd(left, right[n], sum[m][n]);
      }
    }
    a += kLeft == Left::kRows ? 1 : stride;
    b += kPanel;
  }
  EST_UNROLL for (int m = 0; m < kRows; ++m) {
    EST_UNROLL for (int n = 0; n < kVectors; ++n) {
      float* const to = c + m * kPanel + n * kLanes;
      hn::StoreU(kAdd ? Plus(sum[m][n], hn::LoadU(d, to)) : sum[m][n], d, to);
    }
  }
}

using ProductFunction = void (*)(int64_t, const float*, int64_t, const float*, float*);

// Functions for 1 to kMaxRows rows; element 0 has no meaning.
template <Left kLeft, bool kAdd, int kVectors, size_t... kIndex>
constexpr std::array<ProductFunction, sizeof...(kIndex) + 1> ProductsOf(
    std::index_sequence<kIndex...>) {
  return {nullptr, &ProductOfRows<kLeft, kAdd, kVectors, static_cast<int>(kIndex) + 1>...};
}
template <Left kLeft, bool kAdd, int kVectors>
constexpr std::array<ProductFunction, kMaxRows + 1> kProducts =
    ProductsOf<kLeft, kAdd, kVectors>(std::make_index_sequence<kMaxRows>());

// c [rows, kPanel] = (kAdd ? c : 0) + a [rows, depth] * b [depth, kPanel], in parts of nearly equal
// numbers of rows.
template <Left kLeft, bool kAdd>
HWY_INLINE void Product(int64_t rows, int64_t depth, const float* a, int64_t stride, const float* b,
                        float* c, bool half_panel) {
  const auto& products = half_panel ? kProducts<kLeft, kAdd, 1> : kProducts<kLeft, kAdd, 2>;
  // A last part of one or two rows would load b for few products, so all parts are about equal.
  const int64_t parts = (rows + kMaxRows - 1) / kMaxRows;
  for (int64_t part = 0; part < parts; ++part) {
    const int64_t begin = rows * part / parts, end = rows * (part + 1) / parts;
    products[static_cast<size_t>(end - begin)](
        depth, a + begin * (kLeft == Left::kRows ? stride : 1), stride, b, c + begin * kPanel);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace estimator::winograd
HWY_AFTER_NAMESPACE();

#endif  // the toggle of each instruction set
