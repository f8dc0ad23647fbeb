#include "estimator/kernels/fused/batch_norm_rows.h"

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
  void AddTo(float* sums) const {
    const D d;
    const V all = hn::Add(hn::Add(first[0], first[1]), hn::Add(first[2], first[3]));
    const V all_second = hn::Add(hn::Add(second[0], second[1]), hn::Add(second[2], second[3]));
    hn::StoreU(hn::Add(hn::LoadU(d, sums), all), d, sums);
    hn::StoreU(hn::Add(hn::LoadU(d, sums + kNormWidth), all_second), d, sums + kNormWidth);
  }
};

int64_t RowLanes() { return static_cast<int64_t>(hn::Lanes(D())); }

template <typename T>
void AddMoments(const T* x, int64_t rows, const float* shift, float* sums) {
  const D d;
  for (int64_t c = 0; c < kNormWidth; c += RowLanes()) {
    const V mean = hn::LoadU(d, shift + c);
    const T* row = x + c;
    Sums total;
    const auto add = [&](int k, const T* from) HWY_ATTR {
      const V off = hn::Sub(LoadFloats(d, from), mean);
      total.first[k] = hn::Add(total.first[k], off);
      total.second[k] = hn::MulAdd(off, off, total.second[k]);
    };
    int64_t r = 0;
    for (; r + 4 <= rows; r += 4, row += 4 * kNormWidth) {
      add(0, row);
      add(1, row + kNormWidth);
      add(2, row + 2 * kNormWidth);
      add(3, row + 3 * kNormWidth);
    }
    for (; r < rows; ++r, row += kNormWidth) add(0, row);
    total.AddTo(sums + c);
  }
}

template <bool kSide, bool kRelu, typename T>
void NormalizeAs(const T* x, const T* side, int64_t rows, const float* mean, const float* a,
                 const float* offset, T* y) {
  const D d;
  for (int64_t c = 0; c < kNormWidth; c += RowLanes()) {
    const V m = hn::LoadU(d, mean + c), slope = hn::LoadU(d, a + c),
            begin = hn::LoadU(d, offset + c);
    for (int64_t e = c; e < rows * kNormWidth; e += kNormWidth) {
      V value = hn::MulAdd(hn::Sub(LoadFloats(d, x + e), m), slope, begin);
      if constexpr (kSide) value = hn::Add(value, LoadFloats(d, side + e));
      if constexpr (kRelu) value = hn::IfThenZeroElse(hn::Lt(value, hn::Zero(d)), value);
      StoreFloats(value, d, y + e);
    }
  }
}

template <typename T>
void Normalize(const T* x, const T* side, int64_t rows, const float* mean, const float* a,
               const float* offset, bool relu, T* y) {
  const auto run = side != nullptr
                       ? (relu ? NormalizeAs<true, true, T> : NormalizeAs<true, false, T>)
                       : (relu ? NormalizeAs<false, true, T> : NormalizeAs<false, false, T>);
  run(x, side, rows, mean, a, offset, y);
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
void AddGradientsAs(const NormGradientRows<T>& in, int64_t rows, float* sums) {
  const D d;
  for (int64_t c = 0; c < kNormWidth; c += RowLanes()) {
    const GateOf gate(kGate, in, c);
    Sums total;
    const auto add = [&](int k, int64_t e) HWY_ATTR {
      const V off = hn::Sub(LoadFloats(d, in.x + e), gate.mean);
      const V g = GradientAt<kGate>(in, gate, e, off);
      total.first[k] = hn::Add(total.first[k], g);
      total.second[k] = hn::MulAdd(g, off, total.second[k]);
    };
    int64_t e = c, r = 0;
    for (; r + 4 <= rows; r += 4, e += 4 * kNormWidth) {
      add(0, e);
      add(1, e + kNormWidth);
      add(2, e + 2 * kNormWidth);
      add(3, e + 3 * kNormWidth);
    }
    for (; r < rows; ++r, e += kNormWidth) add(0, e);
    total.AddTo(sums + c);
  }
}

template <typename T>
void AddGradients(Gate gate, const NormGradientRows<T>& in, int64_t rows, float* sums) {
  const auto run = gate == Gate::kOpen  ? AddGradientsAs<Gate::kOpen, T>
                   : gate == Gate::kByY ? AddGradientsAs<Gate::kByY, T>
                                        : AddGradientsAs<Gate::kFoundAgain, T>;
  run(in, rows, sums);
}

template <Gate kGate, typename T>
void WriteGradientsAs(const NormGradientRows<T>& in, int64_t rows, const float* a, const float* b,
                      const float* d, T* dx, T* dside) {
  const D tag;
  for (int64_t c = 0; c < kNormWidth; c += RowLanes()) {
    const GateOf gate(kGate, in, c);
    const V slope = hn::LoadU(tag, a + c), slope_x = hn::LoadU(tag, b + c),
            begin = hn::LoadU(tag, d + c);
    for (int64_t e = c; e < rows * kNormWidth; e += kNormWidth) {
      const V off = hn::Sub(LoadFloats(tag, in.x + e), gate.mean);
      const V g = GradientAt<kGate>(in, gate, e, off);
      StoreFloats(hn::MulAdd(slope, g, hn::MulAdd(slope_x, off, begin)), tag, dx + e);
      if (dside != nullptr) StoreFloats(g, tag, dside + e);
    }
  }
}

template <typename T>
void WriteGradients(Gate gate, const NormGradientRows<T>& in, int64_t rows, const float* a,
                    const float* b, const float* d, T* dx, T* dside) {
  const auto run = gate == Gate::kOpen  ? WriteGradientsAs<Gate::kOpen, T>
                   : gate == Gate::kByY ? WriteGradientsAs<Gate::kByY, T>
                                        : WriteGradientsAs<Gate::kFoundAgain, T>;
  run(in, rows, a, b, d, dx, dside);
}

// HWY_EXPORT takes plain functions.
#define EST_ROWS_OF(T, name)                                                                       \
  void AddMoments##name(const T* x, int64_t rows, const float* shift, float* sums) {               \
    AddMoments(x, rows, shift, sums);                                                              \
  }                                                                                                \
  void Normalize##name(const T* x, const T* side, int64_t rows, const float* mean, const float* a, \
                       const float* offset, bool relu, T* y) {                                     \
    Normalize(x, side, rows, mean, a, offset, relu, y);                                            \
  }                                                                                                \
  void AddGradients##name(Gate gate, const NormGradientRows<T>& in, int64_t rows, float* sums) {   \
    AddGradients(gate, in, rows, sums);                                                            \
  }                                                                                                \
  void WriteGradients##name(Gate gate, const NormGradientRows<T>& in, int64_t rows,                \
                            const float* a, const float* b, const float* d, T* dx, T* dside) {     \
    WriteGradients(gate, in, rows, a, b, d, dx, dside);                                            \
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
  void AddMomentRows(const T* x, int64_t rows, const float* shift, float* sums) {                \
    HWY_DYNAMIC_DISPATCH(AddMoments##name)(x, rows, shift, sums);                                \
  }                                                                                              \
  void NormalizeRows(const T* x, const T* side, int64_t rows, const float* mean, const float* a, \
                     const float* offset, bool relu, T* y) {                                     \
    HWY_DYNAMIC_DISPATCH(Normalize##name)(x, side, rows, mean, a, offset, relu, y);              \
  }                                                                                              \
  void AddGradientRows(Gate gate, const NormGradientRows<T>& in, int64_t rows, float* sums) {    \
    HWY_DYNAMIC_DISPATCH(AddGradients##name)(gate, in, rows, sums);                              \
  }                                                                                              \
  void WriteGradientRows(Gate gate, const NormGradientRows<T>& in, int64_t rows, const float* a, \
                         const float* b, const float* d, T* dx, T* dside) {                      \
    HWY_DYNAMIC_DISPATCH(WriteGradients##name)(gate, in, rows, a, b, d, dx, dside);              \
  }
EST_ROWS_OF(float, F32)
EST_ROWS_OF(Bfloat16, Bf16)
#undef EST_ROWS_OF

}  // namespace estimator::fused
#endif  // HWY_ONCE
