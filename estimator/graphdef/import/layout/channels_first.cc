#include "estimator/graphdef/import/layout/channels_first.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/graphdef/import/op_conversions.h"
#include "estimator/op_def/op_def.h"
#include "estimator/ops/manipulation.h"

namespace estimator {
namespace {

constexpr absl::string_view kDataFormat = "data_format";

// The operands and results that are images. Rules without an op of their own are told apart here.
OpTraits ImagesOf(absl::string_view op, const ImportRule& rule) {
  if (absl::StartsWith(op, "FusedBatchNormGrad")) return TraitsOf("FusedBatchNormGradV3");
  if (!rule.op.empty()) return TraitsOf(rule.op);
  return {.image_inputs = {0}, .image_outputs = {0}};  // DepthToSpace, SpaceToDepth
}

// The list of each axis in the order N, H, W, C. `count` numbers belong to one axis.
std::vector<int64_t> ChannelsLast(std::vector<int64_t> values, int count) {
  if (values.size() == static_cast<size_t>(4 * count))
    std::rotate(values.begin() + count, values.begin() + 2 * count, values.end());
  return values;
}

// BiasAdd has images of any rank.
Tensor Transposed(const Tensor& x, bool to_last) {
  if (!x.valid() || x.rank() < 3) return x;
  std::vector<int64_t> perm;
  for (int64_t axis = 0; axis < x.rank(); ++axis) perm.push_back(axis);
  if (to_last) {
    std::rotate(perm.begin() + 1, perm.begin() + 2, perm.end());
  } else {
    std::rotate(perm.begin() + 1, perm.end() - 1, perm.end());
  }
  return Transpose(x, perm, absl::StrCat(x.node()->name(), to_last ? "/NHWC" : "/NCHW"));
}

}  // namespace

bool IsChannelsFirst(const AttrValue& data_format) {
  const auto* const text = std::get_if<std::string>(&data_format);
  return text != nullptr && *text == "NCHW";
}

absl::StatusOr<std::vector<int>> ToChannelsLast(absl::string_view op, const ImportRule& rule,
                                                ImportNode& node) {
  Attrs& attrs = node.attrs;
  if (!attrs.has(kDataFormat) || attrs.s(kDataFormat) != "NCHW") return std::vector<int>();
  attrs.Set(kDataFormat, std::string("NHWC"));
  for (const char* name : {"strides", "ksize", "dilations", "explicit_paddings"}) {
    if (attrs.has(name)) attrs.Set(name, ChannelsLast(attrs.ints(name), name[0] == 'e' ? 2 : 1));
  }
  const OpTraits images = ImagesOf(op, rule);
  for (const int i : images.image_inputs) {
    if (static_cast<size_t>(i) >= node.inputs.size())
      return InvalidArgument("has ", node.inputs.size(), " inputs");
    Tensor& input = node.inputs[static_cast<size_t>(i)];
    input = Transposed(input, true);
  }
  // Input 0 of some gradients has the sizes of the images that are the result.
  if (!images.image_outputs.empty() && !absl::c_linear_search(images.image_inputs, 0)) {
    EST_ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, ConstantIntsOf(node.inputs[0]));
    const std::vector<int64_t> last = ChannelsLast(sizes, 1);
    node.inputs[0] =
        node.graph.AddConst(Array::FromSpan<int64_t>({static_cast<int64_t>(last.size())}, last)
                                .Cast(node.inputs[0].dtype()),
                            absl::StrCat(node.name, "/sizes"));
  }
  return images.image_outputs;
}

void ToChannelsFirst(const std::vector<int>& images, std::vector<Tensor>& outputs) {
  for (const int i : images) {
    if (static_cast<size_t>(i) >= outputs.size()) continue;  // the graph has an error
    Tensor& output = outputs[static_cast<size_t>(i)];
    output = Transposed(output, false);
  }
}

}  // namespace estimator
