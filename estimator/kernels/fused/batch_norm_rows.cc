#include "estimator/kernels/fused/batch_norm_rows.h"

#include <algorithm>
#include <cstdint>

#include "hwy/cache_control.h"

// Highway compiles this file once for every instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "estimator/kernels/fused/batch_norm_rows.cc"
#include "estimator/kernels/every_target-inl.h"
#include "estimator/kernels/fused/bfloat16_vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace estimator::fused {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Rows of this many channels are processed in the order of memory, which the prefetchers of a CPU
// follow. In narrower ones, a vector of channels is processed for several rows, so that its sums
// and parameters stay in registers.
constexpr int64_t kWideRow = 32;
constexpr int64_t kNarrowRows = 64;

// Calls each(tag, parameters, e) for the vectors of all rows; e is the vector's first element.
//   params(tag, c): the parameters of a vector of channels from c on.
template <typename Params, typename Each>
HWY_INLINE void ForEachElement(int64_t rows, int64_t width, Params&& params, Each&& each) {
  const int64_t step = width >= kWideRow ? 1 : kNarrowRows;
  for (int64_t begin = 0; begin < rows; begin += step) {
    const int64_t end = std::min(rows, begin + step);
    ForEachVector(width, [&](auto d, int64_t c) HWY_ATTR {
      const auto of_channels = params(d, c);
      for (int64_t r = begin; r < end; ++r) each(d, of_channels, r * width + c);
    });
  }
}

// Adds two terms of each element to sums [2, width].
//   T: the dtype of images.
//   prefetch(e): prefetches the operands of element e.
//   add(tag, parameters, e, first, second): adds the terms of element e to both.
//
// Two wide rows at a time share a load and a store of the sums. The rows after them are prefetched,
// because hardware does not read far enough ahead in two rows at once: without it, images that are
// not in the cache had a third of the speed.
template <typename T, typename Params, typename Prefetch, typename Add>
HWY_INLINE void SumElements(int64_t rows, int64_t width, float* sums, Params&& params,
                            Prefetch&& prefetch, Add&& add) {
  constexpr int64_t kTile = 2, kAheadBytes = 1024, kLine = 64 / sizeof(T);
  float* const second_sums = sums + width;
  if (width >= kWideRow) {
    const int64_t tile_bytes = kTile * width * static_cast<int64_t>(sizeof(T));
    const int64_t ahead = (kAheadBytes + tile_bytes - 1) / tile_bytes * kTile * width;
    for (int64_t r = 0; r < rows; r += kTile) {
      const bool both = r + 1 < rows;
      ForEachVector(width, [&](auto d, int64_t c) HWY_ATTR {
        const auto of_channels = params(d, c);
        const int64_t e = r * width + c;
        // A prefetch brings a whole line, which has more numbers than some vectors.
        if (c % kLine == 0) {
          prefetch(e + ahead);
          prefetch(e + ahead + width);
        }
        auto first = hn::LoadU(d, sums + c), second = hn::LoadU(d, second_sums + c);
        add(d, of_channels, e, first, second);
        if (both) add(d, of_channels, e + width, first, second);
        hn::StoreU(first, d, sums + c);
        hn::StoreU(second, d, second_sums + c);
      });
    }
    return;
  }
  ForEachVector(width, [&](auto d, int64_t c) HWY_ATTR {
    const auto of_channels = params(d, c);
    // Two sums for each of four rows in turn: an addition need not wait for the one before it.
    auto first0 = hn::LoadU(d, sums + c), second0 = hn::LoadU(d, second_sums + c);
    auto first1 = hn::Zero(d), first2 = first1, first3 = first1;
    auto second1 = first1, second2 = first1, second3 = first1;
    int64_t e = c, r = 0;
    for (; r + 4 <= rows; r += 4, e += 4 * width) {
      add(d, of_channels, e, first0, second0);
      add(d, of_channels, e + width, first1, second1);
      add(d, of_channels, e + 2 * width, first2, second2);
      add(d, of_channels, e + 3 * width, first3, second3);
    }
    for (; r < rows; ++r, e += width) add(d, of_channels, e, first0, second0);
    hn::StoreU(hn::Add(hn::Add(first0, first1), hn::Add(first2, first3)), d, sums + c);
    hn::StoreU(hn::Add(hn::Add(second0, second1), hn::Add(second2, second3)), d, second_sums + c);
  });
}

template <typename T>
void AddMoments(const T* x, int64_t rows, int64_t width, const float* shift, float* sums) {
  SumElements<T>(
      rows, width, sums, [&](auto d, int64_t c) HWY_ATTR { return hn::LoadU(d, shift + c); },
      [&](int64_t e) { hwy::Prefetch(x + e); },
      [&](auto d, auto mean, int64_t e, auto& first, auto& second) HWY_ATTR {
        const auto off = hn::Sub(LoadFloats(d, x + e), mean);
        first = hn::Add(first, off);
        second = hn::MulAdd(off, off, second);
      });
}

// A line of the channels' parameters.
template <class D>
struct Line {
  hn::Vec<D> mean, slope, low;
};

template <bool kSide, NormActivation kActivation, typename T>
void NormalizeAs(const T* x, const T* side, int64_t rows, int64_t width, const float* mean,
                 const float* a, const float* offset, T* y) {
  ForEachElement(
      rows, width,
      [&](auto d, int64_t c) HWY_ATTR {
        return Line<decltype(d)>{hn::LoadU(d, mean + c), hn::LoadU(d, a + c),
                                 hn::LoadU(d, offset + c)};
      },
      [&](auto d, const auto& line, int64_t e) HWY_ATTR {
        auto value = hn::MulAdd(hn::Sub(LoadFloats(d, x + e), line.mean), line.slope, line.low);
        if constexpr (kSide) value = hn::Add(value, LoadFloats(d, side + e));
        // Comparisons keep a NaN, which a maximum with 0 may drop.
        if constexpr (kActivation != NormActivation::kIdentity)
          value = hn::IfThenZeroElse(hn::Lt(value, hn::Zero(d)), value);
        if constexpr (kActivation == NormActivation::kRelu6) {
          const auto six = hn::Set(d, 6.0f);
          value = hn::IfThenElse(hn::Gt(value, six), six, value);
        }
        StoreFloats(value, d, y + e);
      });
}

template <bool kSide, typename T>
void NormalizeWith(const T* x, const T* side, int64_t rows, int64_t width, const float* mean,
                   const float* a, const float* offset, NormActivation act, T* y) {
  using enum NormActivation;
  const auto run = act == kIdentity ? NormalizeAs<kSide, kIdentity, T>
                   : act == kRelu   ? NormalizeAs<kSide, kRelu, T>
                                    : NormalizeAs<kSide, kRelu6, T>;
  run(x, side, rows, width, mean, a, offset, y);
}

template <typename T>
void Normalize(const T* x, const T* side, int64_t rows, int64_t width, const float* mean,
               const float* a, const float* offset, NormActivation act, T* y) {
  const auto run = side != nullptr ? NormalizeWith<true, T> : NormalizeWith<false, T>;
  run(x, side, rows, width, mean, a, offset, act, y);
}

// From here on, relu6 is 6 in images of T. In bf16, numbers between 5.96875 and 6 are rounded to
// the nearer one, and the number in the middle to 6.
template <typename T>
constexpr float kSaturated = 6.0f;
template <>
inline constexpr float kSaturated<Bfloat16> = 5.984375f;

// The parameters that decide the gradient of the activation, of a vector of channels. slope and low
// are used for IsFoundAgain only.
template <Gate kGate, class D, typename T>
HWY_INLINE Line<D> GateLine(D d, const NormGradientRows<T>& in, int64_t c) {
  Line<D> line{hn::LoadU(d, in.mean + c), hn::Zero(d), hn::Zero(d)};
  if constexpr (IsFoundAgain(kGate)) {
    line.slope = hn::LoadU(d, in.a + c);
    line.low = hn::LoadU(d, in.offset + c);
  }
  return line;
}

template <Gate kGate, typename T, class D>
HWY_INLINE hn::Mask<D> IsOpen(D d, hn::Vec<D> y) {
  const auto positive = hn::Gt(y, hn::Zero(d));
  if constexpr (IsOfRelu6(kGate)) {
    return hn::And(positive, hn::Lt(y, hn::Set(d, kSaturated<T>)));
  } else {
    return positive;
  }
}

// off: x - mean at element e.
template <Gate kGate, class D, typename T>
HWY_INLINE hn::Vec<D> GradientAt(D d, const NormGradientRows<T>& in, const Line<D>& gate, int64_t e,
                                 hn::Vec<D> off) {
  const auto dy = LoadFloats(d, in.dy + e);
  if constexpr (kGate == Gate::kOpen) {
    return dy;
  } else if constexpr (IsByY(kGate)) {
    return hn::IfThenElseZero(IsOpen<kGate, T>(d, LoadFloats(d, in.y + e)), dy);
  } else {
    // The same instructions as in NormalizeAs, so that y has the bits that the forward pass had
    // before it rounded them.
    const auto y = hn::MulAdd(off, gate.slope, gate.low);
    return hn::IfThenElseZero(IsOpen<kGate, T>(d, y), dy);
  }
}

template <Gate kGate, typename T>
void AddGradientsAs(const NormGradientRows<T>& in, int64_t rows, int64_t width, float* sums) {
  SumElements<T>(
      rows, width, sums, [&](auto d, int64_t c) HWY_ATTR { return GateLine<kGate>(d, in, c); },
      [&](int64_t e) {
        hwy::Prefetch(in.dy + e);
        hwy::Prefetch(in.x + e);
        if constexpr (IsByY(kGate)) hwy::Prefetch(in.y + e);
      },
      [&](auto d, const auto& gate, int64_t e, auto& first, auto& second) HWY_ATTR {
        const auto off = hn::Sub(LoadFloats(d, in.x + e), gate.mean);
        const auto g = GradientAt<kGate>(d, in, gate, e, off);
        first = hn::Add(first, g);
        second = hn::MulAdd(g, off, second);
      });
}

template <typename T>
void AddGradients(Gate gate, const NormGradientRows<T>& in, int64_t rows, int64_t width,
                  float* sums) {
  switch (gate) {
    case Gate::kOpen:
      return AddGradientsAs<Gate::kOpen>(in, rows, width, sums);
    case Gate::kReluByY:
      return AddGradientsAs<Gate::kReluByY>(in, rows, width, sums);
    case Gate::kReluFoundAgain:
      return AddGradientsAs<Gate::kReluFoundAgain>(in, rows, width, sums);
    case Gate::kRelu6ByY:
      return AddGradientsAs<Gate::kRelu6ByY>(in, rows, width, sums);
    case Gate::kRelu6FoundAgain:
      return AddGradientsAs<Gate::kRelu6FoundAgain>(in, rows, width, sums);
  }
}

template <class D>
struct GradientLine {
  Line<D> gate;
  hn::Vec<D> a, b, d;
};

template <Gate kGate, bool kSide, typename T>
void WriteGradientsAs(const NormGradientRows<T>& in, int64_t rows, int64_t width, const float* a,
                      const float* b, const float* d, T* dx, T* dside) {
  ForEachElement(
      rows, width,
      [&](auto tag, int64_t c) HWY_ATTR {
        return GradientLine<decltype(tag)>{GateLine<kGate>(tag, in, c), hn::LoadU(tag, a + c),
                                           hn::LoadU(tag, b + c), hn::LoadU(tag, d + c)};
      },
      [&](auto tag, const auto& line, int64_t e) HWY_ATTR {
        const auto off = hn::Sub(LoadFloats(tag, in.x + e), line.gate.mean);
        const auto g = GradientAt<kGate>(tag, in, line.gate, e, off);
        // g is computed again from dy: to keep it would write and read one more image.
        StoreFloats(hn::MulAdd(line.a, g, hn::MulAdd(line.b, off, line.d)), tag, dx + e);
        if constexpr (kSide) StoreFloats(g, tag, dside + e);
      });
}

template <bool kSide, typename T>
void WriteGradientsTo(Gate gate, const NormGradientRows<T>& in, int64_t rows, int64_t width,
                      const float* a, const float* b, const float* d, T* dx, T* dside) {
  switch (gate) {
    case Gate::kOpen:
      return WriteGradientsAs<Gate::kOpen, kSide>(in, rows, width, a, b, d, dx, dside);
    case Gate::kReluByY:
      return WriteGradientsAs<Gate::kReluByY, kSide>(in, rows, width, a, b, d, dx, dside);
    case Gate::kReluFoundAgain:
      return WriteGradientsAs<Gate::kReluFoundAgain, kSide>(in, rows, width, a, b, d, dx, dside);
    case Gate::kRelu6ByY:
      return WriteGradientsAs<Gate::kRelu6ByY, kSide>(in, rows, width, a, b, d, dx, dside);
    case Gate::kRelu6FoundAgain:
      return WriteGradientsAs<Gate::kRelu6FoundAgain, kSide>(in, rows, width, a, b, d, dx, dside);
  }
}

template <typename T>
void WriteGradients(Gate gate, const NormGradientRows<T>& in, int64_t rows, int64_t width,
                    const float* a, const float* b, const float* d, T* dx, T* dside) {
  const auto run = dside != nullptr ? WriteGradientsTo<true, T> : WriteGradientsTo<false, T>;
  run(gate, in, rows, width, a, b, d, dx, dside);
}

// HWY_EXPORT takes plain functions.
#define EST_ROWS_OF(T, name)                                                                       \
  void AddMoments##name(const T* x, int64_t rows, int64_t width, const float* shift,               \
                        float* sums) {                                                             \
    AddMoments(x, rows, width, shift, sums);                                                       \
  }                                                                                                \
  void Normalize##name(const T* x, const T* side, int64_t rows, int64_t width, const float* mean,  \
                       const float* a, const float* offset, NormActivation act, T* y) {            \
    Normalize(x, side, rows, width, mean, a, offset, act, y);                                      \
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
                     const float* a, const float* offset, NormActivation act, T* y) {            \
    HWY_DYNAMIC_DISPATCH(Normalize##name)(x, side, rows, width, mean, a, offset, act, y);        \
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
