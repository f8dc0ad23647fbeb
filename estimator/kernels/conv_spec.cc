#include "estimator/kernels/conv_spec.h"

#include <algorithm>

#include "estimator/kernels/conv_block.h"
#include "estimator/kernels/layout.h"

namespace estimator {
namespace {

using Pass = ConvSpec::Pass;

// Where an op has its operands: numbers of inputs and outputs, -1 for none. The operand that the
// pass computes is output 0.
struct ConvOp {
  const char* name = nullptr;
  Pass pass = Pass::kForward;
  int num_inputs = 0;  // without bias and side input
  int x = 0, filter = 1, y = 0, argmax = -1, dbias = -1;
  bool depthwise = false;
  bool fused = false;  // it has the attributes of fused_ops.h
};
constexpr ConvOp kConvOps[] = {
    {.name = "Conv2D", .num_inputs = 2},
    {.name = "_FusedConv2D", .num_inputs = 2, .fused = true},
    {.name = "DepthwiseConv2dNative", .num_inputs = 2, .depthwise = true},
    {.name = "_FusedDepthwiseConv2dNative", .num_inputs = 2, .depthwise = true, .fused = true},
    {.name = "_FusedConv2DMaxPool", .num_inputs = 2, .argmax = 1, .fused = true},
    // Input 0 has the sizes of x, which follow from the shapes too.
    {.name = "Conv2DBackpropInput", .pass = Pass::kInputGradient, .num_inputs = 3, .y = 2},
    {.name = "DepthwiseConv2dNativeBackpropInput",
     .pass = Pass::kInputGradient,
     .num_inputs = 3,
     .y = 2,
     .depthwise = true},
    {.name = "_Conv2DMaxPoolBackpropInput",
     .pass = Pass::kInputGradient,
     .num_inputs = 3,
     .filter = 0,
     .y = 1,
     .argmax = 2},
    // Input 1 has the sizes of the filter.
    {.name = "Conv2DBackpropFilter",
     .pass = Pass::kFilterGradient,
     .num_inputs = 3,
     .filter = 0,
     .y = 2},
    {.name = "DepthwiseConv2dNativeBackpropFilter",
     .pass = Pass::kFilterGradient,
     .num_inputs = 3,
     .filter = 0,
     .y = 2,
     .depthwise = true},
    {.name = "_FusedConv2DBackpropFilter",
     .pass = Pass::kFilterGradient,
     .num_inputs = 2,
     .filter = 0,
     .y = 1,
     .dbias = 1},
    {.name = "_Conv2DMaxPoolBackpropFilter",
     .pass = Pass::kFilterGradient,
     .num_inputs = 3,
     .filter = 0,
     .y = 1,
     .argmax = 2,
     .dbias = 1},
};

// Reads the geometry. Returns whether it agrees with the shapes.
bool ReadGeometry(const KernelSpec& spec, ConvSpec& conv) {
  Shape y = conv.y.shape;
  if (conv.blocked) {
    if (y.rank() != 5) return false;
    y = PlainShape(y);
  }
  if (conv.pooled) {
    const auto block = MakeConvBlock(spec.attrs, conv.x.shape, conv.filter.shape);
    // Kernels compute addresses from the geometry alone, so an output of another shape would be
    // written out of bounds.
    if (!block.ok() || block->output() != y) return false;
    conv.geometry = block->conv;
    conv.pool = block->pool;
    return true;
  }
  const auto geometry = ConvGeometryOf(spec.attrs, conv.x.shape, conv.filter.shape, conv.depthwise);
  if (!geometry.ok() || geometry->output() != y) return false;
  conv.geometry = *geometry;
  return true;
}

}  // namespace

bool ConvSpec::IsAll(DType dtype) const {
  return x.dtype == dtype && filter.dtype == dtype && y.dtype == dtype;
}

bool ConvSpec::IsEmpty() const {
  return x.shape.num_elements() == 0 || filter.shape.num_elements() == 0 ||
         y.shape.num_elements() == 0;
}

bool ConvSpec::IsPlain() const {
  return !depthwise && geometry.groups == 1 && geometry.rows.dilation == 1 &&
         geometry.columns.dilation == 1;
}

Convolution ConvSpec::sizes() const {
  const ConvGeometry& g = geometry;
  return {.images = g.batch,
          .in_rows = g.rows.input,
          .in_columns = g.columns.input,
          .in_channels = g.in_channels,
          .out_rows = g.rows.output,
          .out_columns = g.columns.output,
          .out_channels = g.out_channels,
          .filter_rows = g.rows.kernel,
          .filter_columns = g.columns.kernel,
          .row_stride = g.rows.stride,
          .column_stride = g.columns.stride,
          .pad_top = g.rows.pad_before,
          .pad_left = g.columns.pad_before};
}

bool ConvSpec::HalvesTheImage() const {
  const auto halves = [](const Window& w) {
    return w.kernel == 2 && w.stride == 2 && w.pad_before == 0 && w.output * 2 == w.input;
  };
  return halves(pool.rows) && halves(pool.columns);
}

std::optional<ConvSpec> ConvSpecOf(const KernelSpec& spec) {
  const auto* const op = std::find_if(std::begin(kConvOps), std::end(kConvOps),
                                      [&spec](const ConvOp& o) { return o.name == spec.op; });
  if (op == std::end(kConvOps)) return std::nullopt;
  const bool forward = op->pass == Pass::kForward;
  const size_t inputs = spec.inputs.size(), outputs = op->dbias > 0 || (forward && op->argmax > 0);
  if (inputs < static_cast<size_t>(op->num_inputs) || spec.outputs.size() != 1 + outputs)
    return std::nullopt;
  ConvSpec conv{.pass = op->pass,
                .depthwise = op->depthwise,
                .blocked = IsBlocked(spec.attrs),
                .pooled = op->argmax >= 0,
                .x_index = op->x,
                .filter_index = op->filter,
                .y_index = op->y,
                .argmax_index = op->argmax,
                .dbias_index = op->dbias,
                .name = spec.name,
                .algorithm = spec.conv_algorithm,
                .compute_dtype = spec.compute_dtype};
  const auto input = [&spec](int i) { return spec.inputs[static_cast<size_t>(i)]; };
  conv.x = op->pass == Pass::kInputGradient ? spec.outputs[0] : input(op->x);
  conv.filter = op->pass == Pass::kFilterGradient ? spec.outputs[0] : input(op->filter);
  conv.y = forward ? spec.outputs[0] : input(op->y);
  if (op->dbias >= 0) conv.dbias = spec.outputs[1];
  // A plain Conv2D may have the attributes of the fused op that it is a part of (conv_block.cc).
  if (op->fused) {
    const std::optional<FusedOps> fused = FusedOpsOf(spec);
    if (!fused.has_value()) return std::nullopt;
    conv.fused = *fused;
    if (fused->bias) conv.bias = spec.inputs[2];
    if (fused->side) conv.side = spec.inputs[3];
  } else if (inputs != static_cast<size_t>(op->num_inputs)) {
    return std::nullopt;
  }
  if (conv.filter.shape.rank() != 4 || !ReadGeometry(spec, conv)) return std::nullopt;
  return conv;
}

}  // namespace estimator
