#include "estimator/kernels/fused/batch_norm_rows.h"

#include <algorithm>
#include <cstdint>

// Highway's foreach_target.h compiles this file once for every instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "estimator/kernels/fused/batch_norm_rows.cc"
#define HWY_DISABLE_PCLMUL_AES  // x86-64-v3 lacks it and we do not use it; so AVX2 is the baseline
// The order matters: each header includes this file, or needs what the header before it defined.
// clang-format off
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "estimator/kernels/fused/bfloat16_vectors-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace estimator::fused {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// At most 16 lanes, so that a row is a whole number of vectors.
using D = hn::CappedTag<float, kNormWidth>;
using V = hn::Vec<D>;

// Two sums for each of four rows in turn: an addition need not wait for the one before it.
struct Sums {
  V first[4], second[4];

  Sums() {
    for (int k = 0; k < 4; ++k) first[k] = second[k] = hn::Zero(D());
  }
  void AddTo(float* sums, float* second_sums) const {
    const D d;
    const V all = hn::Add(hn::Add(first[0], first[1]), hn::Add(first[2], first[3]));
    const V all_second = hn::Add(hn::Add(second[0], second[1]), hn::Add(second[2], second[3]));
    hn::StoreU(hn::Add(hn::LoadU(d, sums), all), d, sums);
    hn::StoreU(hn::Add(hn::LoadU(d, second_sums), all_second), d, second_sums);
  }
};

// Calls fn(first channel, first element, rows) for tiles of 16 channels. A block of channels is one tile. In wider
// rows, a tile has few rows, so that memory is read nearly in order.
template <typename Fn>
HWY_INLINE void ForEachTile(int64_t rows, int64_t width, Fn&& fn) {
  constexpr int64_t kTileRows = 4;
  const int64_t step = width == kNormWidth ? rows : kTileRows;
  for (int64_t r = 0; r < rows; r += step) {
    for (int64_t c = 0; c < width; c += kNormWidth) fn(c, r * width + c, std::min(step, rows - r));
  }
}

int64_t RowLanes() { return static_cast<int64_t>(hn::Lanes(D())); }

template <typename T>
void AddMoments(const T* x, int64_t rows, int64_t width, const float* shift, float* sums) {
  const D d;
  ForEachTile(rows, width, [&](int64_t channel, int64_t begin, int64_t count) HWY_ATTR {
    for (int64_t c = 0; c < kNormWidth; c += RowLanes()) {
      const V mean = hn::LoadU(d, shift + channel + c);
      const T* row = x + begin + c;
      Sums total;
      const auto add = [&](int k, const T* from) HWY_ATTR {
        const V off = hn::Sub(LoadFloats(d, from), mean);
        total.first[k] = hn::Add(total.first[k], off);
        total.second[k] = hn::MulAdd(off, off, total.second[k]);
      };
      int64_t r = 0;
      for (; r + 4 <= count; r += 4, row += 4 * width) {
        add(0, row);
        add(1, row + width);
        add(2, row + 2 * width);
        add(3, row + 3 * width);
      }
      for (; r < count; ++r, row += width) add(0, row);
      total.AddTo(sums + channel + c, sums + width + channel + c);
    }
  });
}

template <bool kSide, bool kRelu, typename T>
void NormalizeAs(const T* x, const T* side, int64_t rows, int64_t width, const float* mean,
                 const float* a, const float* offset, T* y) {
  const D d;
  ForEachTile(rows, width, [&](int64_t channel, int64_t begin, int64_t count) HWY_ATTR {
    for (int64_t c = 0; c < kNormWidth; c += RowLanes()) {
      const V m = hn::LoadU(d, mean + channel + c), slope = hn::LoadU(d, a + channel + c),
              low = hn::LoadU(d, offset + channel + c);
      const int64_t end = begin + count * width;
      for (int64_t e = begin + c; e < end; e += width) {
        V value = hn::MulAdd(hn::Sub(LoadFloats(d, x + e), m), slope, low);
        if constexpr (kSide) value = hn::Add(value, LoadFloats(d, side + e));
        if constexpr (kRelu) value = hn::IfThenZeroElse(hn::Lt(value, hn::Zero(d)), value);
        StoreFloats(value, d, y + e);
      }
    }
  });
}

template <typename T>
void Normalize(const T* x, const T* side, int64_t rows, int64_t width, const float* mean,
               const float* a, const float* offset, bool relu, T* y) {
  const auto run = side != nullptr
                       ? (relu ? NormalizeAs<true, true, T> : NormalizeAs<true, false, T>)
                       : (relu ? NormalizeAs<false, true, T> : NormalizeAs<false, false, T>);
  run(x, side, rows, width, mean, a, offset, y);
}

// The parameters that decide the gradient of relu, of a vector of channels.
struct GateOf {
  V mean, a, offset;

  template <typename T>
  GateOf(Gate gate, const NormGradientRows<T>& in, int64_t c) {
    const D d;
    mean = hn::LoadU(d, in.mean + c);
    a = gate == Gate::kFoundAgain ? hn::LoadU(d, in.a + c) : hn::Zero(d);
    offset = gate == Gate::kFoundAgain ? hn::LoadU(d, in.offset + c) : hn::Zero(d);
  }
};

// off: x - mean at element e.
template <Gate kGate, typename T>
HWY_INLINE V GradientAt(const NormGradientRows<T>& in, const GateOf& gate, int64_t e, V off) {
  const D d;
  const V dy = LoadFloats(d, in.dy + e);
  if constexpr (kGate == Gate::kOpen) return dy;
  V y;
  if constexpr (kGate == Gate::kByY) {
    y = LoadFloats(d, in.y + e);
  } else {
    y = hn::MulAdd(off, gate.a, gate.offset);
  }
  return hn::IfThenElseZero(hn::Gt(y, hn::Zero(d)), dy);
}

template <Gate kGate, typename T>
void AddGradientsAs(const NormGradientRows<T>& in, int64_t rows, int64_t width, float* sums) {
  const D d;
  ForEachTile(rows, width, [&](int64_t channel, int64_t begin, int64_t count) HWY_ATTR {
    for (int64_t c = 0; c < kNormWidth; c += RowLanes()) {
      const GateOf gate(kGate, in, channel + c);
      Sums total;
      const auto add = [&](int k, int64_t e) HWY_ATTR {
        const V off = hn::Sub(LoadFloats(d, in.x + e), gate.mean);
        const V g = GradientAt<kGate>(in, gate, e, off);
        total.first[k] = hn::Add(total.first[k], g);
        total.second[k] = hn::MulAdd(g, off, total.second[k]);
      };
      int64_t e = begin + c, r = 0;
      for (; r + 4 <= count; r += 4, e += 4 * width) {
        add(0, e);
        add(1, e + width);
        add(2, e + 2 * width);
        add(3, e + 3 * width);
      }
      for (; r < count; ++r, e += width) add(0, e);
      total.AddTo(sums + channel + c, sums + width + channel + c);
    }
  });
}

template <typename T>
void AddGradients(Gate gate, const NormGradientRows<T>& in, int64_t rows, int64_t width,
                  float* sums) {
  const auto run = gate == Gate::kOpen  ? AddGradientsAs<Gate::kOpen, T>
                   : gate == Gate::kByY ? AddGradientsAs<Gate::kByY, T>
                                        : AddGradientsAs<Gate::kFoundAgain, T>;
  run(in, rows, width, sums);
}

template <Gate kGate, typename T>
void WriteGradientsAs(const NormGradientRows<T>& in, int64_t rows, int64_t width, const float* a,
                      const float* b, const float* d, T* dx, T* dside) {
  const D tag;
  ForEachTile(rows, width, [&](int64_t channel, int64_t begin, int64_t count) HWY_ATTR {
    for (int64_t c = 0; c < kNormWidth; c += RowLanes()) {
      const GateOf gate(kGate, in, channel + c);
      const V slope = hn::LoadU(tag, a + channel + c), slope_x = hn::LoadU(tag, b + channel + c),
              low = hn::LoadU(tag, d + channel + c);
      const int64_t end = begin + count * width;
      for (int64_t e = begin + c; e < end; e += width) {
        const V off = hn::Sub(LoadFloats(tag, in.x + e), gate.mean);
        const V g = GradientAt<kGate>(in, gate, e, off);
        StoreFloats(hn::MulAdd(slope, g, hn::MulAdd(slope_x, off, low)), tag, dx + e);
        if (dside != nullptr) StoreFloats(g, tag, dside + e);
      }
    }
  });
}

template <typename T>
void WriteGradients(Gate gate, const NormGradientRows<T>& in, int64_t rows, int64_t width,
                    const float* a, const float* b, const float* d, T* dx, T* dside) {
  const auto run = gate == Gate::kOpen  ? WriteGradientsAs<Gate::kOpen, T>
                   : gate == Gate::kByY ? WriteGradientsAs<Gate::kByY, T>
                                        : WriteGradientsAs<Gate::kFoundAgain, T>;
  run(in, rows, width, a, b, d, dx, dside);
}

// HWY_EXPORT takes plain functions.
#define EST_ROWS_OF(T, name)                                                                       \
  void AddMoments##name(const T* x, int64_t rows, int64_t width, const float* shift,               \
                        float* sums) {                                                             \
    AddMoments(x, rows, width, shift, sums);                                                       \
  }                                                                                                \
  void Normalize##name(const T* x, const T* side, int64_t rows, int64_t width, const float* mean,  \
                       const float* a, const float* offset, bool relu, T* y) {                     \
    Normalize(x, side, rows, width, mean, a, offset, relu, y);                                     \
  }                                                                                                \
  void AddGradients##name(Gate gate, const NormGradientRows<T>& in, int64_t rows, int64_t width,   \
                          float* sums) {                                                           \
    AddGradients(gate, in, rows, width, sums);                                                     \
  }                                                                                                \
  void WriteGradients##name(Gate gate, const NormGradientRows<T>& in, int64_t rows, int64_t width, \
                            const float* a, const float* b, const float* d, T* dx, T* dside) {     \
    WriteGradients(gate, in, rows, width, a, b, d, dx, dside);                                     \
  }
EST_ROWS_OF(float, F32)
EST_ROWS_OF(Bfloat16, Bf16)
#undef EST_ROWS_OF

}  // namespace HWY_NAMESPACE
}  // namespace estimator::fused
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace estimator::fused {

#define EST_ROWS_OF(T, name)                                                                     \
  namespace {                                                                                    \
  HWY_EXPORT(AddMoments##name);                                                                  \
  HWY_EXPORT(Normalize##name);                                                                   \
  HWY_EXPORT(AddGradients##name);                                                                \
  HWY_EXPORT(WriteGradients##name);                                                              \
  }                                                                                              \
  void AddMomentRows(const T* x, int64_t rows, int64_t width, const float* shift, float* sums) { \
    HWY_DYNAMIC_DISPATCH(AddMoments##name)(x, rows, width, shift, sums);                         \
  }                                                                                              \
  void NormalizeRows(const T* x, const T* side, int64_t rows, int64_t width, const float* mean,  \
                     const float* a, const float* offset, bool relu, T* y) {                     \
    HWY_DYNAMIC_DISPATCH(Normalize##name)(x, side, rows, width, mean, a, offset, relu, y);       \
  }                                                                                              \
  void AddGradientRows(Gate gate, const NormGradientRows<T>& in, int64_t rows, int64_t width,    \
                       float* sums) {                                                            \
    HWY_DYNAMIC_DISPATCH(AddGradients##name)(gate, in, rows, width, sums);                       \
  }                                                                                              \
  void WriteGradientRows(Gate gate, const NormGradientRows<T>& in, int64_t rows, int64_t width,  \
                         const float* a, const float* b, const float* d, T* dx, T* dside) {      \
    HWY_DYNAMIC_DISPATCH(WriteGradients##name)(gate, in, rows, width, a, b, d, dx, dside);       \
  }
EST_ROWS_OF(float, F32)
EST_ROWS_OF(Bfloat16, Bf16)
#undef EST_ROWS_OF

}  // namespace estimator::fused
#endif  // HWY_ONCE
