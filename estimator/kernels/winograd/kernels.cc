#include "estimator/kernels/winograd/kernels.h"

#include <optional>

#include "estimator/kernels/prepared_input.h"
#include "estimator/kernels/winograd/first_layer.h"
#include "estimator/kernels/winograd/winograd.h"

namespace estimator::winograd {
namespace {

Strides ImageStrides(const ConvSpec& spec, int64_t rows, int64_t columns, int64_t channels) {
  return spec.blocked ? BlockedStrides(rows, columns, channels)
                      : PlainStrides(rows, columns, channels);
}
Strides InStrides(const ConvSpec& spec) {
  const Convolution conv = spec.sizes();
  return ImageStrides(spec, conv.in_rows, conv.in_columns, conv.in_channels);
}
// Of the result, which is after the pool.
Strides OutStrides(const ConvSpec& spec) {
  const Convolution conv = spec.sizes();
  const int64_t shrink = spec.pooled ? 2 : 1;
  return ImageStrides(spec, conv.out_rows / shrink, conv.out_columns / shrink, conv.out_channels);
}

Convolution WithFastestTile(const ConvSpec& spec, Convolution conv) {
  conv.tile = FastestTile(conv, spec.compute_dtype == DType::kBfloat16);
  return conv;
}

// What every kernel of this file requires: f32, stride 1, no dilation, no groups, blocks of 16
// channels if there are blocks, and a pool that halves the image if there is one.
bool Supported(const ConvSpec& spec) {
  if (spec.algorithm == ConvAlgorithm::kDirect || !spec.IsPlain()) return false;
  if (!spec.IsAll(DType::kFloat32) || spec.IsEmpty()) return false;
  // Strides counts channels in blocks of 16 only.
  if (spec.blocked && spec.y.shape[4] != 16) return false;
  if (spec.pooled && !spec.HalvesTheImage()) return false;
  return spec.geometry.rows.stride == 1 && spec.geometry.columns.stride == 1;
}

// Whether Winograd's algorithm computes it too.
bool SupportedByTiles(const ConvSpec& spec) {
  if (!Supported(spec) || (spec.blocked && spec.x.shape[4] != 16)) return false;
  const int64_t rows = spec.geometry.rows.kernel;
  return rows == spec.geometry.columns.kernel && (rows == 3 || rows == 5);
}

// Whether the kernels below compute what follows the convolution.
bool SupportsFusedOps(const ConvSpec& spec) {
  const FusedOps& fused = spec.fused;
  const bool relu = fused.activation == fused::TileOp::kRelu;
  // Relu is one instruction on outputs in registers. Another activation stays an op of its own.
  if (fused.activation.has_value() && !relu) return false;
  if (fused.bias && spec.bias != TensorSpec{DType::kFloat32, {spec.geometry.out_channels}})
    return false;
  if (fused.side && spec.side != spec.y) return false;
  // An op with a pool always has relu and no side input (conv_block.h).
  return !spec.pooled || (relu && !fused.side);
}

std::optional<FirstLayer> FirstLayerOf(const ConvSpec& spec) {
  const ConvGeometry& g = spec.geometry;
  // In blocks an image of few channels is NCHW, which is NHWC if there is one channel.
  if (!Supported(spec) || !spec.pooled ||
      g.in_channels > (spec.blocked ? 1 : kMostFirstLayerChannels))
    return std::nullopt;
  if (g.rows.kernel > kMostFirstLayerTaps || g.columns.kernel > kMostFirstLayerTaps)
    return std::nullopt;
  return FirstLayer{.conv = spec.sizes(), .pooled = OutStrides(spec)};
}

float* Floats(void* scratch) { return static_cast<float*>(scratch); }

// The gradient of the result.
//   dy, argmax: the numbers of the inputs; argmax is -1 without a pool.
Source GradientOfY(const KernelArgs& args, int dy, int argmax, const Strides& strides) {
  return {.data = args.in<float>(dy),
          .argmax = argmax >= 0 ? args.in<uint8_t>(argmax) : nullptr,
          .strides = strides};
}

// A kernel whose prepared input is the transformed filter.
//   sizes: without the tile.  run(conv, args, transformed filter): calls Convolve.
template <typename Run>
KernelPlan MakeConvolve(const ConvSpec& spec, const Convolution& sizes, bool transposed, Run run) {
  const Convolution conv = WithFastestTile(spec, sizes);
  return MakePreparingKernel({
      .input = spec.filter_index,
      .prepared_bytes = FilterFloats(conv) * sizeof(float),
      .prepare =
          [conv, transposed](const void* filter, void* prepared) {
            TransformFilter(conv, static_cast<const float*>(filter), transposed, Floats(prepared));
          },
      .run = [conv, run](
                 const KernelArgs& args,
                 const void* filter) { run(conv, args, static_cast<const float*>(filter)); },
      .scratch_bytes = ConvolveFloats(conv) * sizeof(float),
  });
}

}  // namespace

KernelPlan MakeFirstLayer(const ConvSpec& spec) {
  const std::optional<FirstLayer> layer = FirstLayerOf(spec);
  if (!layer.has_value() || !SupportsFusedOps(spec)) return nullptr;
  return MakeKernel(
      [layer = *layer](const KernelArgs& args) {
        FirstLayerForward(layer, args.in<float>(0), args.in<float>(1), args.in<float>(2),
                          args.out<float>(0), args.out<uint8_t>(1), Floats(args.scratch));
      },
      FirstLayerFloats(*layer) * sizeof(float));
}

KernelPlan MakeFirstLayerFilterGradient(const ConvSpec& spec) {
  const std::optional<FirstLayer> layer = FirstLayerOf(spec);
  if (!layer.has_value()) return nullptr;
  return MakeKernel(
      [layer = *layer](const KernelArgs& args) {
        FirstLayerFilterGradient(layer, args.in<float>(0), args.in<float>(1), args.in<uint8_t>(2),
                                 args.out<float>(0), args.out<float>(1), Floats(args.scratch));
      },
      FirstLayerFloats(*layer) * sizeof(float));
}

KernelPlan MakeConvolution(const ConvSpec& spec) {
  if (!SupportedByTiles(spec) || !SupportsFusedOps(spec)) return nullptr;
  const auto run = [fused = spec.fused, pooled = spec.pooled, in = InStrides(spec),
                    out = OutStrides(spec)](const Convolution& conv, const KernelArgs& args,
                                            const float* filter) {
    const Destination destination{.data = args.out<float>(0),
                                  .argmax = pooled ? args.out<uint8_t>(1) : nullptr,
                                  .bias = fused.bias ? args.in<float>(2) : nullptr,
                                  .side = fused.side ? args.in<float>(3) : nullptr,
                                  .relu = fused.activation.has_value(),
                                  .strides = out};
    Convolve(conv, {.data = args.in<float>(0), .strides = in}, filter, destination,
             Floats(args.scratch));
  };
  return MakeConvolve(spec, spec.sizes(), /*transposed=*/false, run);
}

KernelPlan MakeInputGradient(const ConvSpec& spec) {
  if (!SupportedByTiles(spec)) return nullptr;
  const auto run = [dy = spec.y_index, argmax = spec.argmax_index, in = InStrides(spec),
                    out = OutStrides(spec)](const Convolution& conv, const KernelArgs& args,
                                            const float* filter) {
    Convolve(conv, GradientOfY(args, dy, argmax, out), filter,
             {.data = args.out<float>(0), .strides = in}, Floats(args.scratch));
  };
  return MakeConvolve(spec, spec.sizes().Transposed(), /*transposed=*/true, run);
}

KernelPlan MakeFilterGradient(const ConvSpec& spec) {
  if (!SupportedByTiles(spec)) return nullptr;
  const Convolution conv = WithFastestTile(spec, spec.sizes());
  return MakeKernel(
      [conv, dy = spec.y_index, argmax = spec.argmax_index, dbias = spec.dbias_index,
       in = InStrides(spec), out = OutStrides(spec)](const KernelArgs& args) {
        FilterGradient(conv, {.data = args.in<float>(0), .strides = in},
                       GradientOfY(args, dy, argmax, out), args.out<float>(0),
                       dbias >= 0 ? args.out<float>(dbias) : nullptr, Floats(args.scratch));
      },
      FilterGradientFloats(conv) * sizeof(float));
}

}  // namespace estimator::winograd
