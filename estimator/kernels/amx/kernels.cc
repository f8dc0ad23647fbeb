#include "estimator/kernels/amx/kernels.h"

#include <omp.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "estimator/kernels/amx/convolution.h"
#include "estimator/kernels/amx/convolve.h"
#include "estimator/kernels/amx/filter_gradient.h"
#include "estimator/kernels/amx/tiles.h"
#include "estimator/kernels/conv_block.h"
#include "estimator/kernels/fused/bfloat16.h"
#include "estimator/kernels/fused/parallel.h"
#include "estimator/kernels/layout.h"
#include "estimator/kernels/prepared_input.h"
#include "estimator/kernels/window.h"

namespace estimator::amx {
namespace {

bool IsBfloat16(const TensorSpec& spec) { return spec.dtype == DType::kBfloat16; }
bool IsResult(const TensorSpec& spec) { return IsBfloat16(spec) || spec.dtype == DType::kFloat32; }
bool IsF32(const TensorSpec& spec) { return spec.dtype == DType::kFloat32; }

// How the factors of a product are multiplied: as bf16 numbers, or as f32 numbers that are split.
// nullopt if the kernels of this file do not support their types.
enum class Numbers { kBfloat16, kSplit };
std::optional<Numbers> NumbersOf(const KernelSpec& spec, const TensorSpec& a, const TensorSpec& b) {
  if (IsBfloat16(a) && IsBfloat16(b) && IsResult(spec.outputs[0])) return Numbers::kBfloat16;
  // Other algorithms than the default are those of f32 numbers.
  if (IsF32(a) && IsF32(b) && IsF32(spec.outputs[0]) &&
      spec.conv_algorithm == ConvAlgorithm::kAuto) {
    return Numbers::kSplit;
  }
  return std::nullopt;
}

bool IsPooled(const KernelSpec& spec) { return spec.attrs.has("pool_ksize"); }

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

// The convolution y = conv(x, filter) of a spec, if the kernels of this file support it.
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

// Whether a product of f32 numbers pays off: with fewer pixels, splitting the filter, or adding to its
// gradient, takes longer than what the products save (gemm_benchmark).
bool PaysOff(Numbers numbers, int64_t pixels, bool filter_gradient) {
  return numbers == Numbers::kBfloat16 || pixels >= (filter_gradient ? 64 : 256);
}
int64_t Pixels(const Convolution& conv) { return conv.images * conv.out_rows * conv.out_columns; }

// What follows a product: input 2 is a bias, and input 3 the side input.
struct Fused {
  bool bias = false, side = false, relu = false;
};

// nullopt if there is something else in attribute fused_ops, the bias is not [channels], or the side
// input is not f32.
std::optional<Fused> FusedOf(const KernelSpec& spec, int64_t channels) {
  std::vector<std::string> ops;
  if (spec.attrs.has("fused_ops")) ops = spec.attrs.get<std::vector<std::string>>("fused_ops");
  Fused fused;
  fused.bias = !ops.empty() && ops[0] == "BiasAdd";
  fused.relu = ops.size() == 2 && ops[1] == "Relu";
  if (ops.size() != (fused.bias ? 1u : 0u) + (fused.relu ? 1u : 0u)) return std::nullopt;
  fused.side = fused.bias && spec.inputs.size() == 4;
  if (spec.inputs.size() != 2u + (fused.bias ? 1u : 0u) + (fused.side ? 1u : 0u))
    return std::nullopt;
  if (fused.side && (!IsF32(spec.inputs[3]) || spec.inputs[3] != spec.outputs[0]))
    return std::nullopt;
  if (fused.bias && (!IsResult(spec.inputs[2]) || spec.inputs[2].shape != Shape{channels}))
    return std::nullopt;
  return fused;
}

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
  if (sums->gathered && numbers == Numbers::kSplit) return nullptr;
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
  if (conv->IsGathered() && numbers == Numbers::kSplit) return nullptr;
  if (!PaysOff(*numbers, Pixels(*conv), true)) return nullptr;
  if (spec.conv_algorithm == ConvAlgorithm::kWinograd && conv->taps() > 1) return nullptr;
  return MakeFilterSums(spec, *conv, *numbers, 0, dy_input, pooled ? 2 : -1, plain ? -1 : 1);
}

// A row of a matrix is a pixel: a b is a convolution with a filter of one tap, a b^T the gradient of
// its input, and a^T b the gradient of its filter.
std::unique_ptr<Kernel> MakeAnyMatMul(const KernelSpec& spec) {
  if (!IsAvailable() || spec.inputs.size() < 2 || spec.outputs.size() != 1) return nullptr;
  const TensorSpec &a = spec.inputs[0], &b = spec.inputs[1], &c = spec.outputs[0];
  const auto numbers = NumbersOf(spec, a, b);
  if (numbers != Numbers::kSplit) return nullptr;
  for (const TensorSpec* matrix : {&a, &b, &c}) {
    if (matrix->shape.rank() != 2 || matrix->shape.num_elements() == 0) return nullptr;
  }
  const auto flag = [&](const char* name) { return spec.attrs.has(name) && spec.attrs.b(name); };
  const bool transpose_a = flag("transpose_a"), transpose_b = flag("transpose_b");
  const int64_t m = c.shape[0], n = c.shape[1], k = a.shape[transpose_a ? 0 : 1];
  if (transpose_a && transpose_b) return nullptr;
  if (a.shape != (transpose_a ? Shape{k, m} : Shape{m, k})) return nullptr;
  if (b.shape != (transpose_b ? Shape{n, k} : Shape{k, n})) return nullptr;
  if (std::min({m, n, k}) < kFewestChannels) return nullptr;
  const auto fused = FusedOf(spec, n);
  if (!fused.has_value()) return nullptr;
  // Pixels, and channels before and after the convolution.
  const auto conv_of = [](int64_t pixels, int64_t in, int64_t out) {
    return Convolution{.images = 1,
                       .in_rows = pixels,
                       .in_columns = 1,
                       .in_channels = in,
                       .out_rows = pixels,
                       .out_columns = 1,
                       .out_channels = out,
                       .filter_rows = 1,
                       .filter_columns = 1};
  };
  if (transpose_a) {
    if (fused->bias || fused->relu) return nullptr;
    return MakeFilterSums(spec, conv_of(k, m, n), *numbers, 0, 1, -1, -1);
  }
  const auto sums =
      transpose_b ? InputGradientSums(conv_of(m, n, k)) : ForwardSums(conv_of(m, k, n));
  return MakeConvolve(spec, *sums, {.bias = fused->bias ? 2 : -1, .side = fused->side ? 3 : -1},
                      *numbers, fused->relu);
}

bool MatMulIsChosen(const KernelSpec& spec) {
  const bool transpose_a = spec.attrs.has("transpose_a") && spec.attrs.b("transpose_a");
  return PaysOff(Numbers::kSplit, spec.inputs[0].shape[0], transpose_a);
}

std::unique_ptr<Kernel> MakeMatMul(const KernelSpec& spec) {
  std::unique_ptr<Kernel> kernel = MakeAnyMatMul(spec);
  return kernel != nullptr && MatMulIsChosen(spec) ? std::move(kernel) : nullptr;
}

}  // namespace estimator::amx
