#include "estimator/kernels/transformer/attention_head.h"

#include <algorithm>
#include <limits>

// Highway compiles this file once for every instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "estimator/kernels/transformer/attention_head.cc"
#include "estimator/kernels/every_target-inl.h"
#include "hwy/contrib/math/math-inl.h"

#ifndef ESTIMATOR_KERNELS_TRANSFORMER_ATTENTION_HEAD_BLOCK_
#define ESTIMATOR_KERNELS_TRANSFORMER_ATTENTION_HEAD_BLOCK_
namespace estimator::transformer {

// The number of queries whose scores are computed at once: up to 128 KiB of scores, of which the
// gradient has two, in an L2 cache of 1 MiB or more.
inline int64_t QueryBlock(const HeadSizes& sizes) {
  constexpr int64_t kScores = 32768;
  return std::min(sizes.queries, std::max<int64_t>(12, kScores / sizes.keys));
}

}  // namespace estimator::transformer
#endif

HWY_BEFORE_NAMESPACE();
namespace estimator::transformer {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;
using D1 = hn::CappedTag<float, 1>;

// A tile of a product has kTileRows x kTileVectors accumulators: 24 of the 32 registers of AVX-512,
// 12 of the 16 of AVX2.
constexpr int kTileRows = 6;
constexpr int kTileVectors = HWY_MAX_BYTES >= 64 ? 4 : 2;

// A matrix that is read one element at a time, so that it may be transposed.
struct Left {
  const float* data;
  int64_t row, column;  // floats from a row or a column to the next

  Left Rows(int64_t first) const { return {data + first * row, row, column}; }
};

// c[r, :] (+)= sum over k of a[r, k] b[k, :], for kRows rows and kVectors vectors of columns.
template <int kRows, int kVectors>
HWY_INLINE void Tile(const Left& a, const float* HWY_RESTRICT b, int64_t b_stride, int64_t depth,
                     bool add, float* HWY_RESTRICT c, int64_t c_stride) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  V sums[kRows][kVectors];
  HWY_UNROLL(8)
  for (int r = 0; r < kRows; ++r) {
    HWY_UNROLL(8)
    for (int j = 0; j < kVectors; ++j)
      sums[r][j] = add ? hn::LoadU(d, c + r * c_stride + j * lanes) : hn::Zero(d);
  }
  for (int64_t k = 0; k < depth; ++k) {
    V columns[kVectors];
    HWY_UNROLL(8)
    for (int j = 0; j < kVectors; ++j) columns[j] = hn::LoadU(d, b + k * b_stride + j * lanes);
    HWY_UNROLL(8)
    for (int r = 0; r < kRows; ++r) {
      const V left = hn::Set(d, a.data[r * a.row + k * a.column]);
      HWY_UNROLL(8)
      for (int j = 0; j < kVectors; ++j) sums[r][j] = hn::MulAdd(left, columns[j], sums[r][j]);
    }
  }
  HWY_UNROLL(8)
  for (int r = 0; r < kRows; ++r) {
    HWY_UNROLL(8)
    for (int j = 0; j < kVectors; ++j) hn::StoreU(sums[r][j], d, c + r * c_stride + j * lanes);
  }
}

template <int kVectors>
HWY_INLINE void TileColumn(Left a, int64_t rows, const float* b, int64_t b_stride, int64_t depth,
                           bool add, float* c, int64_t c_stride) {
  for (; rows >= kTileRows; rows -= kTileRows) {
    Tile<kTileRows, kVectors>(a, b, b_stride, depth, add, c, c_stride);
    a = a.Rows(kTileRows);
    c += kTileRows * c_stride;
  }
  if (rows >= 4) {
    Tile<4, kVectors>(a, b, b_stride, depth, add, c, c_stride);
    a = a.Rows(4);
    c += 4 * c_stride;
    rows -= 4;
  }
  for (; rows > 0; --rows) {
    Tile<1, kVectors>(a, b, b_stride, depth, add, c, c_stride);
    a = a.Rows(1);
    c += c_stride;
  }
}

// c = a b, or c += a b: [rows, depth] x [depth, columns].
HWY_NOINLINE void Multiply(const Left& a, int64_t rows, const float* b, int64_t b_stride,
                           int64_t depth, int64_t columns, bool add, float* c, int64_t c_stride) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(D()));
  int64_t j = 0;
  for (; j + kTileVectors * lanes <= columns; j += kTileVectors * lanes)
    TileColumn<kTileVectors>(a, rows, b + j, b_stride, depth, add, c + j, c_stride);
  for (; j + lanes <= columns; j += lanes)
    TileColumn<1>(a, rows, b + j, b_stride, depth, add, c + j, c_stride);
  for (; j < columns; ++j) {
    for (int64_t r = 0; r < rows; ++r) {
      float sum = add ? c[r * c_stride + j] : 0.0f;
      for (int64_t k = 0; k < depth; ++k)
        sum += a.data[r * a.row + k * a.column] * b[k * b_stride + j];
      c[r * c_stride + j] = sum;
    }
  }
}

// to[c, r] = from[r, c], in squares that fit into the L1 cache.
HWY_NOINLINE void TransposeInto(const float* HWY_RESTRICT from, int64_t stride, int64_t rows,
                                int64_t columns, float* HWY_RESTRICT to) {
  constexpr int64_t kSquare = 16;
  for (int64_t r0 = 0; r0 < rows; r0 += kSquare) {
    const int64_t r1 = std::min(rows, r0 + kSquare);
    for (int64_t c = 0; c < columns; ++c) {
      for (int64_t r = r0; r < r1; ++r) to[c * rows + r] = from[r * stride + c];
    }
  }
}

// Copies the rows of one head next to each other. With their stride, often a power of two, they
// would share a few sets of the L1 cache.
HWY_NOINLINE void Gather(const float* HWY_RESTRICT from, int64_t stride, int64_t rows,
                         int64_t columns, float* HWY_RESTRICT to) {
  for (int64_t r = 0; r < rows; ++r)
    std::copy(from + r * stride, from + r * stride + columns, to + r * columns);
}

// Calls step(d, i) for each vector of a row. The last elements are vectors of one lane.
template <typename Step>
HWY_INLINE void ForEachVector(int64_t n, Step&& step) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) step(d, i);
  for (; i < n; ++i) step(D1(), i);
}

// An accumulator of whole vectors and one of the last elements.
struct Accumulators {
  V wide;
  hn::Vec<D1> rest;
  HWY_INLINE V& of(D) { return wide; }
  HWY_INLINE hn::Vec<D1>& of(D1) { return rest; }
};

// x where the mask is 1, else 0.
template <typename DF, typename VF>
HWY_INLINE VF Keep(DF d, const uint8_t* mask, VF x) {
  const hn::RebindToSigned<DF> di;
  const hn::Rebind<uint8_t, DF> d8;
  const auto kept = hn::PromoteTo(di, hn::LoadU(d8, mask));
  return hn::IfThenElseZero(hn::RebindMask(d, hn::Ne(kept, hn::Zero(di))), x);
}

// One row of scores becomes probabilities, in place.
HWY_INLINE void SoftmaxRow(const HeadSizes& sizes, const float* bias, float* row) {
  const D d;
  const D1 d1;
  const float lowest = std::numeric_limits<float>::lowest();
  Accumulators maxima{hn::Set(d, lowest), hn::Set(d1, lowest)};
  ForEachVector(sizes.keys, [&](auto t, int64_t i) HWY_ATTR {
    auto x = hn::Mul(hn::LoadU(t, row + i), hn::Set(t, sizes.scale));
    if (bias != nullptr) x = hn::Add(x, hn::LoadU(t, bias + i));
    hn::StoreU(x, t, row + i);
    maxima.of(t) = hn::Max(maxima.of(t), x);
  });
  const float maximum =
      std::max(hn::GetLane(hn::MaxOfLanes(d, maxima.wide)), hn::GetLane(maxima.rest));
  Accumulators sums{hn::Zero(d), hn::Zero(d1)};
  ForEachVector(sizes.keys, [&](auto t, int64_t i) HWY_ATTR {
    const auto x = hn::Sub(hn::LoadU(t, row + i), hn::Set(t, maximum));
    // x is at most 0, so exp cannot overflow. hn::Exp does not keep a NaN.
    const auto e = hn::IfThenElse(hn::IsNaN(x), x, hn::Exp(t, x));
    hn::StoreU(e, t, row + i);
    sums.of(t) = hn::Add(sums.of(t), e);
  });
  // One division for a row; the elements are multiplied.
  const float scale = 1.0f / (hn::GetLane(hn::SumOfLanes(d, sums.wide)) + hn::GetLane(sums.rest));
  ForEachVector(sizes.keys, [&](auto t, int64_t i) HWY_ATTR {
    hn::StoreU(hn::Mul(hn::LoadU(t, row + i), hn::Set(t, scale)), t, row + i);
  });
}

// The dropout of one row of probabilities, in place.
HWY_INLINE void DropRow(const HeadSizes& sizes, const uint8_t* mask, float* row) {
  ForEachVector(sizes.keys, [&](auto t, int64_t i) HWY_ATTR {
    const auto x = hn::Mul(hn::LoadU(t, row + i), hn::Set(t, sizes.keep_scale));
    hn::StoreU(Keep(t, mask + i, x), t, row + i);
  });
}

// One row of the gradient: p becomes what DropRow makes of it, and dd, the gradient of that,
// becomes the gradient of the products of queries and keys.
HWY_INLINE void GradRow(const HeadSizes& sizes, const uint8_t* mask, float* p, float* dd) {
  const D d;
  Accumulators sums{hn::Zero(d), hn::Zero(D1())};
  ForEachVector(sizes.keys, [&](auto t, int64_t i) HWY_ATTR {
    auto dp = hn::LoadU(t, dd + i);
    // The dropout comes after the softmax, so its gradient comes before that of the softmax, whose
    // sum must not see dropped keys.
    if (mask != nullptr) dp = hn::Mul(Keep(t, mask + i, dp), hn::Set(t, sizes.keep_scale));
    hn::StoreU(dp, t, dd + i);
    sums.of(t) = hn::MulAdd(dp, hn::LoadU(t, p + i), sums.of(t));
  });
  const float sum = hn::GetLane(hn::SumOfLanes(d, sums.wide)) + hn::GetLane(sums.rest);
  ForEachVector(sizes.keys, [&](auto t, int64_t i) HWY_ATTR {
    const auto probability = hn::LoadU(t, p + i);
    const auto ds = hn::Mul(hn::Sub(hn::LoadU(t, dd + i), hn::Set(t, sum)), probability);
    hn::StoreU(hn::Mul(ds, hn::Set(t, sizes.scale)), t, dd + i);
  });
  // Only now: the gradient of the softmax above needs the probabilities before the dropout, and
  // that of the values needs those after it.
  if (mask != nullptr) DropRow(sizes, mask, p);
}

// The probabilities of the queries [first, end), before the dropout.
HWY_INLINE void Probabilities(const HeadSizes& sizes, const float* q, const float* keys_turned,
                              const HeadMasks& masks, int64_t first, int64_t end, float* p) {
  Multiply({q + first * sizes.stride, sizes.stride, 1}, end - first, keys_turned, sizes.keys,
           sizes.size, sizes.keys, false, p, sizes.keys);
  for (int64_t r = first; r < end; ++r) {
    const float* const bias = masks.bias == nullptr ? nullptr : masks.bias + r * masks.bias_stride;
    SoftmaxRow(sizes, bias, p + (r - first) * sizes.keys);
  }
}

// One query reads each key and value once, so a copy of them would take longer than the products.
//   d: its vectors fill the columns, if those of any tag do.
template <typename DF>
HWY_INLINE void OneQueryWith(DF d, const HeadSizes& sizes, const float* q, const float* k,
                             const float* v, const HeadMasks& masks, float* p, float* y) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const int64_t whole = sizes.size / lanes * lanes;
  for (int64_t t = 0; t < sizes.keys; ++t) {
    const float* const key = k + t * sizes.stride;
    auto sums = hn::Zero(d);
    for (int64_t i = 0; i < whole; i += lanes)
      sums = hn::MulAdd(hn::LoadU(d, q + i), hn::LoadU(d, key + i), sums);
    float rest = 0;
    for (int64_t i = whole; i < sizes.size; ++i) rest += q[i] * key[i];
    p[t] = hn::GetLane(hn::SumOfLanes(d, sums)) + rest;
  }
  SoftmaxRow(sizes, masks.bias, p);
  if (masks.mask != nullptr) DropRow(sizes, masks.mask, p);
  for (int64_t i = 0; i < whole; i += lanes) {
    auto sums = hn::Zero(d);
    for (int64_t t = 0; t < sizes.keys; ++t)
      sums = hn::MulAdd(hn::Set(d, p[t]), hn::LoadU(d, v + t * sizes.stride + i), sums);
    hn::StoreU(sums, d, y + i);
  }
  for (int64_t i = whole; i < sizes.size; ++i) {
    float sum = 0;
    for (int64_t t = 0; t < sizes.keys; ++t) sum += p[t] * v[t * sizes.stride + i];
    y[i] = sum;
  }
}

HWY_NOINLINE void OneQuery(const HeadSizes& sizes, const float* q, const float* k, const float* v,
                           const HeadMasks& masks, float* p, float* y) {
  const D d;
  const hn::CappedTag<float, 8> d8;
  const hn::CappedTag<float, 4> d4;
  const auto fills = [&](auto tag) {
    return sizes.size % static_cast<int64_t>(hn::Lanes(tag)) == 0;
  };
  if (fills(d) || !fills(d4)) {
    OneQueryWith(d, sizes, q, k, v, masks, p, y);
  } else if (fills(d8)) {
    OneQueryWith(d8, sizes, q, k, v, masks, p, y);
  } else {
    OneQueryWith(d4, sizes, q, k, v, masks, p, y);
  }
}

void AttentionHead(const HeadSizes& sizes, const float* q, const float* k, const float* v,
                   const HeadMasks& masks, float* scratch, float* y) {
  if (sizes.queries == 1) {
    OneQuery(sizes, q, k, v, masks, scratch, y);
    return;
  }
  const int64_t head = sizes.keys * sizes.size;
  float* const gathered = scratch;
  float* const keys_turned = gathered + head;
  float* const p = keys_turned + head;
  Gather(k, sizes.stride, sizes.keys, sizes.size, gathered);
  TransposeInto(gathered, sizes.size, sizes.keys, sizes.size, keys_turned);
  // The values take the place of the keys, of which only the transposed copy is needed from here
  // on. Products read their right operand along rows, and so need the keys transposed.
  Gather(v, sizes.stride, sizes.keys, sizes.size, gathered);
  const int64_t block = QueryBlock(sizes);
  for (int64_t first = 0; first < sizes.queries; first += block) {
    const int64_t end = std::min(sizes.queries, first + block);
    // The scores of all queries at once would not stay in the cache.
    Probabilities(sizes, q, keys_turned, masks, first, end, p);
    for (int64_t r = first; r < end && masks.mask != nullptr; ++r)
      DropRow(sizes, masks.mask + r * sizes.keys, p + (r - first) * sizes.keys);
    Multiply({p, sizes.keys, 1}, end - first, gathered, sizes.size, sizes.keys, sizes.size, false,
             y + first * sizes.stride, sizes.stride);
  }
}

void AttentionHeadGrad(const HeadSizes& sizes, const float* dy, const float* q, const float* k,
                       const float* v, const HeadMasks& masks, float* scratch, float* dq, float* dk,
                       float* dv) {
  const int64_t block = QueryBlock(sizes), stride = sizes.stride, head = sizes.keys * sizes.size;
  float* const keys = scratch;
  float* const keys_turned = keys + head;
  float* const values_turned = keys_turned + head;
  float* const dy_rows = values_turned + head;
  float* const q_rows = dy_rows + block * sizes.size;
  float* const p = q_rows + block * sizes.size;
  float* const ds = p + block * sizes.keys;
  // The values are needed transposed only, so the keys take the place of their copy.
  Gather(v, stride, sizes.keys, sizes.size, keys);
  TransposeInto(keys, sizes.size, sizes.keys, sizes.size, values_turned);
  Gather(k, stride, sizes.keys, sizes.size, keys);
  TransposeInto(keys, sizes.size, sizes.keys, sizes.size, keys_turned);
  for (int64_t first = 0; first < sizes.queries; first += block) {
    const int64_t end = std::min(sizes.queries, first + block), rows = end - first;
    Gather(dy + first * stride, stride, rows, sizes.size, dy_rows);
    Gather(q + first * stride, stride, rows, sizes.size, q_rows);
    // The probabilities are computed again: to keep those of the forward pass would take memory of
    // the size [B, heads, S, T].
    Probabilities(sizes, q, keys_turned, masks, first, end, p);
    Multiply({dy_rows, sizes.size, 1}, rows, values_turned, sizes.keys, sizes.size, sizes.keys,
             false, ds, sizes.keys);
    for (int64_t r = 0; r < rows; ++r) {
      const uint8_t* const mask =
          masks.mask == nullptr ? nullptr : masks.mask + (first + r) * sizes.keys;
      GradRow(sizes, mask, p + r * sizes.keys, ds + r * sizes.keys);
    }
    // Every block of queries adds to the gradients of all keys and values. The first one sets them,
    // so that nobody has to clear them.
    const bool add = first > 0;
    Multiply({p, 1, sizes.keys}, sizes.keys, dy_rows, sizes.size, rows, sizes.size, add, dv,
             stride);
    Multiply({ds, 1, sizes.keys}, sizes.keys, q_rows, sizes.size, rows, sizes.size, add, dk,
             stride);
    Multiply({ds, sizes.keys, 1}, rows, keys, sizes.size, sizes.keys, sizes.size, false,
             dq + first * stride, stride);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace estimator::transformer
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace estimator::transformer {
HWY_EXPORT(AttentionHead);
HWY_EXPORT(AttentionHeadGrad);

size_t AttentionScratch(const HeadSizes& sizes) {
  const int64_t block = QueryBlock(sizes);
  const int64_t floats =
      3 * sizes.keys * sizes.size + 2 * block * sizes.size + 2 * block * sizes.keys;
  return static_cast<size_t>((floats + 15) / 16 * 16);
}

void AttentionHead(const HeadSizes& sizes, const float* q, const float* k, const float* v,
                   const HeadMasks& masks, float* scratch, float* y) {
  HWY_DYNAMIC_DISPATCH(AttentionHead)(sizes, q, k, v, masks, scratch, y);
}

void AttentionHeadGrad(const HeadSizes& sizes, const float* dy, const float* q, const float* k,
                       const float* v, const HeadMasks& masks, float* scratch, float* dq, float* dk,
                       float* dv) {
  HWY_DYNAMIC_DISPATCH(AttentionHeadGrad)(sizes, dy, q, k, v, masks, scratch, dq, dk, dv);
}

}  // namespace estimator::transformer
#endif  // HWY_ONCE
