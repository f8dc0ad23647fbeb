// DepthwiseConv2dNative and its two gradients as plain loops.
//   out[n,p,q,c*M+m] = sum_{r,s} in[n, row(p,r), column(q,s), c] * filter[r,s,c,m]
#include <algorithm>
#include <cstdint>

#include "estimator/kernels/conv_spec.h"
#include "estimator/kernels/kernel.h"
#include "estimator/kernels/reference/accumulate.h"
#include "estimator/kernels/reference/conv_taps.h"

namespace estimator {
namespace {

using Pass = ConvSpec::Pass;

// The number of sums in memory: one image of the computed operand, or all of the filter.
template <Pass kPass>
int64_t SumsOf(const ConvGeometry& g) {
  if (kPass == Pass::kForward) return g.rows.output * g.columns.output * g.out_channels;
  if (kPass == Pass::kInputGradient) return g.rows.input * g.columns.input * g.in_channels;
  return g.rows.kernel * g.columns.kernel * g.out_channels;
}

// The three kernels are one loop nest, and differ in the operand that they compute.
//   in: [N,H,W,C].  filter: [R,S,C,M].  out: [N,P,Q,C*M].
//   result: the operand that is computed.  sums: has SumsOf numbers.
template <Pass kPass, typename T, typename Acc = Accumulator<T>>
void Depthwise(const ConvGeometry& g, const T* in, const T* filter, const T* out, T* result,
               Acc* sums) {
  const int64_t channels = g.in_channels, multiplier = g.multiplier;
  const int64_t out_pixels = g.rows.output * g.columns.output;
  const int64_t in_pixels = g.rows.input * g.columns.input;
  const int64_t size = SumsOf<kPass>(g);
  std::fill(sums, sums + size, Acc{0});
  for (int64_t n = 0; n < g.batch; ++n) {
    ForEachTap(g, n, [&](int64_t output, int64_t input, int64_t tap) {
      for (int64_t c = 0; c < channels; ++c) {
        for (int64_t m = 0; m < multiplier; ++m) {
          const int64_t o = c * multiplier + m;
          if constexpr (kPass == Pass::kForward) {
            sums[(output - n * out_pixels) * g.out_channels + o] +=
                static_cast<Acc>(in[input * channels + c]) *
                static_cast<Acc>(filter[tap * g.out_channels + o]);
          } else if constexpr (kPass == Pass::kInputGradient) {
            sums[(input - n * in_pixels) * channels + c] +=
                static_cast<Acc>(out[output * g.out_channels + o]) *
                static_cast<Acc>(filter[tap * g.out_channels + o]);
          } else {
            sums[tap * g.out_channels + o] += static_cast<Acc>(in[input * channels + c]) *
                                              static_cast<Acc>(out[output * g.out_channels + o]);
          }
        }
      }
    });
    // The filter's gradient is a sum over all images; the other results are complete after each.
    if constexpr (kPass != Pass::kFilterGradient) {
      for (int64_t e = 0; e < size; ++e) result[n * size + e] = static_cast<T>(sums[e]);
      std::fill(sums, sums + size, Acc{0});
    }
  }
  if constexpr (kPass == Pass::kFilterGradient) {
    for (int64_t e = 0; e < size; ++e) result[e] = static_cast<T>(sums[e]);
  }
}

template <Pass kPass>
KernelPlan MakeDepthwise(const ConvSpec& spec) {
  const ConvGeometry& g = spec.geometry;
  return VisitFloating(spec.x.dtype, [&](auto tag) {
    using T = decltype(tag);
    using Acc = Accumulator<T>;
    return MakeKernel(
        [g](const KernelArgs& args) {
          const T* in = kPass == Pass::kInputGradient ? nullptr : args.in<T>(0);
          const T* filter = kPass == Pass::kFilterGradient ? nullptr : args.in<T>(1);
          const T* out = kPass == Pass::kForward ? nullptr : args.in<T>(2);
          Depthwise<kPass>(g, in, filter, out, args.out<T>(0), static_cast<Acc*>(args.scratch));
        },
        static_cast<size_t>(SumsOf<kPass>(g)) * sizeof(Acc));
  });
}

EST_REGISTER_KERNEL("DepthwiseConv2dNative", KernelTier::kReference,
                    FromNhwcConvSpec<MakeDepthwise<Pass::kForward>>);
EST_REGISTER_KERNEL("DepthwiseConv2dNativeBackpropInput", KernelTier::kReference,
                    FromNhwcConvSpec<MakeDepthwise<Pass::kInputGradient>>);
EST_REGISTER_KERNEL("DepthwiseConv2dNativeBackpropFilter", KernelTier::kReference,
                    FromNhwcConvSpec<MakeDepthwise<Pass::kFilterGradient>>);

}  // namespace
}  // namespace estimator
