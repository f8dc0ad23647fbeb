#include "estimator/kernels/amx/kernels.h"

#include <omp.h>

#include <algorithm>
#include <cstddef>
#include <optional>

#include "estimator/kernels/amx/convolution.h"
#include "estimator/kernels/amx/convolve.h"
#include "estimator/kernels/amx/filter_gradient.h"
#include "estimator/kernels/amx/tiles.h"
#include "estimator/kernels/fused/bfloat16.h"
#include "estimator/kernels/fused/parallel.h"
#include "estimator/kernels/layout.h"
#include "estimator/kernels/prepared_input.h"
#include "estimator/kernels/window.h"

namespace estimator::amx {
namespace {

// The convolution y = conv(x, filter) of a spec, if the kernels of this file support it.
std::optional<Convolution> ConvolutionOf(const KernelSpec& spec, const TensorSpec& x,
                                         const TensorSpec& filter, const TensorSpec& y) {
  constexpr int64_t kFewestChannels = 16;
  if (!IsAvailable() || IsBlocked(spec.attrs)) return std::nullopt;
  if (x.dtype != DType::kBfloat16 || y.dtype != DType::kBfloat16) return std::nullopt;
  for (const TensorSpec* operand : {&x, &y, &filter}) {
    if (operand->shape.rank() != 4 || operand->shape.num_elements() == 0) return std::nullopt;
  }
  const auto geometry = MakeConvGeometry(spec.attrs, x.shape, filter.shape);
  if (!geometry.ok() || geometry->output() != y.shape || geometry->groups != 1) return std::nullopt;
  const Window &rows = geometry->rows, &columns = geometry->columns;
  if (rows.dilation != 1 || columns.dilation != 1) return std::nullopt;
  if (std::min(geometry->in_channels, geometry->out_channels) < kFewestChannels)
    return std::nullopt;
  return Convolution{.images = geometry->batch,
                     .in_rows = rows.input,
                     .in_columns = columns.input,
                     .in_channels = geometry->in_channels,
                     .out_rows = rows.output,
                     .out_columns = columns.output,
                     .out_channels = geometry->out_channels,
                     .filter_rows = rows.kernel,
                     .filter_columns = columns.kernel,
                     .row_stride = rows.stride,
                     .column_stride = columns.stride,
                     .pad_top = rows.pad_before,
                     .pad_left = columns.pad_before};
}

//   from, filter: the inputs that Convolve takes.
std::unique_ptr<Kernel> MakeConvolve(const std::optional<GridSums>& sums, int from, int filter) {
  if (!sums.has_value()) return nullptr;
  const ConvolvePlan plan = MakeConvolvePlan(*sums, omp_get_max_threads());
  return MakePreparingKernel({
      .input = filter,
      .prepared_bytes = plan.filter_bytes(),
      .prepare =
          [plan](const void* given, void* packed) {
            PackFilter(plan, static_cast<const Bfloat16*>(given), static_cast<Bfloat16*>(packed));
          },
      .run =
          [plan, from](const KernelArgs& args, const void* packed) {
            Convolve(plan, args.in<Bfloat16>(from), static_cast<const Bfloat16*>(packed),
                     args.out<Bfloat16>(0), args.scratch);
            return absl::OkStatus();
          },
      .scratch_bytes = plan.scratch_bytes(),
  });
}

}  // namespace

std::unique_ptr<Kernel> MakeConvolution(const KernelSpec& spec) {
  if (spec.inputs.size() != 2 || spec.inputs[1].dtype != DType::kBfloat16) return nullptr;
  const auto conv = ConvolutionOf(spec, spec.inputs[0], spec.inputs[1], spec.outputs[0]);
  return conv.has_value() ? MakeConvolve(ForwardSums(*conv), 0, 1) : nullptr;
}

std::unique_ptr<Kernel> MakeInputGradient(const KernelSpec& spec) {
  if (spec.inputs.size() != 3 || spec.inputs[1].dtype != DType::kBfloat16) return nullptr;
  const auto conv = ConvolutionOf(spec, spec.outputs[0], spec.inputs[1], spec.inputs[2]);
  return conv.has_value() ? MakeConvolve(InputGradientSums(*conv), 2, 1) : nullptr;
}

std::unique_ptr<Kernel> MakeFilterGradient(const KernelSpec& spec) {
  if (spec.inputs.size() != 3) return nullptr;
  const TensorSpec& filter = spec.outputs[0];
  if (filter.dtype != DType::kBfloat16 && filter.dtype != DType::kFloat32) return nullptr;
  const auto conv = ConvolutionOf(spec, spec.inputs[0], filter, spec.inputs[2]);
  if (!conv.has_value()) return nullptr;
  if (spec.conv_algorithm == ConvAlgorithm::kWinograd && conv->taps() > 1) return nullptr;
  const FilterPlan plan = MakeFilterPlan(*conv, omp_get_max_threads());
  const bool narrow = filter.dtype == DType::kBfloat16;
  const size_t count = static_cast<size_t>(filter.shape.num_elements());
  return fused::MakeFusedKernel(
      [plan, narrow, count](const KernelArgs& args) {
        // The f32 gradient comes after the plan's scratch memory.
        float* const wide =
            reinterpret_cast<float*>(static_cast<char*>(args.scratch) + plan.scratch_bytes());
        RunFilterGradient(plan, args.in<Bfloat16>(0), args.in<Bfloat16>(2),
                          narrow ? wide : args.out<float>(0), args.scratch);
        if (narrow) fused::NarrowToBfloat16(wide, args.out<Bfloat16>(0), count);
        return absl::OkStatus();
      },
      {.scratch_bytes = plan.scratch_bytes() + (narrow ? count * sizeof(float) : 0)});
}

}  // namespace estimator::amx
