#include "estimator/kernels/fused/pool_rows.h"

#include <cstdint>

// Highway compiles this file once for every instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "estimator/kernels/fused/pool_rows.cc"
#include "estimator/kernels/every_target-inl.h"
#include "estimator/kernels/fused/bfloat16_vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace estimator::fused {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Stores numbers that were loaded from a T, which need no rounding.
template <class D>
HWY_INLINE void StoreExact(hn::Vec<D> x, D d, float* to) {
  hn::StoreU(x, d, to);
}
template <class D>
HWY_INLINE void StoreExact(hn::Vec<D> x, D d, Bfloat16* to) {
  const hn::RebindToUnsigned<D> du;
  const hn::RebindToSigned<D> di;
  const hn::Rebind<uint16_t, D> du16;
  (void)d;
  const auto upper = hn::ShiftRight<16>(hn::BitCast(du, x));
  hn::StoreU(hn::DemoteTo(du16, hn::BitCast(di, upper)), du16, reinterpret_cast<uint16_t*>(to));
}

template <class D>
HWY_INLINE void StoreTaps(hn::Vec<hn::RebindToSigned<D>> taps, D, uint8_t* to) {
  const hn::Rebind<uint8_t, D> du8;
  hn::StoreU(hn::DemoteTo(du8, taps), du8, to);
}

// The taps of a window that are in the image, from tap (first_row, first_column) on.
struct Taps {
  int64_t rows = 0, columns = 0;
  int32_t first = 0;      // the number of the first tap
  int32_t row = 0;        // taps in a row of the window
  int64_t image_row = 0;  // elements in a row of the image
};

// The maximum over the taps and where it is.
//   kRows, kColumns: the number of taps, which the compiler unrolls; 0: that of `taps`.
//   x: the element of the first tap.
template <int64_t kRows, int64_t kColumns, class D, typename T>
HWY_INLINE void MaxOverTaps(D d, const Taps& taps, const T* x, int64_t channels, T* y,
                            uint8_t* argmax) {
  const hn::RebindToSigned<D> di;
  const int64_t rows = kRows == 0 ? taps.rows : kRows;
  const int64_t columns = kColumns == 0 ? taps.columns : kColumns;
  auto best = LoadFloats(d, x);
  auto which = hn::Set(di, taps.first);
  for (int64_t r = 0; r < rows; ++r) {
    const T* const row = x + r * taps.image_row;
    for (int64_t s = 0; s < columns; ++s) {
      // The first tap is compared with itself, so that it stays.
      const auto value = LoadFloats(d, row + s * channels);
      const auto greater = hn::Gt(value, best);
      const auto tap =
          hn::Set(di, taps.first + static_cast<int32_t>(r) * taps.row + static_cast<int32_t>(s));
      best = hn::IfThenElse(greater, value, best);
      which = hn::IfThenElse(hn::RebindMask(di, greater), tap, which);
    }
  }
  StoreExact(best, d, y);
  if (argmax != nullptr) StoreTaps(which, d, argmax);
}

// Calls fn(taps, x, e) for each window of row p. x: the first tap's pixel. e: where the window's
// pixel begins in the row of results.
template <typename T, typename Fn>
HWY_INLINE void ForEachWindow(const PoolWindows& pool, const T* x, int64_t p, Fn&& fn) {
  const Window &rows = pool.rows, &columns = pool.columns;
  const int64_t channels = pool.channels, r0 = rows.FirstTap(p);
  Taps taps{.rows = rows.EndTap(p) - r0,
            .columns = 0,
            .first = 0,
            .row = static_cast<int32_t>(columns.kernel),
            .image_row = columns.input * channels};
  const T* const top = x + rows.Input(p, r0) * taps.image_row;
  for (int64_t q = 0; q < columns.output; ++q) {
    const int64_t s0 = columns.FirstTap(q);
    taps.columns = columns.EndTap(q) - s0;
    taps.first = static_cast<int32_t>(r0 * columns.kernel + s0);
    fn(taps, top + columns.Input(q, s0) * channels, q * channels);
  }
}

template <typename T>
void MaxRow(const PoolWindows& pool, const T* x, int64_t p, T* y, uint8_t* argmax) {
  const int64_t channels = pool.channels;
  ForEachWindow(pool, x, p, [&](const Taps& taps, const T* first, int64_t e) HWY_ATTR {
    uint8_t* const which = argmax == nullptr ? nullptr : argmax + e;
    ForEachVector(channels, [&](auto d, int64_t c) HWY_ATTR {
      uint8_t* const to = which == nullptr ? nullptr : which + c;
      if (taps.rows == 2 && taps.columns == 2) {
        MaxOverTaps<2, 2>(d, taps, first + c, channels, y + e + c, to);
      } else if (taps.rows == 3 && taps.columns == 3) {
        MaxOverTaps<3, 3>(d, taps, first + c, channels, y + e + c, to);
      } else {
        MaxOverTaps<0, 0>(d, taps, first + c, channels, y + e + c, to);
      }
    });
  });
}

template <typename T>
void FindTaps(const PoolWindows& pool, const T* x, int64_t p, const T* y, uint8_t* argmax) {
  const int64_t channels = pool.channels;
  ForEachWindow(pool, x, p, [&](const Taps& taps, const T* first, int64_t e) HWY_ATTR {
    ForEachVector(channels, [&](auto d, int64_t c) HWY_ATTR {
      const hn::RebindToSigned<decltype(d)> di;
      const auto best = LoadFloats(d, y + e + c);
      const auto number = [&](int64_t r, int64_t s) {
        return taps.first + static_cast<int32_t>(r) * taps.row + static_cast<int32_t>(s);
      };
      auto which = hn::Set(di, number(taps.rows - 1, taps.columns - 1));
      // Iterates backwards, so that the first such element in row-major order is kept.
      for (int64_t r = taps.rows - 1; r >= 0; --r) {
        for (int64_t s = taps.columns - 1; s >= 0; --s) {
          const auto value = LoadFloats(d, first + r * taps.image_row + s * channels + c);
          which = hn::IfThenElse(hn::RebindMask(di, hn::Eq(value, best)), hn::Set(di, number(r, s)),
                                 which);
        }
      }
      StoreTaps(which, d, argmax + e + c);
    });
  });
}

// The windows that contain an input, for inputs in increasing order.
class Containing {
 public:
  explicit Containing(const Window& window) : window_(window) {}
  void MoveTo(int64_t input) {
    while (end_ < window_.output && window_.Input(end_, 0) <= input) ++end_;
    while (begin_ < end_ && window_.Input(begin_, 0) + window_.kernel <= input) ++begin_;
  }
  int64_t begin() const { return begin_; }
  int64_t end() const { return end_; }

 private:
  const Window& window_;
  int64_t begin_ = 0, end_ = 0;
};

// A window that contains a pixel: its first element of dy, and the number of the pixel's tap.
struct Source {
  int64_t element = 0;
  int32_t tap = 0;
};
// A window has at most 256 taps, so a pixel is in at most 256 windows.
constexpr int64_t kMostSources = 256;

// The gradient of the pixel dx.
//   kCount: the number of sources, which the compiler unrolls; 0: `count`.
template <bool kRelu, int64_t kCount, typename T>
void PixelGradient(const Source* sources, int64_t count, int64_t channels, const uint8_t* argmax,
                   const T* dy, const T* y, T* dx) {
  const int64_t number = kCount == 0 ? count : kCount;
  ForEachVector(channels, [&](auto d, int64_t c) HWY_ATTR {
    const hn::RebindToSigned<decltype(d)> di;
    const hn::Rebind<uint8_t, decltype(d)> du8;
    auto sum = hn::Zero(d);
    for (int64_t i = 0; i < number; ++i) {
      const int64_t e = sources[i].element + c;
      const auto which = hn::PromoteTo(di, hn::LoadU(du8, argmax + e));
      auto pass = hn::RebindMask(d, hn::Eq(which, hn::Set(di, sources[i].tap)));
      if constexpr (kRelu) pass = hn::And(pass, hn::Gt(LoadFloats(d, y + e), hn::Zero(d)));
      // The windows come in the order of the reference kernel, so that the sums have its bits.
      sum = hn::Add(sum, hn::IfThenElseZero(pass, LoadFloats(d, dy + e)));
    }
    StoreFloats(sum, d, dx + c);
  });
}

template <bool kRelu, typename T>
void GradientRowAs(const PoolWindows& pool, const uint8_t* argmax, const T* dy, const T* y,
                   int64_t h, T* dx) {
  const Window &rows = pool.rows, &columns = pool.columns;
  const int64_t channels = pool.channels;
  Containing p(rows), q(columns);
  p.MoveTo(h);
  Source sources[kMostSources];
  for (int64_t w = 0; w < columns.input; ++w, dx += channels) {
    q.MoveTo(w);
    int64_t count = 0;
    for (int64_t i = p.begin(); i < p.end(); ++i) {
      const int64_t first_tap = (h - rows.Input(i, 0)) * columns.kernel + w;
      for (int64_t j = q.begin(); j < q.end(); ++j) {
        sources[count++] = {(i * columns.output + j) * channels,
                            static_cast<int32_t>(first_tap - columns.Input(j, 0))};
      }
    }
    // The common numbers: with windows of 3x3 and stride 2, a pixel is in 1, 2 or 4 of them.
    const auto run = count == 1   ? PixelGradient<kRelu, 1, T>
                     : count == 2 ? PixelGradient<kRelu, 2, T>
                     : count == 4 ? PixelGradient<kRelu, 4, T>
                                  : PixelGradient<kRelu, 0, T>;
    run(sources, count, channels, argmax, dy, y, dx);
  }
}

//   kSize: the rows and columns of a window, which the compiler unrolls; 0: those of `pool`.
template <bool kRelu, int64_t kSize, typename T>
void TileRowsAs(const PoolWindows& pool, const uint8_t* argmax, const T* dy, const T* y, int64_t p,
                T* dx) {
  const int64_t channels = pool.channels;
  const int64_t rows = kSize == 0 ? pool.rows.kernel : kSize;
  const int64_t kernel = kSize == 0 ? pool.columns.kernel : kSize;
  const int64_t dx_row = pool.columns.input * channels;
  for (int64_t q = 0; q < pool.columns.output; ++q) {
    const int64_t at = (p * pool.columns.output + q) * channels;
    T* const corner = dx + q * kernel * channels;
    ForEachVector(channels, [&](auto d, int64_t c) HWY_ATTR {
      const hn::RebindToSigned<decltype(d)> di;
      const hn::Rebind<uint8_t, decltype(d)> du8;
      const auto which = hn::PromoteTo(di, hn::LoadU(du8, argmax + at + c));
      auto gradient = LoadFloats(d, dy + at + c);
      if constexpr (kRelu)
        gradient = hn::IfThenElseZero(hn::Gt(LoadFloats(d, y + at + c), hn::Zero(d)), gradient);
      for (int64_t r = 0; r < rows; ++r) {
        T* const row = corner + r * dx_row + c;
        for (int64_t s = 0; s < kernel; ++s) {
          const auto tap = hn::Set(di, static_cast<int32_t>(r * kernel + s));
          const auto pass = hn::RebindMask(d, hn::Eq(which, tap));
          StoreExact(hn::IfThenElseZero(pass, gradient), d, row + s * channels);
        }
      }
    });
  }
}

template <typename T>
void TileRows(const PoolWindows& pool, const uint8_t* argmax, const T* dy, const T* y, int64_t p,
              T* dx) {
  const bool pairs = pool.rows.kernel == 2 && pool.columns.kernel == 2;
  const auto run = y != nullptr ? (pairs ? TileRowsAs<true, 2, T> : TileRowsAs<true, 0, T>)
                                : (pairs ? TileRowsAs<false, 2, T> : TileRowsAs<false, 0, T>);
  run(pool, argmax, dy, y, p, dx);
}

template <typename T>
void GradientRow(const PoolWindows& pool, const uint8_t* argmax, const T* dy, const T* y, int64_t h,
                 T* dx) {
  const auto run = y != nullptr ? GradientRowAs<true, T> : GradientRowAs<false, T>;
  run(pool, argmax, dy, y, h, dx);
}

// HWY_EXPORT takes plain functions.
#define EST_ROWS_OF(T, name)                                                                      \
  void MaxRow##name(const PoolWindows& pool, const T* x, int64_t p, T* y, uint8_t* argmax) {      \
    MaxRow(pool, x, p, y, argmax);                                                                \
  }                                                                                               \
  void FindTaps##name(const PoolWindows& pool, const T* x, int64_t p, const T* y,                 \
                      uint8_t* argmax) {                                                          \
    FindTaps(pool, x, p, y, argmax);                                                              \
  }                                                                                               \
  void GradientRow##name(const PoolWindows& pool, const uint8_t* argmax, const T* dy, const T* y, \
                         int64_t h, T* dx) {                                                      \
    GradientRow(pool, argmax, dy, y, h, dx);                                                      \
  }                                                                                               \
  void TileRows##name(const PoolWindows& pool, const uint8_t* argmax, const T* dy, const T* y,    \
                      int64_t p, T* dx) {                                                         \
    TileRows(pool, argmax, dy, y, p, dx);                                                         \
  }
EST_ROWS_OF(float, F32)
EST_ROWS_OF(Bfloat16, Bf16)
#undef EST_ROWS_OF

}  // namespace HWY_NAMESPACE
}  // namespace estimator::fused
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace estimator::fused {

bool Tiles(const PoolWindows& pool) {
  const auto exact = [](const Window& w) {
    return w.stride == w.kernel && w.pad_before == 0 && w.input == w.output * w.stride;
  };
  return exact(pool.rows) && exact(pool.columns);
}

#define EST_ROWS_OF(T, name)                                                                       \
  namespace {                                                                                      \
  HWY_EXPORT(MaxRow##name);                                                                        \
  HWY_EXPORT(FindTaps##name);                                                                      \
  HWY_EXPORT(GradientRow##name);                                                                   \
  HWY_EXPORT(TileRows##name);                                                                      \
  }                                                                                                \
  void MaxPoolRow(const PoolWindows& pool, const T* x, int64_t p, T* y, uint8_t* argmax) {         \
    HWY_DYNAMIC_DISPATCH(MaxRow##name)(pool, x, p, y, argmax);                                     \
  }                                                                                                \
  void FindTapsRow(const PoolWindows& pool, const T* x, int64_t p, const T* y, uint8_t* argmax) {  \
    HWY_DYNAMIC_DISPATCH(FindTaps##name)(pool, x, p, y, argmax);                                   \
  }                                                                                                \
  void MaxPoolGradientRow(const PoolWindows& pool, const uint8_t* argmax, const T* dy, const T* y, \
                          int64_t h, T* dx) {                                                      \
    HWY_DYNAMIC_DISPATCH(GradientRow##name)(pool, argmax, dy, y, h, dx);                           \
  }                                                                                                \
  void MaxPoolGradientTileRows(const PoolWindows& pool, const uint8_t* argmax, const T* dy,        \
                               const T* y, int64_t p, T* dx) {                                     \
    HWY_DYNAMIC_DISPATCH(TileRows##name)(pool, argmax, dy, y, p, dx);                              \
  }
EST_ROWS_OF(float, F32)
EST_ROWS_OF(Bfloat16, Bf16)
#undef EST_ROWS_OF

}  // namespace estimator::fused
#endif  // HWY_ONCE
