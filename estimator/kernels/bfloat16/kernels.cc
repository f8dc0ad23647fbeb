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

// Which operands of a kernel Convolve takes; -1 for none.
struct Operands {
  int from = 0, filter = 1;
  int bias = -1;         // input
  int side = -1;         // input
  int from_argmax = -1;  // input
  int to_argmax = -1;    // output
};

// The sums of a spec that Convolve computes.
struct ConvolveOp {
  GridSums sums;
  Operands operands;
  Numbers numbers = Numbers::kBfloat16;
  Activation activation = Activation::kNone;
};

std::optional<ConvolveOp> ConvolutionOpOf(const KernelSpec& spec) {
  if (spec.inputs.size() < 2) return std::nullopt;
  const auto numbers = NumbersOf(spec, spec.inputs[0], spec.inputs[1]);
  if (!numbers.has_value()) return std::nullopt;
  const auto conv =
      ConvolutionOf(spec, spec.inputs[0].shape, spec.inputs[1].shape, spec.outputs[0].shape);
  if (!conv.has_value()) return std::nullopt;
  const auto fused = FusedOf(spec, conv->out_channels);
  const bool pooled = IsPooled(spec);
  const auto sums = ForwardSums(*conv, pooled);
  if (!fused.has_value() || !sums.has_value()) return std::nullopt;
  if (pooled && (fused->activation != Activation::kRelu || fused->side)) return std::nullopt;
  if (sums->gathered && numbers == Numbers::kSplit) return std::nullopt;  // not by Convolve
  return ConvolveOp{.sums = *sums,
                    .operands = {.bias = fused->bias ? 2 : -1,
                                 .side = fused->side ? 3 : -1,
                                 .to_argmax = pooled ? 1 : -1},
                    .numbers = *numbers,
                    .activation = fused->activation};
}

std::optional<ConvolveOp> InputGradientOpOf(const KernelSpec& spec) {
  if (spec.inputs.size() != 3) return std::nullopt;
  const bool pooled = IsPooled(spec);
  const Operands operands{
      .from = pooled ? 1 : 2, .filter = pooled ? 0 : 1, .from_argmax = pooled ? 2 : -1};
  const TensorSpec& filter = spec.inputs[static_cast<size_t>(operands.filter)];
  const TensorSpec& dy = spec.inputs[static_cast<size_t>(operands.from)];
  const auto numbers = NumbersOf(spec, filter, dy);
  if (!numbers.has_value()) return std::nullopt;
  const auto conv = ConvolutionOf(spec, spec.outputs[0].shape, filter.shape, dy.shape);
  if (!conv.has_value()) return std::nullopt;
  const auto sums = InputGradientSums(*conv, pooled);
  if (!sums.has_value()) return std::nullopt;
  return ConvolveOp{.sums = *sums, .operands = operands, .numbers = *numbers};
}

std::unique_ptr<Kernel> MakeConvolve(const KernelSpec& spec, const ConvolveOp& op) {
  const GridSums& sums = op.sums;
  const Operands operands = op.operands;
  const bool splits = op.numbers == Numbers::kSplit;
  const Activation activation = op.activation;
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
            ConvolveTarget to{.activation = activation};
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

// The gradient of a filter.
struct FilterOp {
  Convolution conv;
  Numbers numbers = Numbers::kBfloat16;
  // Inputs, and an output; -1 for none.
  int x = 0, dy = 0, argmax = -1, dbias = -1;
};

std::optional<FilterOp> FilterOpOf(const KernelSpec& spec) {
  const bool plain = spec.op == "Conv2DBackpropFilter", pooled = IsPooled(spec);
  if (spec.inputs.size() != (plain || pooled ? 3u : 2u)) return std::nullopt;
  const int dy_input = plain ? 2 : 1;
  const TensorSpec &x = spec.inputs[0], &dy = spec.inputs[static_cast<size_t>(dy_input)];
  const TensorSpec& filter = spec.outputs[0];
  const auto numbers = NumbersOf(spec, x, dy);
  if (!numbers.has_value()) return std::nullopt;
  if (!plain && spec.outputs[1].dtype != filter.dtype) return std::nullopt;
  const auto conv = ConvolutionOf(spec, x.shape, filter.shape, dy.shape);
  if (!conv.has_value()) return std::nullopt;
  if (spec.conv_algorithm == ConvAlgorithm::kWinograd && conv->taps() > 1) return std::nullopt;
  return FilterOp{.conv = *conv,
                  .numbers = *numbers,
                  .dy = dy_input,
                  .argmax = pooled ? 2 : -1,
                  .dbias = plain ? -1 : 1};
}

}  // namespace

bool AcceptsConvolution(const KernelSpec& spec) { return ConvolutionOpOf(spec).has_value(); }

std::unique_ptr<Kernel> MakeConvolution(const KernelSpec& spec) {
  const std::optional<ConvolveOp> op = ConvolutionOpOf(spec);
  return op.has_value() ? MakeConvolve(spec, *op) : nullptr;
}

bool AcceptsInputGradient(const KernelSpec& spec) { return InputGradientOpOf(spec).has_value(); }

std::unique_ptr<Kernel> MakeInputGradient(const KernelSpec& spec) {
  const std::optional<ConvolveOp> op = InputGradientOpOf(spec);
  return op.has_value() ? MakeConvolve(spec, *op) : nullptr;
}

bool AcceptsFilterGradient(const KernelSpec& spec) { return FilterOpOf(spec).has_value(); }

std::unique_ptr<Kernel> MakeFilterGradient(const KernelSpec& spec) {
  const std::optional<FilterOp> op = FilterOpOf(spec);
  if (!op.has_value()) return nullptr;
  const Convolution& conv = op->conv;
  const int x = op->x, dy = op->dy, argmax = op->argmax, dbias = op->dbias;
  const bool splits = op->numbers == Numbers::kSplit;
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

}  // namespace estimator::bfloat16
