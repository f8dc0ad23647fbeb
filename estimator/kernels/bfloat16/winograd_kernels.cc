#include "estimator/kernels/bfloat16/winograd_kernels.h"

#include <omp.h>

#include <cstddef>
#include <optional>

#include "estimator/kernels/bfloat16/spec.h"
#include "estimator/kernels/bfloat16/winograd.h"
#include "estimator/kernels/fused/bfloat16.h"
#include "estimator/kernels/fused/parallel.h"
#include "estimator/kernels/prepared_input.h"

namespace estimator::bfloat16 {
namespace {

// The convolution of a spec, if Winograd's algorithm may compute it.
std::optional<Convolution> WinogradOf(const KernelSpec& spec, const TensorSpec& x,
                                      const TensorSpec& filter, const TensorSpec& y) {
  if (!WinogradAllowed(spec)) return std::nullopt;
  std::optional<Convolution> conv = ConvolutionOf(spec, x.shape, filter.shape, y.shape);
  if (conv.has_value() && !SupportsWinograd(*conv)) conv.reset();
  return conv;
}

std::optional<Convolution> ForwardOf(const KernelSpec& spec) {
  if (spec.op != "Conv2D" || spec.inputs.size() != 2) return std::nullopt;
  const TensorSpec &x = spec.inputs[0], &filter = spec.inputs[1], &y = spec.outputs[0];
  if (!IsBfloat16(x) || !IsBfloat16(filter) || !IsBfloat16(y)) return std::nullopt;
  return WinogradOf(spec, x, filter, y);
}

std::optional<Convolution> InputGradientOf(const KernelSpec& spec) {
  if (spec.op != "Conv2DBackpropInput" || spec.inputs.size() != 3) return std::nullopt;
  const TensorSpec &x = spec.outputs[0], &filter = spec.inputs[1], &dy = spec.inputs[2];
  if (!IsBfloat16(x) || !IsBfloat16(filter) || !IsBfloat16(dy)) return std::nullopt;
  return WinogradOf(spec, x, filter, dy);
}

std::optional<Convolution> FilterGradientOf(const KernelSpec& spec) {
  if (spec.op != "Conv2DBackpropFilter" || spec.inputs.size() != 3) return std::nullopt;
  const TensorSpec &x = spec.inputs[0], &filter = spec.outputs[0], &dy = spec.inputs[2];
  if (!IsBfloat16(x) || !IsBfloat16(dy) || !IsResult(filter)) return std::nullopt;
  return WinogradOf(spec, x, filter, dy);
}

//   filter, image: inputs.  transposed: the filter is that of the transposed convolution.
std::unique_ptr<Kernel> MakeConvolve(const Convolution& conv, int filter, int image,
                                     bool transposed) {
  const WinogradPlan plan = MakeWinogradPlan(conv, omp_get_max_threads());
  return MakePreparingKernel({
      .input = filter,
      .prepared_bytes = plan.filter_bytes(),
      .prepare =
          [plan, transposed](const void* given, void* prepared) {
            TransformFilter(plan, static_cast<const Bfloat16*>(given), transposed,
                            static_cast<Bfloat16*>(prepared));
          },
      .run =
          [plan, image](const KernelArgs& args, const void* prepared) {
            WinogradConvolve(plan, args.in<Bfloat16>(image), static_cast<const Bfloat16*>(prepared),
                             args.out<Bfloat16>(0), args.scratch);
            return absl::OkStatus();
          },
      .scratch_bytes = plan.convolve_bytes(),
  });
}

}  // namespace

bool AcceptsWinogradConvolution(const KernelSpec& spec) { return ForwardOf(spec).has_value(); }

std::unique_ptr<Kernel> MakeWinogradConvolution(const KernelSpec& spec) {
  const auto conv = ForwardOf(spec);
  return conv.has_value() ? MakeConvolve(*conv, 1, 0, false) : nullptr;
}

bool AcceptsWinogradInputGradient(const KernelSpec& spec) {
  return InputGradientOf(spec).has_value();
}

std::unique_ptr<Kernel> MakeWinogradInputGradient(const KernelSpec& spec) {
  const auto conv = InputGradientOf(spec);
  return conv.has_value() ? MakeConvolve(Transposed(*conv), 1, 2, true) : nullptr;
}

bool AcceptsWinogradFilterGradient(const KernelSpec& spec) {
  return FilterGradientOf(spec).has_value();
}

std::unique_ptr<Kernel> MakeWinogradFilterGradient(const KernelSpec& spec) {
  const auto conv = FilterGradientOf(spec);
  if (!conv.has_value()) return nullptr;
  const TensorSpec& filter = spec.outputs[0];
  const WinogradPlan plan = MakeWinogradPlan(*conv, omp_get_max_threads());
  const bool narrow = IsBfloat16(filter);
  const size_t count = static_cast<size_t>(filter.shape.num_elements());
  // A gradient in f32 that is rounded comes after the plan's scratch memory.
  const size_t wide_offset = plan.filter_gradient_bytes();
  return fused::MakeFusedKernel(
      [=](const KernelArgs& args) {
        float* const wide =
            narrow ? reinterpret_cast<float*>(static_cast<char*>(args.scratch) + wide_offset)
                   : args.out<float>(0);
        WinogradFilterGradient(plan, args.in<Bfloat16>(0), args.in<Bfloat16>(2), wide,
                               args.scratch);
        if (narrow) fused::NarrowToBfloat16(wide, args.out<Bfloat16>(0), count);
        return absl::OkStatus();
      },
      {.scratch_bytes = wide_offset + (narrow ? count * sizeof(float) : 0)});
}

}  // namespace estimator::bfloat16
