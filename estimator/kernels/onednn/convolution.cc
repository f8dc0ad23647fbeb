#include "estimator/kernels/onednn/convolution.h"

#include "estimator/kernels/layout.h"
#include "estimator/kernels/onednn/primitive_chain.h"

namespace estimator::onednn {

using dnnl::memory;

namespace {

// oneDNN requires that the padding at the end is exactly what the last window reads. It is negative
// if a stride leaves elements unread.
int64_t PaddingRead(const Window& w) {
  return (w.output - 1) * w.stride + (w.kernel - 1) * w.dilation + 1 - w.input - w.pad_before;
}

// Logical dimensions {N, C, H, W} of a blocked tensor; nullopt if oneDNN does not know the block
// size.
std::optional<memory::desc> BlockedLayout(const TensorSpec& spec) {
  const Shape shape = PlainShape(spec.shape);
  const int64_t block = spec.shape[4];
  if (block != 1 && block != 8 && block != 16) return std::nullopt;
  return memory::desc({shape[0], shape[3], shape[1], shape[2]}, DataType(spec.dtype),
                      block == 1   ? memory::format_tag::nchw
                      : block == 8 ? memory::format_tag::nChw8c
                                   : memory::format_tag::nChw16c);
}

memory::desc Any(const memory::desc& layout) {
  return memory::desc(DimsOf(layout), DataTypeOf(layout), memory::format_tag::any);
}

}  // namespace

std::optional<Convolution> DescribeConvolution(const ConvSpec& spec) {
  const TensorSpec &input = spec.x, &filter = spec.filter, &output = spec.y;
  if (!SupportedType(input.dtype) || output.dtype != input.dtype) return std::nullopt;
  // A gradient in f32 of images in bf16 is allowed (passes/bfloat16_products.h).
  if (filter.dtype != input.dtype && filter.dtype != DType::kFloat32) return std::nullopt;
  if (spec.IsEmpty()) return std::nullopt;
  const Window &rows = spec.geometry.rows, &columns = spec.geometry.columns;

  Convolution conv;
  const memory::data_type type = DataType(filter.dtype);
  if (spec.blocked) {
    const auto in = BlockedLayout(input), out = BlockedLayout(output);
    if (!in.has_value() || !out.has_value()) return std::nullopt;
    conv.input = *in;
    conv.output = *out;
    // If our layout were asked for, oneDNN would give it even where another one is faster. So it
    // may choose, and IsOwn compares.
    conv.asked_input = Any(*in);
    conv.asked_output = Any(*out);
  } else {
    conv.asked_input = conv.input = NhwcLayout(input);
    conv.asked_output = conv.output = NhwcLayout(output);
  }
  const Shape& f = filter.shape;
  const int64_t tap = f[2] * f[3], groups = spec.geometry.groups, group_outs = f[3] / groups;
  memory::dims dims{f[3], f[2], f[0], f[1]};  // {O, I, H, W}
  memory::dims filter_strides{1, f[3], f[1] * tap, tap};
  if (spec.depthwise) {  // {G, O/G, I/G, H, W}
    dims = {f[2], f[3], 1, f[0], f[1]};
    filter_strides = {f[3], 1, 1, f[1] * tap, tap};
  } else if (groups > 1) {
    dims = {groups, group_outs, f[2], f[0], f[1]};
    filter_strides = {group_outs, 1, f[3], f[1] * tap, tap};
  }
  conv.filter = memory::desc(dims, type, filter_strides);
  conv.any_filter = memory::desc(dims, type, memory::format_tag::any);
  conv.strides = {rows.stride, columns.stride};
  conv.dilations = {rows.dilation - 1, columns.dilation - 1};  // oneDNN's dilation starts at 0
  conv.pad_before = {rows.pad_before, columns.pad_before};
  conv.pad_after = {PaddingRead(rows), PaddingRead(columns)};
  return conv;
}

dnnl::convolution_forward::primitive_desc ForwardHint(const Convolution& conv) {
  // The forward pass has no filter in f32 for images in bf16, although the gradient of a filter may
  // be f32.
  const memory::desc filter(DimsOf(conv.any_filter), DataTypeOf(conv.asked_input),
                            memory::format_tag::any);
  return Describe<dnnl::convolution_forward>(
      CpuEngine(), UserScratchpad(), dnnl::prop_kind::forward_training,
      dnnl::algorithm::convolution_direct, conv.asked_input, filter, conv.asked_output,
      conv.strides, conv.dilations, conv.pad_before, conv.pad_after);
}

}  // namespace estimator::onednn
