#include "estimator/kernels/winograd/kernels.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "estimator/kernels/conv_block.h"
#include "estimator/kernels/fused/parallel.h"
#include "estimator/kernels/fused_ops.h"
#include "estimator/kernels/layout.h"
#include "estimator/kernels/prepared_input.h"
#include "estimator/kernels/winograd/first_layer.h"
#include "estimator/kernels/winograd/winograd.h"

namespace estimator::winograd {
namespace {

using fused::MakeFusedKernel;

bool IsF32(const TensorSpec& spec) { return spec.dtype == DType::kFloat32; }

// The geometry of an op, whichever layout its images have.
struct Op {
  ConvGeometry geometry;
  bool blocked = false;
  bool pooled = false;
  bool rounds_to_bfloat16 = false;

  Strides ImageStrides(int64_t rows, int64_t columns, int64_t channels) const {
    return blocked ? BlockedStrides(rows, columns, channels)
                   : PlainStrides(rows, columns, channels);
  }
  Strides InStrides() const {
    return ImageStrides(geometry.rows.input, geometry.columns.input, geometry.in_channels);
  }
  Strides OutStrides() const {
    const int64_t shrink = pooled ? 2 : 1;
    return ImageStrides(geometry.rows.output / shrink, geometry.columns.output / shrink,
                        geometry.out_channels);
  }
  Convolution Conv() const {
    return WithFastestTile({.taps = static_cast<int>(geometry.rows.kernel),
                            .images = geometry.batch,
                            .in_rows = geometry.rows.input,
                            .in_columns = geometry.columns.input,
                            .in_channels = geometry.in_channels,
                            .out_rows = geometry.rows.output,
                            .out_columns = geometry.columns.output,
                            .out_channels = geometry.out_channels,
                            .pad_top = geometry.rows.pad_before,
                            .pad_left = geometry.columns.pad_before});
  }
  // The convolution that computes the gradient of the input.
  Convolution TransposedConv() const { return WithFastestTile(Conv().Transposed()); }

  Convolution WithFastestTile(Convolution conv) const {
    conv.tile = FastestTile(conv, rounds_to_bfloat16);
    return conv;
  }
};

// What every kernel of this file requires: f32, stride 1, no dilation, no groups, and blocks of 16
// channels if there are blocks.
//   image, out: of the convolution; out is pooled if the op has a pool.
std::optional<Op> OpOf(const KernelSpec& spec, const TensorSpec& image, const TensorSpec& filter,
                       const TensorSpec& out) {
  if (!WinogradAllowed(spec) || !IsF32(image) || !IsF32(filter) || !IsF32(out)) return std::nullopt;
  Op op;
  op.blocked = IsBlocked(spec.attrs);
  op.pooled = spec.attrs.has("pool_ksize");
  op.rounds_to_bfloat16 = spec.compute_dtype == DType::kBfloat16;
  const int64_t rank = op.blocked ? 5 : 4;
  if (image.shape.rank() != rank || out.shape.rank() != rank || filter.shape.rank() != 4)
    return std::nullopt;
  if (image.shape.num_elements() == 0 || out.shape.num_elements() == 0) return std::nullopt;
  if (op.blocked && out.shape[4] != 16) return std::nullopt;
  if (op.pooled) {
    const auto block = MakeConvBlock(spec.attrs, image.shape, filter.shape);
    if (!block.ok()) return std::nullopt;
    op.geometry = block->conv;
    // Adjacent windows of 2x2 that cover the whole image.
    for (const Window& w : {block->pool.rows, block->pool.columns}) {
      if (w.kernel != 2 || w.stride != 2 || w.pad_before != 0 || w.output * 2 != w.input)
        return std::nullopt;
    }
  } else {
    const auto geometry = ConvGeometryOf(spec.attrs, image.shape, filter.shape);
    if (!geometry.ok()) return std::nullopt;
    op.geometry = *geometry;
  }
  const Shape expected = op.blocked ? PlainShape(out.shape) : out.shape;
  if (op.geometry.groups != 1 || expected[3] != op.geometry.out_channels) return std::nullopt;
  for (const Window& w : {op.geometry.rows, op.geometry.columns}) {
    if (w.stride != 1 || w.dilation != 1) return std::nullopt;
  }
  return op;
}

// Whether Winograd's algorithm supports the op.
bool Supported(const Op& op, const TensorSpec& image) {
  const ConvGeometry& g = op.geometry;
  if (op.blocked && image.shape[4] != 16) return false;
  return g.rows.kernel == g.columns.kernel && (g.rows.kernel == 3 || g.rows.kernel == 5);
}

std::optional<FirstLayer> FirstLayerOf(const Op& op) {
  const ConvGeometry& g = op.geometry;
  // In blocks an image of few channels is NCHW, which is NHWC if there is one channel.
  if (!op.pooled || g.in_channels > (op.blocked ? 1 : kMostFirstLayerChannels)) return std::nullopt;
  if (g.rows.kernel > kMostFirstLayerTaps || g.columns.kernel > kMostFirstLayerTaps)
    return std::nullopt;
  return FirstLayer{.images = g.batch,
                    .in_rows = g.rows.input,
                    .in_columns = g.columns.input,
                    .in_channels = g.in_channels,
                    .filter_rows = g.rows.kernel,
                    .filter_columns = g.columns.kernel,
                    .out_rows = g.rows.output,
                    .out_columns = g.columns.output,
                    .out_channels = g.out_channels,
                    .pad_top = g.rows.pad_before,
                    .pad_left = g.columns.pad_before,
                    .pooled = op.OutStrides()};
}

// A convolution with what follows it.
struct Forward {
  Op op;
  bool bias = false, relu = false, side = false;
};

std::optional<Forward> ForwardOf(const KernelSpec& spec) {
  if (spec.inputs.size() < 2) return std::nullopt;
  const std::optional<Op> op = OpOf(spec, spec.inputs[0], spec.inputs[1], spec.outputs[0]);
  if (!op.has_value()) return std::nullopt;
  const std::optional<FusedOps> fused = FusedOpsOf(spec);
  if (!fused.has_value()) return std::nullopt;
  const bool relu = fused->activation == fused::TileOp::kRelu;
  if (fused->activation.has_value() && !relu) return std::nullopt;
  if (fused->bias && spec.inputs[2] != TensorSpec{DType::kFloat32, {op->geometry.out_channels}})
    return std::nullopt;
  if (fused->side && spec.inputs[3] != spec.outputs[0]) return std::nullopt;
  if (op->pooled && (!relu || fused->side)) return std::nullopt;
  return Forward{.op = *op, .bias = fused->bias, .relu = relu, .side = fused->side};
}

std::optional<Op> InputGradientOf(const KernelSpec& spec) {
  if (spec.inputs.size() != 3) return std::nullopt;
  const bool pooled = spec.attrs.has("pool_ksize");
  const std::optional<Op> op =
      OpOf(spec, spec.outputs[0], spec.inputs[pooled ? 0 : 1], spec.inputs[pooled ? 1 : 2]);
  return op.has_value() && Supported(*op, spec.outputs[0]) ? op : std::nullopt;
}

bool IsPlainFilterGradient(const KernelSpec& spec) { return spec.op == "Conv2DBackpropFilter"; }

std::optional<Op> FilterGradientOf(const KernelSpec& spec) {
  const bool plain = IsPlainFilterGradient(spec), pooled = spec.attrs.has("pool_ksize");
  if (spec.inputs.size() != (plain || pooled ? 3u : 2u)) return std::nullopt;
  return OpOf(spec, spec.inputs[0], spec.outputs[0], spec.inputs[plain ? 2 : 1]);
}

std::optional<FirstLayer> FirstLayerOf(const std::optional<Op>& op) {
  return op.has_value() ? FirstLayerOf(*op) : std::nullopt;
}

float* Floats(void* scratch) { return static_cast<float*>(scratch); }

}  // namespace

bool AcceptsFirstLayer(const KernelSpec& spec) {
  const std::optional<Forward> forward = ForwardOf(spec);
  return forward.has_value() && FirstLayerOf(forward->op).has_value();
}

std::unique_ptr<Kernel> MakeFirstLayer(const KernelSpec& spec) {
  if (!AcceptsFirstLayer(spec)) return nullptr;
  const FirstLayer layer = *FirstLayerOf(ForwardOf(spec)->op);
  return MakeFusedKernel(
      [layer](const KernelArgs& args) {
        FirstLayerForward(layer, args.in<float>(0), args.in<float>(1), args.in<float>(2),
                          args.out<float>(0), args.out<uint8_t>(1), Floats(args.scratch));
        return absl::OkStatus();
      },
      {.scratch_bytes = FirstLayerFloats(layer) * sizeof(float)});
}

bool AcceptsFirstLayerFilterGradient(const KernelSpec& spec) {
  return FirstLayerOf(FilterGradientOf(spec)).has_value();
}

std::unique_ptr<Kernel> MakeFirstLayerFilterGradient(const KernelSpec& spec) {
  const std::optional<FirstLayer> layer = FirstLayerOf(FilterGradientOf(spec));
  if (!layer.has_value()) return nullptr;
  return MakeFusedKernel(
      [layer = *layer](const KernelArgs& args) {
        FirstLayerFilterGradient(layer, args.in<float>(0), args.in<float>(1), args.in<uint8_t>(2),
                                 args.out<float>(0), args.out<float>(1), Floats(args.scratch));
        return absl::OkStatus();
      },
      {.scratch_bytes = FirstLayerFloats(*layer) * sizeof(float)});
}

bool AcceptsConvolution(const KernelSpec& spec) {
  const std::optional<Forward> forward = ForwardOf(spec);
  return forward.has_value() && Supported(forward->op, spec.inputs[0]);
}

std::unique_ptr<Kernel> MakeConvolution(const KernelSpec& spec) {
  if (!AcceptsConvolution(spec)) return nullptr;
  const Forward forward = *ForwardOf(spec);
  const Convolution conv = forward.op.Conv();
  return MakePreparingKernel({
      .input = 1,
      .prepared_bytes = FilterFloats(conv) * sizeof(float),
      .prepare =
          [conv](const void* filter, void* prepared) {
            TransformFilter(conv, static_cast<const float*>(filter), false, Floats(prepared));
          },
      .run =
          [conv, forward](const KernelArgs& args, const void* filter) {
            const Op& op = forward.op;
            const Destination destination{.data = args.out<float>(0),
                                          .argmax = op.pooled ? args.out<uint8_t>(1) : nullptr,
                                          .bias = forward.bias ? args.in<float>(2) : nullptr,
                                          .side = forward.side ? args.in<float>(3) : nullptr,
                                          .relu = forward.relu,
                                          .strides = op.OutStrides()};
            Convolve(conv, {.data = args.in<float>(0), .strides = op.InStrides()},
                     static_cast<const float*>(filter), destination, Floats(args.scratch));
            return absl::OkStatus();
          },
      .scratch_bytes = ConvolveFloats(conv) * sizeof(float),
  });
}

// Conv2DBackpropInput: sizes, filter, dy.  _Conv2DMaxPoolBackpropInput: filter, dy, argmax.
bool AcceptsInputGradient(const KernelSpec& spec) { return InputGradientOf(spec).has_value(); }

std::unique_ptr<Kernel> MakeInputGradient(const KernelSpec& spec) {
  const std::optional<Op> op = InputGradientOf(spec);
  if (!op.has_value()) return nullptr;
  const int filter_input = op->pooled ? 0 : 1, dy_input = op->pooled ? 1 : 2;
  const Convolution conv = op->TransposedConv();
  return MakePreparingKernel({
      .input = filter_input,
      .prepared_bytes = FilterFloats(conv) * sizeof(float),
      .prepare =
          [conv](const void* filter, void* prepared) {
            TransformFilter(conv, static_cast<const float*>(filter), true, Floats(prepared));
          },
      .run =
          [conv, op = *op, dy_input](const KernelArgs& args, const void* filter) {
            Convolve(conv,
                     {.data = args.in<float>(dy_input),
                      .argmax = op.pooled ? args.in<uint8_t>(2) : nullptr,
                      .strides = op.OutStrides()},
                     static_cast<const float*>(filter),
                     {.data = args.out<float>(0), .strides = op.InStrides()}, Floats(args.scratch));
            return absl::OkStatus();
          },
      .scratch_bytes = ConvolveFloats(conv) * sizeof(float),
  });
}

// Conv2DBackpropFilter: x, sizes, dy.  _FusedConv2DBackpropFilter: x, dy.
// _Conv2DMaxPoolBackpropFilter: x, dy, argmax. The last two have dbias as a second output.
bool AcceptsFilterGradient(const KernelSpec& spec) {
  const std::optional<Op> op = FilterGradientOf(spec);
  return op.has_value() && Supported(*op, spec.inputs[0]);
}

std::unique_ptr<Kernel> MakeFilterGradient(const KernelSpec& spec) {
  if (!AcceptsFilterGradient(spec)) return nullptr;
  const Op op = *FilterGradientOf(spec);
  const Convolution conv = op.Conv();
  const bool plain = IsPlainFilterGradient(spec);
  const int dy_input = plain ? 2 : 1;
  return MakeFusedKernel(
      [conv, op, plain, dy_input](const KernelArgs& args) {
        FilterGradient(conv, {.data = args.in<float>(0), .strides = op.InStrides()},
                       {.data = args.in<float>(dy_input),
                        .argmax = op.pooled ? args.in<uint8_t>(2) : nullptr,
                        .strides = op.OutStrides()},
                       args.out<float>(0), plain ? nullptr : args.out<float>(1),
                       Floats(args.scratch));
        return absl::OkStatus();
      },
      {.scratch_bytes = FilterGradientFloats(conv) * sizeof(float)});
}

}  // namespace estimator::winograd
