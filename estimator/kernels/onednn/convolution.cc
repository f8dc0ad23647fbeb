#include "estimator/kernels/onednn/convolution.h"

#include "estimator/kernels/onednn/primitive_chain.h"
#include "estimator/kernels/window.h"

namespace estimator::onednn {

using dnnl::memory;

namespace {

// oneDNN wants the padding after to be exactly what the last window reads; it may be negative,
// where a stride leaves elements unread.
int64_t PaddingRead(const Window& w) {
  return (w.output - 1) * w.stride + (w.kernel - 1) * w.dilation + 1 - w.input - w.pad_before;
}

}  // namespace

std::optional<Convolution> DescribeConvolution(const Attrs& attrs, const TensorSpec& input,
                                               const TensorSpec& filter, const TensorSpec& output,
                                               bool depthwise) {
  if (!SupportedType(input.dtype) || filter.dtype != input.dtype || output.dtype != input.dtype)
    return std::nullopt;
  if (input.shape.num_elements() == 0 || filter.shape.num_elements() == 0) return std::nullopt;
  const auto geometry = MakeConvGeometry(attrs, input.shape, filter.shape, depthwise);
  if (!geometry.ok() || geometry->output() != output.shape || output.shape.num_elements() == 0)
    return std::nullopt;
  const Window& rows = geometry->rows;
  const Window& columns = geometry->columns;

  Convolution conv;
  const memory::data_type type = DataType(input.dtype);
  conv.input = NhwcLayout(input);
  conv.output = NhwcLayout(output);
  const Shape& f = filter.shape;
  const int64_t tap = f[2] * f[3], groups = geometry->groups, group_outs = f[3] / groups;
  memory::dims dims{f[3], f[2], f[0], f[1]};  // {O, I, H, W}
  memory::dims filter_strides{1, f[3], f[1] * tap, tap};
  if (depthwise) {  // {G, O/G, I/G, H, W}
    dims = {f[2], f[3], 1, f[0], f[1]};
    filter_strides = {f[3], 1, 1, f[1] * tap, tap};
  } else if (groups > 1) {
    dims = {groups, group_outs, f[2], f[0], f[1]};
    filter_strides = {group_outs, 1, f[3], f[1] * tap, tap};
  }
  conv.filter = memory::desc(dims, type, filter_strides);
  conv.any_filter = memory::desc(dims, type, memory::format_tag::any);
  conv.strides = {rows.stride, columns.stride};
  conv.dilations = {rows.dilation - 1, columns.dilation - 1};  // oneDNN counts the gaps
  conv.pad_before = {rows.pad_before, columns.pad_before};
  conv.pad_after = {PaddingRead(rows), PaddingRead(columns)};
  return conv;
}

dnnl::convolution_forward::primitive_desc ForwardHint(const Convolution& conv) {
  return dnnl::convolution_forward::primitive_desc(
      {dnnl::prop_kind::forward_training, dnnl::algorithm::convolution_direct, conv.input,
       conv.any_filter, conv.output, conv.strides, conv.dilations, conv.pad_before, conv.pad_after},
      UserScratchpad(), CpuEngine());
}

}  // namespace estimator::onednn
