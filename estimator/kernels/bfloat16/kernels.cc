#include "estimator/kernels/bfloat16/kernels.h"

#include <omp.h>

#include <cstddef>
#include <cstdint>
#include <optional>

#include "estimator/kernels/bfloat16/convolution.h"
#include "estimator/kernels/bfloat16/convolve.h"
#include "estimator/kernels/bfloat16/filter_gradient.h"
#include "estimator/kernels/bfloat16/spec.h"
#include "estimator/kernels/fused/bfloat16.h"
#include "estimator/kernels/fused/parallel.h"
#include "estimator/kernels/prepared_input.h"

namespace estimator::bfloat16 {
namespace {

// Whether products of f32 numbers pay off: with fewer pixels, splitting the filter, or adding to its
// gradient, takes longer than what they save.
bool PaysOff(Numbers numbers, int64_t pixels, bool filter_gradient) {
  return numbers == Numbers::kBfloat16 || pixels >= (filter_gradient ? 64 : 256);
}
int64_t Pixels(const Convolution& conv) { return conv.images * conv.out_rows * conv.out_columns; }

// Which operands of a kernel Convolve takes; -1 for none.
struct Operands {
  int from = 0, filter = 1;
  int bias = -1;         // input
  int side = -1;         // input
  int from_argmax = -1;  // input
  int to_argmax = -1;    // output
};

std::unique_ptr<Kernel> MakeConvolve(const KernelSpec& spec, const GridSums& sums,
                                     const Operands& operands, Numbers numbers, bool relu) {
  const bool splits = numbers == Numbers::kSplit;
  const ConvolvePlan plan =
      MakeConvolvePlan(sums, omp_get_max_threads(), operands.to_argmax >= 0, splits);
  const bool wide = !IsBfloat16(spec.outputs[0]);
  const bool wide_bias =
      operands.bias >= 0 && !IsBfloat16(spec.inputs[static_cast<size_t>(operands.bias)]);
  // A bias in f32 comes after the plan's scratch memory.
  const size_t bias_offset = (plan.scratch_bytes() + 63) / 64 * 64;
  const size_t channels = static_cast<size_t>(sums.to_channels);
  return MakePreparingKernel({
      .input = operands.filter,
      .prepared_bytes = plan.filter_bytes(),
      .prepare = [plan](const void* given,
                        void* packed) { PackFilter(plan, given, static_cast<Bfloat16*>(packed)); },
      .run =
          [=](const KernelArgs& args, const void* packed) {
            ConvolveSource from;
            if (splits) {
              from.wide = args.in<float>(operands.from);
            } else {
              from.narrow = args.in<Bfloat16>(operands.from);
            }
            if (operands.from_argmax >= 0) from.argmax = args.in<uint8_t>(operands.from_argmax);
            ConvolveTarget to{.relu = relu};
            if (wide) {
              to.wide = args.out<float>(0);
            } else {
              to.narrow = args.out<Bfloat16>(0);
            }
            if (operands.side >= 0) to.side = args.in<float>(operands.side);
            if (operands.to_argmax >= 0) to.argmax = args.out<uint8_t>(operands.to_argmax);
            if (wide_bias) {
              to.bias = args.in<float>(operands.bias);
            } else if (operands.bias >= 0) {
              float* const bias =
                  reinterpret_cast<float*>(static_cast<char*>(args.scratch) + bias_offset);
              fused::WidenBfloat16(args.in<Bfloat16>(operands.bias), bias, channels);
              to.bias = bias;
            }
            Convolve(plan, from, static_cast<const Bfloat16*>(packed), to, args.scratch);
            return absl::OkStatus();
          },
      .scratch_bytes = bias_offset + channels * sizeof(float),
  });
}

//   x, dy, argmax: inputs.  dbias: output. -1 for none.
std::unique_ptr<Kernel> MakeFilterSums(const KernelSpec& spec, const Convolution& conv,
                                       Numbers numbers, int x, int dy, int argmax, int dbias) {
  const bool splits = numbers == Numbers::kSplit;
  const FilterPlan plan = MakeFilterPlan(conv, omp_get_max_threads(), argmax >= 0, splits);
  const bool narrow = IsBfloat16(spec.outputs[0]);
  const size_t count = static_cast<size_t>(spec.outputs[0].shape.num_elements());
  const size_t channels = static_cast<size_t>(conv.out_channels);
  // The gradients in f32 come after the plan's scratch memory.
  const size_t wide_bytes = narrow ? (count + channels) * sizeof(float) : 0;
  return fused::MakeFusedKernel(
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
        if (!narrow) return absl::OkStatus();
        fused::NarrowToBfloat16(filter, args.out<Bfloat16>(0), count);
        if (dbias >= 0) fused::NarrowToBfloat16(bias, args.out<Bfloat16>(dbias), channels);
        return absl::OkStatus();
      },
      {.scratch_bytes = plan.scratch_bytes() + wide_bytes});
}

}  // namespace

std::unique_ptr<Kernel> MakeConvolution(const KernelSpec& spec) {
  if (spec.inputs.size() < 2) return nullptr;
  const auto numbers = NumbersOf(spec, spec.inputs[0], spec.inputs[1]);
  if (!numbers.has_value()) return nullptr;
  const auto conv =
      ConvolutionOf(spec, spec.inputs[0].shape, spec.inputs[1].shape, spec.outputs[0].shape);
  if (!conv.has_value()) return nullptr;
  const auto fused = FusedOf(spec, conv->out_channels);
  const bool pooled = IsPooled(spec);
  const auto sums = ForwardSums(*conv, pooled);
  if (!fused.has_value() || !sums.has_value()) return nullptr;
  if (pooled && (!fused->relu || fused->side)) return nullptr;
  if (sums->gathered && numbers == Numbers::kSplit) return nullptr;  // slower than oneDNN
  if (!PaysOff(*numbers, Pixels(*conv), false)) return nullptr;
  return MakeConvolve(
      spec, *sums,
      {.bias = fused->bias ? 2 : -1, .side = fused->side ? 3 : -1, .to_argmax = pooled ? 1 : -1},
      *numbers, fused->relu);
}

std::unique_ptr<Kernel> MakeInputGradient(const KernelSpec& spec) {
  if (spec.inputs.size() != 3) return nullptr;
  const bool pooled = IsPooled(spec);
  const Operands operands{
      .from = pooled ? 1 : 2, .filter = pooled ? 0 : 1, .from_argmax = pooled ? 2 : -1};
  const TensorSpec& filter = spec.inputs[static_cast<size_t>(operands.filter)];
  const TensorSpec& dy = spec.inputs[static_cast<size_t>(operands.from)];
  const auto numbers = NumbersOf(spec, filter, dy);
  if (!numbers.has_value()) return nullptr;
  const auto conv = ConvolutionOf(spec, spec.outputs[0].shape, filter.shape, dy.shape);
  if (!conv.has_value()) return nullptr;
  if (!PaysOff(*numbers, Pixels(*conv), false)) return nullptr;
  const auto sums = InputGradientSums(*conv, pooled);
  return sums.has_value() ? MakeConvolve(spec, *sums, operands, *numbers, false) : nullptr;
}

std::unique_ptr<Kernel> MakeFilterGradient(const KernelSpec& spec) {
  const bool plain = spec.op == "Conv2DBackpropFilter", pooled = IsPooled(spec);
  if (spec.inputs.size() != (plain || pooled ? 3u : 2u)) return nullptr;
  const int dy_input = plain ? 2 : 1;
  const TensorSpec &x = spec.inputs[0], &dy = spec.inputs[static_cast<size_t>(dy_input)];
  const TensorSpec& filter = spec.outputs[0];
  const auto numbers = NumbersOf(spec, x, dy);
  if (!numbers.has_value()) return nullptr;
  if (!plain && spec.outputs[1].dtype != filter.dtype) return nullptr;
  const auto conv = ConvolutionOf(spec, x.shape, filter.shape, dy.shape);
  if (!conv.has_value()) return nullptr;
  if (!PaysOff(*numbers, Pixels(*conv), true)) return nullptr;
  if (spec.conv_algorithm == ConvAlgorithm::kWinograd && conv->taps() > 1) return nullptr;
  return MakeFilterSums(spec, *conv, *numbers, 0, dy_input, pooled ? 2 : -1, plain ? -1 : 1);
}

}  // namespace estimator::bfloat16
