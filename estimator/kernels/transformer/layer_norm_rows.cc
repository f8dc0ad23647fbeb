#include "estimator/kernels/transformer/layer_norm_rows.h"

#include <cmath>

// Highway compiles this file once for every instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "estimator/kernels/transformer/layer_norm_rows.cc"
#include "estimator/kernels/every_target-inl.h"

HWY_BEFORE_NAMESPACE();
namespace estimator::transformer {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

// Calls step(d, i) for each vector of a row. The last elements are vectors of one lane.
template <typename Step>
HWY_INLINE void ForEachVector(int64_t channels, Step&& step) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= channels; i += lanes) step(d, i);
  for (; i < channels; ++i) step(hn::CappedTag<float, 1>(), i);
}

// The sums over a row of the terms that term(d, i) returns as a pair. Two pairs of accumulators
// hide the latency of the additions.
template <typename Term>
HWY_INLINE void SumPairs(int64_t channels, Term&& term, float* first, float* second) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  V a0 = hn::Zero(d), b0 = hn::Zero(d), a1 = hn::Zero(d), b1 = hn::Zero(d);
  int64_t i = 0;
  for (; i + 2 * lanes <= channels; i += 2 * lanes) {
    term(d, i, a0, b0);
    term(d, i + lanes, a1, b1);
  }
  if (i + lanes <= channels) {
    term(d, i, a0, b0);
    i += lanes;
  }
  *first = hn::GetLane(hn::SumOfLanes(d, hn::Add(a0, a1)));
  *second = hn::GetLane(hn::SumOfLanes(d, hn::Add(b0, b1)));
  for (; i < channels; ++i) {
    const hn::CappedTag<float, 1> d1;
    auto a = hn::Zero(d1), b = hn::Zero(d1);
    term(d1, i, a, b);
    *first += hn::GetLane(a);
    *second += hn::GetLane(b);
  }
}

void LayerNormRows(const float* x, const float* HWY_RESTRICT gamma, const float* HWY_RESTRICT beta,
                   int64_t rows, int64_t channels, float epsilon, float* y,
                   float* HWY_RESTRICT mean, float* HWY_RESTRICT rstd) {
  const float scale = 1.0f / static_cast<float>(channels);
  for (int64_t r = 0; r < rows; ++r) {
    const float* const from = x + r * channels;
    float* const to = y + r * channels;
    float sum = 0, squares = 0, unused = 0;
    SumPairs(
        channels,
        [&](auto d, int64_t i, auto& a, auto&) HWY_ATTR { a = hn::Add(a, hn::LoadU(d, from + i)); },
        &sum, &unused);
    const float m = sum * scale;
    SumPairs(
        channels,
        [&](auto d, int64_t i, auto& a, auto&) HWY_ATTR {
          // A second pass over the row, which is in the L1 cache: the difference of two large sums
          // would lose the digits of a small variance.
          const auto centered = hn::Sub(hn::LoadU(d, from + i), hn::Set(d, m));
          a = hn::MulAdd(centered, centered, a);
        },
        &squares, &unused);
    const float s = 1.0f / std::sqrt(squares * scale + epsilon);
    mean[r] = m;
    rstd[r] = s;
    ForEachVector(channels, [&](auto d, int64_t i) HWY_ATTR {
      const auto centered = hn::Sub(hn::LoadU(d, from + i), hn::Set(d, m));
      const auto factor = hn::Mul(hn::Set(d, s), hn::LoadU(d, gamma + i));
      hn::StoreU(hn::MulAdd(centered, factor, hn::LoadU(d, beta + i)), d, to + i);
    });
  }
}

// With g = dy gamma and n = (x - mean) rstd: dx = rstd (g - mean(g) - n mean(g n)).
void LayerNormGradRows(const float* dy, const float* HWY_RESTRICT x,
                       const float* HWY_RESTRICT gamma, const float* HWY_RESTRICT mean,
                       const float* HWY_RESTRICT rstd, int64_t rows, int64_t channels, float* dx,
                       float* HWY_RESTRICT dgamma, float* HWY_RESTRICT dbeta) {
  const float scale = 1.0f / static_cast<float>(channels);
  for (int64_t r = 0; r < rows; ++r) {
    const float* const up = dy + r * channels;
    const float* const from = x + r * channels;
    float* const to = dx + r * channels;
    const float m = mean[r], s = rstd[r];
    float sum = 0, product = 0;
    SumPairs(
        channels,
        [&](auto d, int64_t i, auto& a, auto& b) HWY_ATTR {
          const auto g = hn::LoadU(d, up + i);
          const auto scaled = hn::Mul(g, hn::LoadU(d, gamma + i));
          const auto normal =
              hn::Mul(hn::Sub(hn::LoadU(d, from + i), hn::Set(d, m)), hn::Set(d, s));
          a = hn::Add(a, scaled);
          b = hn::MulAdd(scaled, normal, b);
          // The gradients of gamma and beta take no pass of their own: dy and x are in registers
          // here.
          hn::StoreU(hn::MulAdd(g, normal, hn::LoadU(d, dgamma + i)), d, dgamma + i);
          hn::StoreU(hn::Add(g, hn::LoadU(d, dbeta + i)), d, dbeta + i);
        },
        &sum, &product);
    const float center = s * sum * scale, slope = s * s * product * scale;
    ForEachVector(channels, [&](auto d, int64_t i) HWY_ATTR {
      const auto centered = hn::Sub(hn::LoadU(d, from + i), hn::Set(d, m));
      const auto factor = hn::Mul(hn::Set(d, s), hn::LoadU(d, gamma + i));
      const auto scaled = hn::MulSub(hn::LoadU(d, up + i), factor, hn::Set(d, center));
      hn::StoreU(hn::NegMulAdd(centered, hn::Set(d, slope), scaled), d, to + i);
    });
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace estimator::transformer
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace estimator::transformer {
HWY_EXPORT(LayerNormRows);
HWY_EXPORT(LayerNormGradRows);

void LayerNormRows(const float* x, const float* gamma, const float* beta, int64_t rows,
                   int64_t channels, float epsilon, float* y, float* mean, float* rstd) {
  HWY_DYNAMIC_DISPATCH(LayerNormRows)(x, gamma, beta, rows, channels, epsilon, y, mean, rstd);
}

void LayerNormGradRows(const float* dy, const float* x, const float* gamma, const float* mean,
                       const float* rstd, int64_t rows, int64_t channels, float* dx, float* dgamma,
                       float* dbeta) {
  HWY_DYNAMIC_DISPATCH(LayerNormGradRows)
  (dy, x, gamma, mean, rstd, rows, channels, dx, dgamma, dbeta);
}

}  // namespace estimator::transformer
#endif  // HWY_ONCE
