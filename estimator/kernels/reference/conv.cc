// Conv2D and its two gradients as plain loops.
//   out[n,p,q,o]  = sum_{r,s,c} in[n, row(p,r), column(q,s), c] * filter[r,s,c,o]
// Taps in the padding are skipped. The inner loops run along the output channels, which are
// contiguous in filter and output. With groups, c counts the input channels of o's group.
#include <algorithm>
#include <cstdint>

#include "estimator/kernels/conv_spec.h"
#include "estimator/kernels/kernel.h"
#include "estimator/kernels/reference/accumulate.h"
#include "estimator/kernels/reference/conv_taps.h"

namespace estimator {
namespace {

// Calls fn(input_channel, filter_row, first_output) for every input channel. filter_row is the row
// of the tap's filter for this channel; first_output is the first of the g.out_channels / g.groups
// outputs of its group.
template <typename Fn>
void ForEachChannel(const ConvGeometry& g, Fn&& fn) {
  const int64_t group_in = g.in_channels / g.groups, group_out = g.out_channels / g.groups;
  for (int64_t group = 0; group < g.groups; ++group) {
    for (int64_t c = 0; c < group_in; ++c) fn(group * group_in + c, c, group * group_out);
  }
}

template <typename T, typename Acc = Accumulator<T>>
void Forward(const ConvGeometry& g, const T* in, const T* filter, T* out, Acc* sums) {
  const int64_t channels = g.in_channels, outs = g.out_channels;
  const int64_t filter_rows = channels / g.groups, group_outs = outs / g.groups;
  const int64_t pixels = g.rows.output * g.columns.output;
  for (int64_t n = 0; n < g.batch; ++n) {
    // An image is summed in Acc and rounded to T once.
    std::fill(sums, sums + pixels * outs, Acc{0});
    ForEachTap(g, n, [&](int64_t output, int64_t input, int64_t tap) {
      Acc* const sum = sums + (output - n * pixels) * outs;
      ForEachChannel(g, [&](int64_t c, int64_t filter_row, int64_t first) {
        const Acc x = static_cast<Acc>(in[input * channels + c]);
        const T* const row = filter + (tap * filter_rows + filter_row) * outs + first;
        for (int64_t o = 0; o < group_outs; ++o) sum[first + o] += x * static_cast<Acc>(row[o]);
      });
    });
    for (int64_t e = 0; e < pixels * outs; ++e)
      out[n * pixels * outs + e] = static_cast<T>(sums[e]);
  }
}

// in_grad[n,y,x,c] = sum of out_grad[n,p,q,o] * filter[r,s,c,o] over the taps that read
// in[n,y,x,c].
template <typename T, typename Acc = Accumulator<T>>
void BackpropInput(const ConvGeometry& g, const T* filter, const T* out_grad, T* in_grad,
                   Acc* sums) {
  const int64_t channels = g.in_channels, outs = g.out_channels;
  const int64_t filter_rows = channels / g.groups, group_outs = outs / g.groups;
  const int64_t pixels = g.rows.input * g.columns.input;
  for (int64_t n = 0; n < g.batch; ++n) {
    std::fill(sums, sums + pixels * channels, Acc{0});
    ForEachTap(g, n, [&](int64_t output, int64_t input, int64_t tap) {
      const T* const gradient = out_grad + output * outs;
      Acc* const sum = sums + (input - n * pixels) * channels;
      ForEachChannel(g, [&](int64_t c, int64_t filter_row, int64_t first) {
        const T* const row = filter + (tap * filter_rows + filter_row) * outs + first;
        Acc dot = 0;
#pragma omp simd reduction(+ : dot)
        for (int64_t o = 0; o < group_outs; ++o)
          dot += static_cast<Acc>(gradient[first + o]) * static_cast<Acc>(row[o]);
        sum[c] += dot;
      });
    });
    for (int64_t e = 0; e < pixels * channels; ++e) {
      in_grad[n * pixels * channels + e] = static_cast<T>(sums[e]);
    }
  }
}

// filter_grad[r,s,c,o] = sum_{n,p,q} in[...] * out_grad[n,p,q,o]. Each image is summed by itself
// first, which keeps the rounding error of long float32 sums small. Of 16-bit numbers, the result
// may also be float32, which is then not rounded.
template <typename T, typename Result, typename Acc = Accumulator<T>>
void BackpropFilter(const ConvGeometry& g, const T* in, const T* out_grad, Result* filter_grad,
                    Acc* scratch) {
  const int64_t channels = g.in_channels, outs = g.out_channels;
  const int64_t filter_rows = channels / g.groups, group_outs = outs / g.groups;
  const int64_t size = g.rows.kernel * g.columns.kernel * filter_rows * outs;
  Acc* const total = scratch;
  Acc* const image = scratch + size;
  std::fill(total, total + size, Acc{0});
  for (int64_t n = 0; n < g.batch; ++n) {
    std::fill(image, image + size, Acc{0});
    ForEachTap(g, n, [&](int64_t output, int64_t input, int64_t tap) {
      const T* const gradient = out_grad + output * outs;
      ForEachChannel(g, [&](int64_t c, int64_t filter_row, int64_t first) {
        const Acc x = static_cast<Acc>(in[input * channels + c]);
        Acc* const row = image + (tap * filter_rows + filter_row) * outs + first;
        for (int64_t o = 0; o < group_outs; ++o)
          row[o] += x * static_cast<Acc>(gradient[first + o]);
      });
    });
    for (int64_t e = 0; e < size; ++e) total[e] += image[e];
  }
  for (int64_t e = 0; e < size; ++e) filter_grad[e] = static_cast<Result>(total[e]);
}

// A kernel with a sum in memory for each of `size` numbers.
//   run(args, sums)
template <typename Acc, typename Run>
KernelPlan WithSums(int64_t size, Run run) {
  return MakeKernel([run](const KernelArgs& args) { run(args, static_cast<Acc*>(args.scratch)); },
                    static_cast<size_t>(size) * sizeof(Acc));
}

KernelPlan MakeConv2D(const ConvSpec& spec) {
  return VisitFloating(spec.x.dtype, [g = spec.geometry](auto tag) {
    using T = decltype(tag);
    using Acc = Accumulator<T>;
    return WithSums<Acc>(g.rows.output * g.columns.output * g.out_channels,
                         [g](const KernelArgs& args, Acc* sums) {
                           Forward(g, args.in<T>(0), args.in<T>(1), args.out<T>(0), sums);
                         });
  });
}

KernelPlan MakeBackpropInput(const ConvSpec& spec) {
  return VisitFloating(spec.filter.dtype, [g = spec.geometry](auto tag) {
    using T = decltype(tag);
    using Acc = Accumulator<T>;
    return WithSums<Acc>(g.rows.input * g.columns.input * g.in_channels,
                         [g](const KernelArgs& args, Acc* sums) {
                           BackpropInput(g, args.in<T>(1), args.in<T>(2), args.out<T>(0), sums);
                         });
  });
}

KernelPlan MakeBackpropFilter(const ConvSpec& spec) {
  const DType dtype = spec.x.dtype, result_dtype = spec.filter.dtype;
  return VisitFloating(dtype, [&](auto tag) -> KernelPlan {
    using T = decltype(tag);
    using Acc = Accumulator<T>;
    const auto make = [&](auto result_tag) {
      using Result = decltype(result_tag);
      return WithSums<Acc>(2 * spec.filter.shape.num_elements(),
                           [g = spec.geometry](const KernelArgs& args, Acc* sums) {
                             BackpropFilter(g, args.in<T>(0), args.in<T>(2), args.out<Result>(0),
                                            sums);
                           });
    };
    if (result_dtype == dtype) return make(T{});
    // The pass bfloat16_products makes such gradients: the sums are f32 anyway.
    if (sizeof(T) == 2 && result_dtype == DType::kFloat32) return make(float{});
    return nullptr;
  });
}

EST_REGISTER_KERNEL("Conv2D", KernelTier::kReference, FromNhwcConvSpec<MakeConv2D>);
EST_REGISTER_KERNEL("Conv2DBackpropInput", KernelTier::kReference,
                    FromNhwcConvSpec<MakeBackpropInput>);
EST_REGISTER_KERNEL("Conv2DBackpropFilter", KernelTier::kReference,
                    FromNhwcConvSpec<MakeBackpropFilter>);

}  // namespace
}  // namespace estimator
