#include "estimator/kernels/bfloat16/spec.h"

#include <algorithm>
#include <vector>

#include "estimator/kernels/bfloat16/tiles.h"
#include "estimator/kernels/conv_block.h"
#include "estimator/kernels/fused_ops.h"
#include "estimator/kernels/layout.h"
#include "estimator/kernels/window.h"

namespace estimator::bfloat16 {
namespace {

// Adjacent windows of 2x2 that cover the whole image.
bool HalvesTheImage(const Window2D& pool) {
  return std::ranges::all_of(std::vector{pool.rows, pool.columns}, [](const Window& w) {
    return w.kernel == 2 && w.stride == 2 && w.pad_before == 0 && w.output * 2 == w.input;
  });
}

// The geometry of a spec; its output is y, or that of the convolution before a pool.
std::optional<ConvGeometry> GeometryOf(const KernelSpec& spec, const Shape& x, const Shape& filter,
                                       const Shape& y) {
  if (IsPooled(spec)) {
    const auto block = MakeConvBlock(spec.attrs, x, filter);
    if (!block.ok() || block->output() != y || !HalvesTheImage(block->pool)) return std::nullopt;
    return block->conv;
  }
  const auto geometry = MakeConvGeometry(spec.attrs, x, filter);
  if (!geometry.ok() || geometry->output() != y) return std::nullopt;
  return *geometry;
}

}  // namespace

std::optional<Numbers> NumbersOf(const KernelSpec& spec, const TensorSpec& a, const TensorSpec& b) {
  if (IsBfloat16(a) && IsBfloat16(b) && IsResult(spec.outputs[0])) return Numbers::kBfloat16;
  // Other algorithms than the default are those of f32 numbers.
  if (IsF32(a) && IsF32(b) && IsF32(spec.outputs[0]) &&
      spec.conv_algorithm == ConvAlgorithm::kAuto) {
    return Numbers::kSplit;
  }
  return std::nullopt;
}

std::optional<Fused> FusedOf(const KernelSpec& spec, int64_t channels) {
  const std::optional<FusedOps> ops = FusedOpsOf(spec);
  if (!ops.has_value()) return std::nullopt;
  Fused fused{.bias = ops->bias, .side = ops->side};
  if (ops->activation == fused::TileOp::kRelu) {
    fused.activation = Activation::kRelu;
  } else if (ops->activation == fused::TileOp::kRelu6) {
    fused.activation = Activation::kRelu6;
  } else if (ops->activation.has_value()) {
    return std::nullopt;
  }
  if (fused.side && (!IsF32(spec.inputs[3]) || spec.inputs[3] != spec.outputs[0]))
    return std::nullopt;
  if (fused.bias && (!IsResult(spec.inputs[2]) || spec.inputs[2].shape != Shape{channels}))
    return std::nullopt;
  return fused;
}

std::optional<Convolution> ConvolutionOf(const KernelSpec& spec, const Shape& x,
                                         const Shape& filter, const Shape& y) {
  if (!IsAvailable() || IsBlocked(spec.attrs)) return std::nullopt;
  for (const Shape& shape : {x, y, filter}) {
    if (shape.rank() != 4 || shape.num_elements() == 0) return std::nullopt;
  }
  const auto geometry = GeometryOf(spec, x, filter, y);
  if (!geometry.has_value() || geometry->groups != 1) return std::nullopt;
  const Window &rows = geometry->rows, &columns = geometry->columns;
  if (rows.dilation != 1 || columns.dilation != 1) return std::nullopt;
  const Convolution conv{.images = geometry->batch,
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
  if (conv.out_channels < kFewestChannels) return std::nullopt;
  if (conv.in_channels < kFewestChannels && !conv.IsGathered()) return std::nullopt;
  return conv;
}

}  // namespace estimator::bfloat16
