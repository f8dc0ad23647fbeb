#include "estimator/kernels/winograd/kernels.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "estimator/kernels/conv_block.h"
#include "estimator/kernels/fused/parallel.h"
#include "estimator/kernels/layout.h"
#include "estimator/kernels/prepared_input.h"
#include "estimator/kernels/winograd/first_layer.h"
#include "estimator/kernels/winograd/rule.h"
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
    return {.taps = static_cast<int>(geometry.rows.kernel),
            .images = geometry.batch,
            .in_rows = geometry.rows.input,
            .in_columns = geometry.columns.input,
            .in_channels = geometry.in_channels,
            .out_rows = geometry.rows.output,
            .out_columns = geometry.columns.output,
            .out_channels = geometry.out_channels,
            .pad_top = geometry.rows.pad_before,
            .pad_left = geometry.columns.pad_before};
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
    Attrs plain = spec.attrs;
    plain.Set("data_format", std::string(kPlainFormat));
    const auto geometry =
        MakeConvGeometry(plain, op.blocked ? PlainShape(image.shape) : image.shape, filter.shape);
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
  if (g.rows.kernel != g.columns.kernel || (g.rows.kernel != 3 && g.rows.kernel != 5)) return false;
  return g.in_channels % 16 == 0 && g.out_channels % 16 == 0;
}

std::optional<FirstLayer> FirstLayerOf(const Op& op) {
  const ConvGeometry& g = op.geometry;
  // In blocks an image of few channels is NCHW, which is NHWC if there is one channel.
  if (!op.pooled || g.in_channels > (op.blocked ? 1 : kMostFirstLayerChannels)) return std::nullopt;
  if (g.out_channels % 16 != 0 || g.rows.kernel > kMostFirstLayerTaps ||
      g.columns.kernel > kMostFirstLayerTaps)
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

float* Floats(void* scratch) { return static_cast<float*>(scratch); }

}  // namespace

std::unique_ptr<Kernel> MakeConvolution(const KernelSpec& spec) {
  if (spec.inputs.size() < 2) return nullptr;
  const std::optional<Op> op = OpOf(spec, spec.inputs[0], spec.inputs[1], spec.outputs[0]);
  if (!op.has_value()) return nullptr;
  std::vector<std::string> fused;
  if (spec.attrs.has("fused_ops")) fused = spec.attrs.get<std::vector<std::string>>("fused_ops");
  const bool bias = !fused.empty() && fused[0] == "BiasAdd";
  const bool relu = fused.size() == 2 && fused[1] == "Relu";
  const bool side = spec.inputs.size() == 4;
  if (fused.size() != (bias ? 1u : 0u) + (relu ? 1u : 0u)) return nullptr;
  if (spec.inputs.size() != (bias ? (side ? 4u : 3u) : 2u)) return nullptr;
  if (bias && spec.inputs[2] != TensorSpec{DType::kFloat32, {op->geometry.out_channels}})
    return nullptr;
  if (side && spec.inputs[3] != spec.outputs[0]) return nullptr;
  if (op->pooled && (!relu || side)) return nullptr;

  if (const std::optional<FirstLayer> layer = FirstLayerOf(*op)) {
    return MakeFusedKernel(
        [layer = *layer](const KernelArgs& args) {
          FirstLayerForward(layer, args.in<float>(0), args.in<float>(1), args.in<float>(2),
                            args.out<float>(0), args.out<uint8_t>(1), Floats(args.scratch));
          return absl::OkStatus();
        },
        {.scratch_bytes = FirstLayerFloats(*layer) * sizeof(float)});
  }
  if (!Supported(*op, spec.inputs[0])) return nullptr;
  const Convolution conv = op->Conv();
  if (!Chosen(spec, Pass::kForward, conv)) return nullptr;
  return MakePreparingKernel({
      .input = 1,
      .prepared_bytes = FilterFloats(conv) * sizeof(float),
      .prepare =
          [conv](const void* filter, void* prepared) {
            TransformFilter(conv, static_cast<const float*>(filter), false, Floats(prepared));
          },
      .run =
          [conv, op = *op, bias, relu, side](const KernelArgs& args, const void* filter) {
            const Destination destination{.data = args.out<float>(0),
                                          .argmax = op.pooled ? args.out<uint8_t>(1) : nullptr,
                                          .bias = bias ? args.in<float>(2) : nullptr,
                                          .side = side ? args.in<float>(3) : nullptr,
                                          .relu = relu,
                                          .strides = op.OutStrides()};
            Convolve(conv, {.data = args.in<float>(0), .strides = op.InStrides()},
                     static_cast<const float*>(filter), destination, Floats(args.scratch));
            return absl::OkStatus();
          },
      .scratch_bytes = ConvolveFloats(conv) * sizeof(float),
  });
}

// Conv2DBackpropInput: sizes, filter, dy.  _Conv2DMaxPoolBackpropInput: filter, dy, argmax.
std::unique_ptr<Kernel> MakeInputGradient(const KernelSpec& spec) {
  if (spec.inputs.size() != 3) return nullptr;
  const bool pooled = spec.attrs.has("pool_ksize");
  const int filter_input = pooled ? 0 : 1, dy_input = pooled ? 1 : 2;
  const TensorSpec& filter = spec.inputs[pooled ? 0 : 1];
  const std::optional<Op> op = OpOf(spec, spec.outputs[0], filter, spec.inputs[pooled ? 1 : 2]);
  if (!op.has_value() || !Supported(*op, spec.outputs[0])) return nullptr;
  const Convolution conv = op->Conv().Transposed();
  if (!Chosen(spec, Pass::kInputGradient, op->Conv())) return nullptr;
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
std::unique_ptr<Kernel> MakeFilterGradient(const KernelSpec& spec) {
  const bool plain = spec.op == "Conv2DBackpropFilter";
  const bool pooled = spec.attrs.has("pool_ksize");
  if (spec.inputs.size() != (plain || pooled ? 3u : 2u)) return nullptr;
  const int dy_input = plain ? 2 : 1;
  const std::optional<Op> op =
      OpOf(spec, spec.inputs[0], spec.outputs[0], spec.inputs[plain ? 2 : 1]);
  if (!op.has_value()) return nullptr;
  if (const std::optional<FirstLayer> layer = FirstLayerOf(*op)) {
    return MakeFusedKernel(
        [layer = *layer](const KernelArgs& args) {
          FirstLayerFilterGradient(layer, args.in<float>(0), args.in<float>(1), args.in<uint8_t>(2),
                                   args.out<float>(0), args.out<float>(1), Floats(args.scratch));
          return absl::OkStatus();
        },
        {.scratch_bytes = FirstLayerFloats(*layer) * sizeof(float)});
  }
  if (!Supported(*op, spec.inputs[0])) return nullptr;
  const Convolution conv = op->Conv();
  if (!Chosen(spec, Pass::kFilterGradient, conv)) return nullptr;
  return MakeFusedKernel(
      [conv, op = *op, plain, dy_input](const KernelArgs& args) {
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
