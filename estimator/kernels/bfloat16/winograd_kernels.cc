#include "estimator/kernels/bfloat16/winograd_kernels.h"

#include <omp.h>

#include <cstddef>
#include <optional>

#include "estimator/kernels/bfloat16/spec.h"
#include "estimator/kernels/bfloat16/winograd.h"
#include "estimator/kernels/fused/bfloat16.h"
#include "estimator/kernels/prepared_input.h"

namespace estimator::bfloat16 {
namespace {

// The sizes of a spec of an op without anything fused, if Winograd's algorithm may compute it.
// All is bf16; the gradient of a filter may be f32.
std::optional<Convolution> WinogradOf(const ConvSpec& spec) {
  if (spec.algorithm == ConvAlgorithm::kDirect || spec.pooled || spec.fused.bias ||
      spec.dbias_index >= 0) {
    return std::nullopt;
  }
  if (!IsBfloat16(spec.x) || !IsBfloat16(spec.y)) return std::nullopt;
  const bool of_filter = spec.pass == ConvSpec::Pass::kFilterGradient;
  if (of_filter ? !IsResult(spec.filter) : !IsBfloat16(spec.filter)) return std::nullopt;
  std::optional<Convolution> conv = ConvolutionOf(spec);
  if (conv.has_value() && !SupportsWinograd(*conv)) conv.reset();
  return conv;
}

//   image: an input.  transposed: the filter is that of the transposed convolution.
KernelPlan MakeConvolve(const Convolution& conv, int image, bool transposed) {
  const WinogradPlan plan = MakeWinogradPlan(conv, omp_get_max_threads());
  return MakePreparingKernel({
      .input = 1,  // the filter
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
          },
      .scratch_bytes = plan.convolve_bytes(),
  });
}

}  // namespace

KernelPlan MakeWinogradConvolution(const ConvSpec& spec) {
  const auto conv = WinogradOf(spec);
  return conv.has_value() ? MakeConvolve(*conv, spec.x_index, false) : nullptr;
}

KernelPlan MakeWinogradInputGradient(const ConvSpec& spec) {
  const auto conv = WinogradOf(spec);
  return conv.has_value() ? MakeConvolve(conv->Transposed(), spec.y_index, true) : nullptr;
}

KernelPlan MakeWinogradFilterGradient(const ConvSpec& spec) {
  const auto conv = WinogradOf(spec);
  if (!conv.has_value()) return nullptr;
  const WinogradPlan plan = MakeWinogradPlan(*conv, omp_get_max_threads());
  const bool narrow = IsBfloat16(spec.filter);
  const size_t count = static_cast<size_t>(spec.filter.shape.num_elements());
  // A gradient in f32 that is rounded comes after the plan's scratch memory.
  const size_t wide_offset = plan.filter_gradient_bytes();
  return MakeKernel(
      [=](const KernelArgs& args) {
        float* const wide =
            narrow ? reinterpret_cast<float*>(static_cast<char*>(args.scratch) + wide_offset)
                   : args.out<float>(0);
        WinogradFilterGradient(plan, args.in<Bfloat16>(0), args.in<Bfloat16>(2), wide,
                               args.scratch);
        if (narrow) fused::NarrowToBfloat16(wide, args.out<Bfloat16>(0), count);
      },
      wide_offset + (narrow ? count * sizeof(float) : 0));
}

}  // namespace estimator::bfloat16
