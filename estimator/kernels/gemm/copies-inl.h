// Copies of the operands of a product (gemm.h): rows of a for a tile, and columns of b as panels.
// Internal to gemm. Included once for every instruction set (Highway).
#if defined(ESTIMATOR_KERNELS_GEMM_COPIES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ESTIMATOR_KERNELS_GEMM_COPIES_INL_H_
#undef ESTIMATOR_KERNELS_GEMM_COPIES_INL_H_
#else
#define ESTIMATOR_KERNELS_GEMM_COPIES_INL_H_
#endif

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "estimator/kernels/gemm/gemm.h"
#include "hwy/highway.h"

#ifndef ESTIMATOR_KERNELS_GEMM_SIZES_
#define ESTIMATOR_KERNELS_GEMM_SIZES_
namespace estimator::gemm {

// A panel of b has this many rows at most. 16 panels of 32 columns are 512 KiB, so that those of
// two threads that share a core fit into an L2 cache of 2 MiB. 400 rows are up to 8 % slower there.
inline constexpr int64_t kMaxDepth = 256;
inline constexpr int64_t kMaxPanels = 16;
// Not a power of two: rows of a that are copied must not compete for the same lines of the L1
// cache.
inline constexpr int64_t kRowStride = kMaxDepth + 16;

// Part `index` of `count` nearly equal parts of [0, items) begins here.
inline int64_t Split(int64_t items, int64_t index, int64_t count) { return items * index / count; }
inline int64_t CeilDivide(int64_t a, int64_t b) { return (a + b - 1) / b; }

}  // namespace estimator::gemm
#endif  // ESTIMATOR_KERNELS_GEMM_SIZES_

HWY_BEFORE_NAMESPACE();
namespace estimator::gemm {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;
constexpr int64_t kLanes = static_cast<int64_t>(hn::MaxLanes(D()));
constexpr int64_t kPanel = 2 * kLanes;
// The sums of a tile, this many rows of two vectors, stay in registers.
constexpr int kMaxRows = kLanes >= 16 ? 14 : 6;

// Copies rows [row, row + count) of a, columns [k, k + depth), for MultiplyTile.
void CopyRows(const Product& p, const float* a, int64_t row, int64_t count, int64_t k,
              int64_t depth, float* to) {
  if (!p.transpose_a) {
    for (int64_t m = 0; m < count; ++m) {
      std::memcpy(to + m * kRowStride, a + (row + m) * p.k + k,
                  static_cast<size_t>(depth) * sizeof(float));
    }
    return;
  }
  // The rows of a transposed a are adjacent for each k. They are copied like this, and MultiplyTile
  // reads them by columns.
  const float* from = a + k * p.m + row;
  if (row + kMaxRows <= p.m) {  // a constant size is a few vector instructions
    for (int64_t i = 0; i < depth; ++i, from += p.m, to += kMaxRows)
      std::memcpy(to, from, kMaxRows * sizeof(float));
  } else {
    for (int64_t i = 0; i < depth; ++i, from += p.m, to += kMaxRows) std::copy_n(from, count, to);
  }
}

// Fetches part `part` of `parts` of what CopyRows reads into the L2 cache.
void FetchRows(const Product& p, const float* a, int64_t row, int64_t count, int64_t k,
               int64_t depth, int64_t part, int64_t parts) {
  constexpr int64_t kLine = 16;  // floats
  if (p.transpose_a) {
    for (int64_t i = Split(depth, part, parts); i < Split(depth, part + 1, parts); ++i) {
      const float* const from = a + (k + i) * p.m + row;
      __builtin_prefetch(from, 0, 2);
      // The numbers of a tile may cross the end of a line.
      __builtin_prefetch(from + count - 1, 0, 2);
    }
  } else {
    const int64_t lines = CeilDivide(depth, kLine), all = count * lines;
    for (int64_t i = Split(all, part, parts); i < Split(all, part + 1, parts); ++i)
      __builtin_prefetch(a + (row + i / lines) * p.k + k + i % lines * kLine, 0, 2);
  }
}

// Four numbers of each row whose number is a multiple of 4, as one vector.
template <class DF>
HWY_INLINE hn::Vec<DF> LoadBlocks(DF d, const float* from, int64_t stride) {
  constexpr size_t kCount = hn::MaxLanes(DF());
  if constexpr (kCount == 4) {
    return hn::LoadU(d, from);
  } else {
    const hn::Half<DF> half;
    constexpr int64_t kRows = static_cast<int64_t>(kCount / 2);
    return hn::Combine(d, LoadBlocks(half, from + kRows * stride, stride),
                       LoadBlocks(half, from, stride));
  }
}

// Transposes 4 columns of kLanes rows: to[k * kPanel + row] = from[row * stride + k].
HWY_INLINE void Transpose4(const float* from, int64_t stride, float* to) {
  const D d;
  const hn::Repartition<double, D> dd;
  const V row0 = LoadBlocks(d, from, stride), row1 = LoadBlocks(d, from + stride, stride);
  const V row2 = LoadBlocks(d, from + 2 * stride, stride);
  const V row3 = LoadBlocks(d, from + 3 * stride, stride);
  const auto low01 = hn::BitCast(dd, hn::InterleaveLower(d, row0, row1));
  const auto low23 = hn::BitCast(dd, hn::InterleaveLower(d, row2, row3));
  const auto high01 = hn::BitCast(dd, hn::InterleaveUpper(d, row0, row1));
  const auto high23 = hn::BitCast(dd, hn::InterleaveUpper(d, row2, row3));
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(dd, low01, low23)), d, to);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(dd, low01, low23)), d, to + kPanel);
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(dd, high01, high23)), d, to + 2 * kPanel);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(dd, high01, high23)), d, to + 3 * kPanel);
}

// Copies rows [k, k + depth) of panels [begin, end) of b to [end - begin, depth, kPanel]. Columns
// beyond b are 0.
void CopyPanels(const Product& p, const float* b, int64_t begin, int64_t end, int64_t k,
                int64_t depth, float* to) {
  const D d;
  const int64_t size = depth * kPanel;
  // A panel at the right edge is not whole. It is filled with zeros below, so that MultiplyTile
  // needs no other loop.
  const int64_t full = std::min(end, p.n / kPanel);
  if (p.transpose_b) {
    for (int64_t panel = begin; panel < full; ++panel) {
      for (int64_t half = 0; half < kPanel; half += kLanes) {
        const float* const from = b + (panel * kPanel + half) * p.k + k;
        float* const out = to + (panel - begin) * size + half;
        int64_t i = 0;
        for (; i + 4 <= depth; i += 4) Transpose4(from + i, p.k, out + i * kPanel);
        for (; i < depth; ++i) {
          for (int64_t lane = 0; lane < kLanes; ++lane)
            out[i * kPanel + lane] = from[lane * p.k + i];
        }
      }
    }
  } else {
    for (int64_t i = 0; i < depth; ++i) {
      // Row after row: b is read in the order of memory, and only the writes jump from panel to
      // panel.
      const float* from = b + (k + i) * p.n + begin * kPanel;
      float* out = to + i * kPanel;
      for (int64_t panel = begin; panel < full; ++panel, from += kPanel, out += size) {
        hn::StoreU(hn::LoadU(d, from), d, out);
        hn::StoreU(hn::LoadU(d, from + kLanes), d, out + kLanes);
      }
    }
  }
  if (full == end) return;
  const int64_t column = full * kPanel, columns = p.n - column;
  float* const out = to + (full - begin) * size;
  for (int64_t i = 0; i < depth; ++i) {
    for (int64_t j = 0; j < kPanel; ++j) {
      const int64_t at = p.transpose_b ? (column + j) * p.k + k + i : (k + i) * p.n + column + j;
      out[i * kPanel + j] = j < columns ? b[at] : 0.0f;
    }
  }
}

// The rows of b from k on that are copied together.
struct DepthBlock {
  int64_t k = 0, depth = 0;
};
int64_t DepthBlocks(const Product& p) { return CeilDivide(p.k, kMaxDepth); }
DepthBlock DepthBlockAt(const Product& p, int64_t block) {
  // Blocks of nearly equal depth: a short last one would read and write all sums for few products.
  const int64_t k = Split(p.k, block, DepthBlocks(p));
  return {k, Split(p.k, block + 1, DepthBlocks(p)) - k};
}

// In a copy of all of b, the offset of a panel: [depth blocks][panels][depth, kPanel].
int64_t PanelOffset(const Product& p, const DepthBlock& block, int64_t panel) {
  return (block.k * CeilDivide(p.n, kPanel) + panel * block.depth) * kPanel;
}

// Copies panel number `index` of all depth blocks.
void CopyPanelOfAll(const Product& p, const float* b, int64_t index, float* panels) {
  const int64_t num_panels = CeilDivide(p.n, kPanel), panel = index % num_panels;
  const DepthBlock block = DepthBlockAt(p, index / num_panels);
  CopyPanels(p, b, panel, panel + 1, block.k, block.depth, panels + PanelOffset(p, block, panel));
}

}  // namespace HWY_NAMESPACE
}  // namespace estimator::gemm
HWY_AFTER_NAMESPACE();

#endif  // the toggle of each instruction set
