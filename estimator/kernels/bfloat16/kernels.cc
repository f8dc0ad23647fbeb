#include "estimator/kernels/bfloat16/kernels.h"

#include <omp.h>

#include <cstddef>
#include <cstdint>

#include "estimator/kernels/bfloat16/convolution.h"
#include "estimator/kernels/bfloat16/convolve.h"
#include "estimator/kernels/bfloat16/filter_gradient.h"
#include "estimator/kernels/bfloat16/spec.h"
#include "estimator/kernels/fused/bfloat16.h"
#include "estimator/kernels/prepared_input.h"

namespace estimator::bfloat16 {
namespace {

//   from_index: the input whose sums Convolve computes: x, or the gradient of y.
KernelPlan MakeConvolve(const ConvSpec& spec, const GridSums& sums, Numbers numbers, int from_index,
                        Activation activation = Activation::kNone) {
  const bool forward = spec.pass == ConvSpec::Pass::kForward;
  // The numbers of inputs, but that of an argmax that is written is the number of an output.
  const int from_argmax = forward ? -1 : spec.argmax_index;
  const int to_argmax = forward ? spec.argmax_index : -1;
  const bool has_bias = spec.fused.bias, has_side = spec.fused.side;
  const bool splits = numbers == Numbers::kSplitFloat32;
  const ConvolvePlan plan = MakeConvolvePlan(sums, omp_get_max_threads(), to_argmax >= 0, splits);
  const bool wide = !IsBfloat16(forward ? spec.y : spec.x);
  const bool wide_bias = has_bias && !IsBfloat16(spec.bias);
  // A bias in f32 comes after the plan's scratch memory.
  const size_t bias_offset = AlignedBytes(plan.scratch_bytes());
  const size_t channels = static_cast<size_t>(sums.to_channels);
  return MakePreparingKernel({
      .input = spec.filter_index,
      .prepared_bytes = plan.filter_bytes(),
      .prepare = [plan](const void* given,
                        void* packed) { PackFilter(plan, given, static_cast<Bfloat16*>(packed)); },
      .run =
          [=](const KernelArgs& args, const void* packed) {
            ConvolveSource from{.narrow = splits ? nullptr : args.in<Bfloat16>(from_index),
                                .wide = splits ? args.in<float>(from_index) : nullptr};
            if (from_argmax >= 0) from.argmax = args.in<uint8_t>(from_argmax);
            ConvolveTarget to{.narrow = wide ? nullptr : args.out<Bfloat16>(0),
                              .wide = wide ? args.out<float>(0) : nullptr,
                              .activation = activation};
            if (has_side) to.side = args.in<float>(3);
            if (to_argmax >= 0) to.argmax = args.out<uint8_t>(to_argmax);
            if (wide_bias) {
              to.bias = args.in<float>(2);
            } else if (has_bias) {
              float* const bias =
                  reinterpret_cast<float*>(static_cast<char*>(args.scratch) + bias_offset);
              fused::WidenBfloat16(args.in<Bfloat16>(2), bias, channels);
              to.bias = bias;
            }
            Convolve(plan, from, static_cast<const Bfloat16*>(packed), to, args.scratch);
          },
      .scratch_bytes = bias_offset + channels * sizeof(float),
  });
}

}  // namespace

KernelPlan MakeConvolution(const ConvSpec& spec) {
  const auto numbers = NumbersOf(spec.x, spec.filter, spec.y, spec.algorithm);
  const auto conv = ConvolutionOf(spec);
  if (!numbers.has_value() || !conv.has_value()) return nullptr;
  const auto activation =
      FusedActivationOf(spec.fused, spec.bias, spec.side, spec.y, conv->out_channels);
  const auto sums = ForwardSums(*conv, spec.pooled);
  if (!activation.has_value() || !sums.has_value()) return nullptr;
  // An op with a pool always has relu and no side input (conv_block.h), and StorePooled computes
  // that.
  if (spec.pooled && (activation != Activation::kRelu || spec.fused.side)) return nullptr;
  // Convolve does not split numbers that it copies by taps.
  if (sums->gathered && numbers == Numbers::kSplitFloat32) return nullptr;
  return MakeConvolve(spec, *sums, *numbers, spec.x_index, *activation);
}

KernelPlan MakeInputGradient(const ConvSpec& spec) {
  const auto numbers = NumbersOf(spec.filter, spec.y, spec.x, spec.algorithm);
  const auto conv = ConvolutionOf(spec);
  if (!numbers.has_value() || !conv.has_value()) return nullptr;
  const auto sums = InputGradientSums(*conv, spec.pooled);
  return sums.has_value() ? MakeConvolve(spec, *sums, *numbers, spec.y_index) : nullptr;
}

KernelPlan MakeFilterGradient(const ConvSpec& spec) {
  const auto numbers = NumbersOf(spec.x, spec.y, spec.filter, spec.algorithm);
  const auto conv = ConvolutionOf(spec);
  if (!numbers.has_value() || !conv.has_value()) return nullptr;
  // Both gradients are rounded together, or neither is.
  if (spec.dbias_index >= 0 && spec.dbias.dtype != spec.filter.dtype) return nullptr;
  // oneDNN refuses these too, so the spec is widened, and Winograd's kernel of f32 computes it, as
  // the algorithm asks.
  if (spec.algorithm == ConvAlgorithm::kWinograd && conv->taps() > 1) return nullptr;
  const int x = spec.x_index, dy = spec.y_index, argmax = spec.argmax_index,
            dbias = spec.dbias_index;
  const bool splits = numbers == Numbers::kSplitFloat32;
  const FilterPlan plan = MakeFilterPlan(*conv, omp_get_max_threads(), argmax >= 0, splits);
  const bool narrow = IsBfloat16(spec.filter);
  const size_t count = static_cast<size_t>(spec.filter.shape.num_elements());
  const size_t channels = static_cast<size_t>(conv->out_channels);
  // The gradients in f32 come after the plan's scratch memory.
  const size_t wide_bytes = narrow ? (count + channels) * sizeof(float) : 0;
  return MakeKernel(
      [=](const KernelArgs& args) {
        float* const wide =
            reinterpret_cast<float*>(static_cast<char*>(args.scratch) + plan.scratch_bytes());
        float* const filter = narrow ? wide : args.out<float>(0);
        float* bias = nullptr;
        if (dbias >= 0) bias = narrow ? wide + count : args.out<float>(dbias);
        const uint8_t* const taps = argmax >= 0 ? args.in<uint8_t>(argmax) : nullptr;
        if (splits) {
          RunFilterGradient(plan, args.in<float>(x), args.in<float>(dy), taps, filter, bias,
                            args.scratch);
        } else {
          RunFilterGradient(plan, args.in<Bfloat16>(x), args.in<Bfloat16>(dy), taps, filter, bias,
                            args.scratch);
        }
        if (!narrow) return;
        fused::NarrowToBfloat16(filter, args.out<Bfloat16>(0), count);
        if (dbias >= 0) fused::NarrowToBfloat16(bias, args.out<Bfloat16>(dbias), channels);
      },
      plan.scratch_bytes() + wide_bytes);
}

}  // namespace estimator::bfloat16
