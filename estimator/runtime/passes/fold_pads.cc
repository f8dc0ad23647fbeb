#include "estimator/runtime/passes/fold_pads.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "estimator/kernels/window.h"

namespace estimator::ir {
namespace {

// The rows and columns of zeros around an image.
struct Margins {
  int64_t top = 0, bottom = 0, left = 0, right = 0;
};

bool IsOp(const Node& node, absl::string_view op) {
  return node.kind == Node::Kind::kOp && node.op == op;
}

bool IsDepthwise(const Node& node) { return node.op.rfind("DepthwiseConv2dNative", 0) == 0; }
bool IsForward(const Node& node) {
  return IsOp(node, "Conv2D") || IsOp(node, "DepthwiseConv2dNative");
}
bool IsFilterGradient(const Node& node) {
  return IsOp(node, "Conv2DBackpropFilter") || IsOp(node, "DepthwiseConv2dNativeBackpropFilter");
}
bool IsInputGradient(const Node& node) {
  return IsOp(node, "Conv2DBackpropInput") || IsOp(node, "DepthwiseConv2dNativeBackpropInput");
}

// The integers of a constant, or nullopt if it is not one.
std::optional<std::vector<int64_t>> Integers(const Module& module, Value value) {
  const Array* const array = module.constant(Root(module, value));
  if (array == nullptr || !IsInteger(array->dtype())) return std::nullopt;
  const Array wide = array->Cast(DType::kInt64);
  return std::vector<int64_t>(wide.values<int64_t>().begin(), wide.values<int64_t>().end());
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

class PadFolder {
 public:
  explicit PadFolder(Module& module) : module_(module), readers_(Readers(module)) {}

  void Run() {
    for (int n = 0; n < static_cast<int>(module_.nodes.size()); ++n) {
      const Node& node = module_.node(n);
      if (IsOp(node, "Pad") || IsOp(node, "PadV2")) VisitPad(n);
      if (IsOp(node, "Slice")) VisitSlice(n);
    }
    Compact(module_);
  }

 private:
  bool PadsWithZero(const Node& pad) const {
    if (pad.op == "Pad") return true;
    const Array* const value = module_.constant(Root(module_, pad.inputs[2]));
    return value != nullptr && value->num_elements() == 1 && value->AsDouble(0) == 0;
  }

  void VisitPad(int n) {
    const Node& pad = module_.node(n);
    const Value x = pad.inputs[0];
    const Shape &inner = module_.spec(x).shape, &padded = pad.outputs[0].shape;
    const auto paddings = Integers(module_, pad.inputs[1]);
    if (!paddings.has_value() || paddings->size() != 8 || !PadsWithZero(pad)) return;
    const auto margins =
        MarginsOf(padded, inner, {(*paddings)[0], (*paddings)[2], (*paddings)[4], (*paddings)[6]});
    if (!margins.has_value()) return;
    // If one reader needs the padded image, it is written in any case.
    std::vector<std::pair<int, Attrs>> folded;
    for (const int reader : At(readers_, n)) {
      if (reader < 0) return;
      const Node& conv = module_.node(reader);
      if (!IsForward(conv) && !IsFilterGradient(conv)) return;
      if (std::count(conv.inputs.begin(), conv.inputs.end(), Value{n, 0}) != 1 ||
          conv.inputs[0] != Value{n, 0})
        return;
      const Shape& filter =
          IsForward(conv) ? module_.spec(conv.inputs[1]).shape : conv.outputs[0].shape;
      std::optional<Attrs> attrs = Folded(conv, *margins, padded, inner, filter);
      if (!attrs.has_value()) return;
      folded.emplace_back(reader, *std::move(attrs));
    }
    for (auto& [reader, attrs] : folded) {
      module_.node(reader).attrs = std::move(attrs);
      module_.node(reader).inputs[0] = x;
    }
  }

  // Makes the slice itself the convolution: its operand `size` is the shape of the result.
  void VisitSlice(int n) {
    Node& slice = module_.node(n);
    const Value whole = slice.inputs[0];
    const Node& conv = module_.node(whole);
    if (!IsInputGradient(conv) || OnlyReader(readers_, whole.node) != n) return;
    const Shape &inner = slice.outputs[0].shape, &padded = conv.outputs[0].shape;
    const auto begin = Integers(module_, slice.inputs[1]),
               size = Integers(module_, slice.inputs[2]);
    if (!begin.has_value() || !size.has_value() || Shape(*size) != inner) return;
    const auto margins = MarginsOf(padded, inner, *begin);
    if (!margins.has_value()) return;
    std::optional<Attrs> attrs =
        Folded(conv, *margins, padded, inner, module_.spec(conv.inputs[1]).shape);
    if (!attrs.has_value()) return;
    Node folded = conv;
    folded.attrs = *std::move(attrs);
    folded.inputs[0] = slice.inputs[2];
    folded.outputs = slice.outputs;
    slice = std::move(folded);
  }

  Module& module_;
  const std::vector<std::vector<int>> readers_;
};

}  // namespace

void FoldPads(Module& module) { PadFolder(module).Run(); }

}  // namespace estimator::ir
