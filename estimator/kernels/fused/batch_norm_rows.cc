#include "estimator/kernels/fused/batch_norm_rows.h"

// Highway's foreach_target.h compiles this file once for every instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "estimator/kernels/fused/batch_norm_rows.cc"
#define HWY_DISABLE_PCLMUL_AES  // x86-64-v3 lacks it and we do not use it; so AVX2 is the baseline
// The order matters: each header includes this file, or needs what the header before it defined.
// clang-format off
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
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

int64_t Lanes() { return static_cast<int64_t>(hn::Lanes(D())); }

void AddMoments(const float* x, int64_t rows, const float* shift, float* sums) {
  const D d;
  for (int64_t c = 0; c < kNormWidth; c += Lanes()) {
    const V mean = hn::LoadU(d, shift + c);
    const float* row = x + c;
    Sums total;
    const auto add = [&](int k, const float* from) HWY_ATTR {
      const V off = hn::Sub(hn::LoadU(d, from), mean);
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

template <bool kSide, bool kRelu>
void NormalizeAs(const float* x, const float* side, int64_t rows, const float* mean, const float* a,
                 const float* offset, float* y) {
  const D d;
  for (int64_t c = 0; c < kNormWidth; c += Lanes()) {
    const V m = hn::LoadU(d, mean + c), slope = hn::LoadU(d, a + c),
            begin = hn::LoadU(d, offset + c);
    for (int64_t e = c; e < rows * kNormWidth; e += kNormWidth) {
      V value = hn::MulAdd(hn::Sub(hn::LoadU(d, x + e), m), slope, begin);
      if constexpr (kSide) value = hn::Add(value, hn::LoadU(d, side + e));
      if constexpr (kRelu) value = hn::IfThenZeroElse(hn::Lt(value, hn::Zero(d)), value);
      hn::StoreU(value, d, y + e);
    }
  }
}

void Normalize(const float* x, const float* side, int64_t rows, const float* mean, const float* a,
               const float* offset, bool relu, float* y) {
  const auto run = side != nullptr ? (relu ? NormalizeAs<true, true> : NormalizeAs<true, false>)
                                   : (relu ? NormalizeAs<false, true> : NormalizeAs<false, false>);
  run(x, side, rows, mean, a, offset, y);
}

// The parameters that decide the gradient of relu, of a vector of channels.
struct GateOf {
  V mean, a, offset;

  GateOf(Gate gate, const NormGradientRows& in, int64_t c) {
    const D d;
    mean = hn::LoadU(d, in.mean + c);
    a = gate == Gate::kFoundAgain ? hn::LoadU(d, in.a + c) : hn::Zero(d);
    offset = gate == Gate::kFoundAgain ? hn::LoadU(d, in.offset + c) : hn::Zero(d);
  }
};

// off: x - mean at element e.
template <Gate kGate>
HWY_INLINE V GradientAt(const NormGradientRows& in, const GateOf& gate, int64_t e, V off) {
  const D d;
  const V dy = hn::LoadU(d, in.dy + e);
  if constexpr (kGate == Gate::kOpen) return dy;
  V y;
  if constexpr (kGate == Gate::kByY) {
    y = hn::LoadU(d, in.y + e);
  } else {
    y = hn::MulAdd(off, gate.a, gate.offset);
  }
  return hn::IfThenElseZero(hn::Gt(y, hn::Zero(d)), dy);
}

template <Gate kGate>
void AddGradientsAs(const NormGradientRows& in, int64_t rows, float* sums) {
  const D d;
  for (int64_t c = 0; c < kNormWidth; c += Lanes()) {
    const GateOf gate(kGate, in, c);
    Sums total;
    const auto add = [&](int k, int64_t e) HWY_ATTR {
      const V off = hn::Sub(hn::LoadU(d, in.x + e), gate.mean);
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

void AddGradients(Gate gate, const NormGradientRows& in, int64_t rows, float* sums) {
  const auto run = gate == Gate::kOpen  ? AddGradientsAs<Gate::kOpen>
                   : gate == Gate::kByY ? AddGradientsAs<Gate::kByY>
                                        : AddGradientsAs<Gate::kFoundAgain>;
  run(in, rows, sums);
}

template <Gate kGate>
void WriteGradientsAs(const NormGradientRows& in, int64_t rows, const float* a, const float* b,
                      const float* d, float* dx, float* dside) {
  const D tag;
  for (int64_t c = 0; c < kNormWidth; c += Lanes()) {
    const GateOf gate(kGate, in, c);
    const V slope = hn::LoadU(tag, a + c), slope_x = hn::LoadU(tag, b + c),
            begin = hn::LoadU(tag, d + c);
    for (int64_t e = c; e < rows * kNormWidth; e += kNormWidth) {
      const V off = hn::Sub(hn::LoadU(tag, in.x + e), gate.mean);
      const V g = GradientAt<kGate>(in, gate, e, off);
      hn::StoreU(hn::MulAdd(slope, g, hn::MulAdd(slope_x, off, begin)), tag, dx + e);
      if (dside != nullptr) hn::StoreU(g, tag, dside + e);
    }
  }
}

void WriteGradients(Gate gate, const NormGradientRows& in, int64_t rows, const float* a,
                    const float* b, const float* d, float* dx, float* dside) {
  const auto run = gate == Gate::kOpen  ? WriteGradientsAs<Gate::kOpen>
                   : gate == Gate::kByY ? WriteGradientsAs<Gate::kByY>
                                        : WriteGradientsAs<Gate::kFoundAgain>;
  run(in, rows, a, b, d, dx, dside);
}

}  // namespace HWY_NAMESPACE
}  // namespace estimator::fused
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace estimator::fused {
namespace {
HWY_EXPORT(AddMoments);
HWY_EXPORT(Normalize);
HWY_EXPORT(AddGradients);
HWY_EXPORT(WriteGradients);
}  // namespace

void AddMomentRows(const float* x, int64_t rows, const float* shift, float* sums) {
  HWY_DYNAMIC_DISPATCH(AddMoments)(x, rows, shift, sums);
}

void NormalizeRows(const float* x, const float* side, int64_t rows, const float* mean,
                   const float* a, const float* offset, bool relu, float* y) {
  HWY_DYNAMIC_DISPATCH(Normalize)(x, side, rows, mean, a, offset, relu, y);
}

void AddGradientRows(Gate gate, const NormGradientRows& in, int64_t rows, float* sums) {
  HWY_DYNAMIC_DISPATCH(AddGradients)(gate, in, rows, sums);
}

void WriteGradientRows(Gate gate, const NormGradientRows& in, int64_t rows, const float* a,
                       const float* b, const float* d, float* dx, float* dside) {
  HWY_DYNAMIC_DISPATCH(WriteGradients)(gate, in, rows, a, b, d, dx, dside);
}

}  // namespace estimator::fused
#endif  // HWY_ONCE
