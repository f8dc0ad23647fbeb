#include "estimator/runtime/passes/fold_pads.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "estimator/kernels/window.h"
#include "estimator/runtime/passes/rewriter.h"

namespace estimator::ir {
namespace {

// The rows and columns of zeros around an image.
struct Margins {
  int64_t top = 0, bottom = 0, left = 0, right = 0;
};

bool IsDepthwise(const Node& node) { return node.op.rfind("DepthwiseConv2dNative", 0) == 0; }
bool IsForward(const Node& node) {
  return IsOp(node, "Conv2D") || IsOp(node, "DepthwiseConv2dNative");
}
bool IsFilterGradient(const Node& node) {
  return IsOp(node, "Conv2DBackpropFilter") || IsOp(node, "DepthwiseConv2dNativeBackpropFilter");
}

// The margins by which `padded` is larger than `inner`, which begins at `begin` in it. Nullopt if
// it is larger along the batch or the channels, or if one of them is not a batch of images.
std::optional<Margins> MarginsOf(const Shape& padded, const Shape& inner,
                                 const std::vector<int64_t>& begin) {
  if (padded.rank() != 4 || inner.rank() != 4 || begin.size() != 4) return std::nullopt;
  if (padded[0] != inner[0] || padded[3] != inner[3] || begin[0] != 0 || begin[3] != 0)
    return std::nullopt;
  if (inner.num_elements() == 0) return std::nullopt;
  return Margins{.top = begin[1],
                 .bottom = padded[1] - inner[1] - begin[1],
                 .left = begin[2],
                 .right = padded[2] - inner[2] - begin[2]};
}

// oneDNN's fastest convolutions do not accept a window that reads nothing but padding.
bool IsNarrow(const Window& window, int64_t before, int64_t after) {
  const int64_t extent = (window.kernel - 1) * window.dilation + 1;
  return before < extent && after < extent;
}

// The attributes of a convolution of the inner image that equals `node` on the padded one. Nullopt
// if there are none.
std::optional<Attrs> Folded(const Node& node, const Margins& margins, const Shape& padded,
                            const Shape& inner, const Shape& filter) {
  const auto geometry = MakeConvGeometry(node.attrs, padded, filter, IsDepthwise(node));
  if (!geometry.ok()) return std::nullopt;
  const Window &rows = geometry->rows, &columns = geometry->columns;
  const int64_t top = margins.top + rows.pad_before, bottom = margins.bottom + rows.pad_after,
                left = margins.left + columns.pad_before, right = margins.right + columns.pad_after;
  if (!IsNarrow(rows, top, bottom) || !IsNarrow(columns, left, right)) return std::nullopt;
  Attrs attrs = node.attrs;
  attrs.Set("padding", std::string("EXPLICIT"));
  attrs.Set("explicit_paddings", std::vector<int64_t>{0, 0, top, bottom, left, right, 0, 0});
  const auto folded = MakeConvGeometry(attrs, inner, filter, IsDepthwise(node));
  if (!folded.ok() || folded->output() != geometry->output()) return std::nullopt;
  return attrs;
}

// Lets the convolutions that read a padded image read the image itself.
void FoldPad(const Match& match, const std::vector<int>& readers, Module& module) {
  const Value x = match["x"], y = match["padded"];
  const Shape &inner = module.spec(x).shape, &padded = module.spec(y).shape;
  const std::vector<int64_t> paddings = ConstantInts(module, module.node(y).inputs[1]);
  // The list is empty if the paddings are not constant.
  if (paddings.size() != 8) return;
  const auto margins =
      MarginsOf(padded, inner, {paddings[0], paddings[2], paddings[4], paddings[6]});
  if (!margins.has_value()) return;
  // If one reader needs the padded image, it is written in any case.
  std::vector<std::pair<int, Attrs>> folded;
  for (const int reader : readers) {
    if (reader < 0) return;
    const Node& conv = module.node(reader);
    if (!IsForward(conv) && !IsFilterGradient(conv)) return;
    // As a filter or as a gradient, the value is needed with its margins.
    if (std::count(conv.inputs.begin(), conv.inputs.end(), y) != 1 || conv.inputs[0] != y) return;
    const Shape& filter =
        IsForward(conv) ? module.spec(conv.inputs[1]).shape : conv.outputs[0].shape;
    std::optional<Attrs> attrs = Folded(conv, *margins, padded, inner, filter);
    if (!attrs.has_value()) return;
    folded.emplace_back(reader, *std::move(attrs));
  }
  for (auto& [reader, attrs] : folded) {
    module.node(reader).attrs = std::move(attrs);
    module.node(reader).inputs[0] = x;
  }
}

// Makes the slice of a gradient the gradient itself: its operand `size` is the shape of the result.
void FoldSlice(const Match& match, Module& module) {
  Node& slice = module.node(match["slice"]);
  const Node& conv = module.node(match["whole"]);
  const Shape &inner = slice.outputs[0].shape, &padded = conv.outputs[0].shape;
  if (ConstantInts(module, slice.inputs[2]) != inner.dims()) return;
  const auto margins = MarginsOf(padded, inner, ConstantInts(module, slice.inputs[1]));
  if (!margins.has_value()) return;
  std::optional<Attrs> attrs =
      Folded(conv, *margins, padded, inner, module.spec(match["filter"]).shape);
  if (!attrs.has_value()) return;
  Node folded = conv;
  folded.attrs = *std::move(attrs);
  folded.inputs[0] = slice.inputs[2];
  folded.outputs = slice.outputs;
  slice = std::move(folded);
}

}  // namespace

void FoldPads(Module& module) {
  Rewriter rewriter(module);
  // A convolution's own padding is always 0.
  const Pattern pad = EitherOf(
      {OpOf("Pad", {Any("x")}, "padded"), OpOf("PadV2", {Any("x"), Any(""), AllOf(0)}, "padded")});
  rewriter.ForEach(Direct(pad), [&](const Match& match) {
    FoldPad(match, rewriter.readers(match["padded"]), module);
  });
  const Pattern gradient = OneOf({"Conv2DBackpropInput", "DepthwiseConv2dNativeBackpropInput"},
                                 {Any(""), Any("filter"), Any("")}, "whole");
  rewriter.ForEach(Direct(OpOf("Slice", {gradient}, "slice")), [&](const Match& match) {
    // Another reader needs the gradient with its margins.
    if (rewriter.OnlyReader(match["whole"]) == match["slice"].node) FoldSlice(match, module);
  });
  rewriter.Finish();
}

}  // namespace estimator::ir
