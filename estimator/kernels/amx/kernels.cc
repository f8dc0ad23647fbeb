#include "estimator/kernels/amx/kernels.h"

#include <omp.h>

#include <algorithm>
#include <cstddef>
#include <optional>

#include "estimator/kernels/amx/filter_gradient.h"
#include "estimator/kernels/amx/tiles.h"
#include "estimator/kernels/fused/bfloat16.h"
#include "estimator/kernels/fused/parallel.h"
#include "estimator/kernels/layout.h"
#include "estimator/kernels/window.h"

namespace estimator::amx {
namespace {

// The gradient that a spec asks for, if this kernel supports it.
std::optional<FilterGradient> GradientOf(const KernelSpec& spec) {
  if (spec.inputs.size() != 3 || spec.outputs.size() != 1 || IsBlocked(spec.attrs))
    return std::nullopt;
  const TensorSpec &x = spec.inputs[0], &dy = spec.inputs[2], &filter = spec.outputs[0];
  if (x.dtype != DType::kBfloat16 || dy.dtype != DType::kBfloat16) return std::nullopt;
  if (filter.dtype != DType::kBfloat16 && filter.dtype != DType::kFloat32) return std::nullopt;
  for (const TensorSpec* operand : {&x, &dy, &filter}) {
    if (operand->shape.rank() != 4 || operand->shape.num_elements() == 0) return std::nullopt;
  }
  const auto geometry = MakeConvGeometry(spec.attrs, x.shape, filter.shape);
  if (!geometry.ok() || geometry->output() != dy.shape || geometry->groups != 1)
    return std::nullopt;
  const Window &rows = geometry->rows, &columns = geometry->columns;
  if (rows.dilation != 1 || columns.dilation != 1) return std::nullopt;
  return FilterGradient{.images = geometry->batch,
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

bool Chosen(const KernelSpec& spec, const FilterGradient& gradient) {
  if (spec.conv_algorithm == ConvAlgorithm::kWinograd && gradient.taps() > 1) return false;
  return std::min(gradient.in_channels, gradient.out_channels) >= 16;
}

}  // namespace

std::unique_ptr<Kernel> MakeFilterGradient(const KernelSpec& spec) {
  if (!IsAvailable()) return nullptr;
  const std::optional<FilterGradient> gradient = GradientOf(spec);
  if (!gradient.has_value() || !Chosen(spec, *gradient)) return nullptr;
  const Plan plan = MakePlan(*gradient, omp_get_max_threads());
  const bool narrow = spec.outputs[0].dtype == DType::kBfloat16;
  const size_t count = static_cast<size_t>(spec.outputs[0].shape.num_elements());
  return fused::MakeFusedKernel(
      [plan, narrow, count](const KernelArgs& args) {
        // The f32 gradient comes after the plan's scratch memory.
        float* const wide =
            reinterpret_cast<float*>(static_cast<char*>(args.scratch) + plan.scratch_bytes());
        Run(plan, args.in<Bfloat16>(0), args.in<Bfloat16>(2), narrow ? wide : args.out<float>(0),
            args.scratch);
        if (narrow) fused::NarrowToBfloat16(wide, args.out<Bfloat16>(0), count);
        return absl::OkStatus();
      },
      {.scratch_bytes = plan.scratch_bytes() + (narrow ? count * sizeof(float) : 0)});
}

}  // namespace estimator::amx
