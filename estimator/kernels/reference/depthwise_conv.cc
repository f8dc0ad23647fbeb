// DepthwiseConv2dNative and its two gradients as plain loops.
//   out[n,p,q,c*M+m] = sum_{r,s} in[n, row(p,r), column(q,s), c] * filter[r,s,c,m]
#include <algorithm>
#include <cstdint>
#include <memory>

#include "estimator/kernels/kernel.h"
#include "estimator/kernels/reference/accumulate.h"
#include "estimator/kernels/reference/conv_taps.h"
#include "estimator/kernels/window.h"

namespace estimator {
namespace {

enum class Which { kForward, kInput, kFilter };

// The number of sums in memory: one image of the computed operand, or all of the filter.
template <Which which>
int64_t SumsOf(const ConvGeometry& g) {
  if (which == Which::kForward) return g.rows.output * g.columns.output * g.out_channels;
  if (which == Which::kInput) return g.rows.input * g.columns.input * g.in_channels;
  return g.rows.kernel * g.columns.kernel * g.out_channels;
}

// The three kernels are one loop nest, and differ in the operand that they compute.
//   in: [N,H,W,C].  filter: [R,S,C,M].  out: [N,P,Q,C*M].
//   result: the operand that is computed.  sums: has SumsOf numbers.
template <Which which, typename T, typename Acc = Accumulator<T>>
void Depthwise(const ConvGeometry& g, const T* in, const T* filter, const T* out, T* result,
               Acc* sums) {
  const int64_t channels = g.in_channels, multiplier = g.multiplier;
  const int64_t out_pixels = g.rows.output * g.columns.output;
  const int64_t in_pixels = g.rows.input * g.columns.input;
  const int64_t size = SumsOf<which>(g);
  std::fill(sums, sums + size, Acc{0});
  for (int64_t n = 0; n < g.batch; ++n) {
    ForEachTap(g, n, [&](int64_t output, int64_t input, int64_t tap) {
      for (int64_t c = 0; c < channels; ++c) {
        for (int64_t m = 0; m < multiplier; ++m) {
          const int64_t o = c * multiplier + m;
          if constexpr (which == Which::kForward) {
            sums[(output - n * out_pixels) * g.out_channels + o] +=
                static_cast<Acc>(in[input * channels + c]) *
                static_cast<Acc>(filter[tap * g.out_channels + o]);
          } else if constexpr (which == Which::kInput) {
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
    if constexpr (which != Which::kFilter) {
      for (int64_t e = 0; e < size; ++e) result[n * size + e] = static_cast<T>(sums[e]);
      std::fill(sums, sums + size, Acc{0});
    }
  }
  if constexpr (which == Which::kFilter) {
    for (int64_t e = 0; e < size; ++e) result[e] = static_cast<T>(sums[e]);
  }
}

template <Which which>
std::unique_ptr<Kernel> MakeDepthwise(const KernelSpec& spec) {
  const Shape& input = which == Which::kInput ? spec.outputs[0].shape : spec.inputs[0].shape;
  const Shape& filter = which == Which::kFilter ? spec.outputs[0].shape : spec.inputs[1].shape;
  const auto geometry = MakeConvGeometry(spec.attrs, input, filter, /*depthwise=*/true);
  if (!geometry.ok()) return nullptr;
  const ConvGeometry g = *geometry;
  return VisitFloating(spec.outputs[0].dtype, [&](auto tag) {
    using T = decltype(tag);
    using Acc = Accumulator<T>;
    return MakeKernel(
        [g](const KernelArgs& args) {
          const T* in = which == Which::kInput ? nullptr : args.in<T>(0);
          const T* filter = which == Which::kFilter ? nullptr : args.in<T>(1);
          const T* out = which == Which::kForward ? nullptr : args.in<T>(2);
          Depthwise<which>(g, in, filter, out, args.out<T>(0), static_cast<Acc*>(args.scratch));
          return absl::OkStatus();
        },
        static_cast<size_t>(SumsOf<which>(g)) * sizeof(Acc));
  });
}

EST_REGISTER_KERNEL("DepthwiseConv2dNative", KernelTier::kReference,
                    MakeDepthwise<Which::kForward>);
EST_REGISTER_KERNEL("DepthwiseConv2dNativeBackpropInput", KernelTier::kReference,
                    MakeDepthwise<Which::kInput>);
EST_REGISTER_KERNEL("DepthwiseConv2dNativeBackpropFilter", KernelTier::kReference,
                    MakeDepthwise<Which::kFilter>);

}  // namespace
}  // namespace estimator
