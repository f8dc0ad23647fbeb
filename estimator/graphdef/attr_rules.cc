#include "estimator/graphdef/attr_rules.h"

#include <map>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "glog/logging.h"

namespace estimator {
namespace {

constexpr char kCheckRange[] = "CheckRange";

using AttrRules = std::map<absl::string_view, absl::string_view>;

// The implied attributes of each op, as NAME=SOURCE separated by spaces. SOURCE:
//   iK     the dtype of input K          oK     the dtype of output K
//   last   the dtype of the last input
//   ins    the number of inputs          ins-1  the number of inputs less one
//   outs   the number of outputs
// An op that is not listed and has inputs has "T=i0".
const AttrRules& Rules() {
  static const AttrRules* const kRules = new AttrRules({
      {"AddN", "T=i0 N=ins"},
      {"All", "Tidx=i1"},
      {"Any", "Tidx=i1"},
      {"ArgMax", "T=i0 Tidx=i1 output_type=o0"},
      {"ArgMin", "T=i0 Tidx=i1 output_type=o0"},
      {"AvgPoolGrad", "T=i1"},
      {"BroadcastTo", "T=i0 Tidx=i1"},
      {"Cast", "SrcT=i0 DstT=o0"},
      {"ConcatV2", "T=i0 N=ins-1 Tidx=last"},
      {"Const", "dtype=o0"},
      {"Conv2DBackpropInput", "T=i1"},
      {"Cumsum", "T=i0 Tidx=i1"},
      {"Cumprod", "T=i0 Tidx=i1"},
      {"DepthwiseConv2dNativeBackpropInput", "T=i1"},
      {"ExpandDims", "T=i0 Tdim=i1"},
      {"Fill", "T=i1 index_type=i0"},
      {"FusedBatchNormGradV3", "T=i0 U=i3"},
      {"FusedBatchNormV3", "T=i0 U=i1"},
      {"GatherNd", "Tparams=i0 Tindices=i1"},
      {"GatherV2", "Tparams=i0 Tindices=i1 Taxis=i2"},
      {"IdentityN", ""},  // T is a list: graph_def.cc
      {"ImageSummary", "T=i1"},
      {"InTopKV2", "T=i1"},
      {"LinSpace", "T=i0 Tidx=i2"},
      {"LogicalAnd", ""},
      {"LogicalNot", ""},
      {"LogicalOr", ""},
      {"MatrixBandPart", "T=i0 Tindex=i1"},
      {"Max", "T=i0 Tidx=i1"},
      {"Mean", "T=i0 Tidx=i1"},
      {"Min", "T=i0 Tidx=i1"},
      {"MirrorPad", "T=i0 Tpaddings=i1"},
      {"MirrorPadGrad", "T=i0 Tpaddings=i1"},
      {"OneHot", "T=i2 TI=i0"},
      {"Pack", "T=i0 N=ins"},
      {"Pad", "T=i0 Tpaddings=i1"},
      {"PadV2", "T=i0 Tpaddings=i1"},
      {"Placeholder", "dtype=o0"},
      {"Prod", "T=i0 Tidx=i1"},
      {"RandomStandardNormal", "T=i0 dtype=o0"},
      {"RandomUniform", "T=i0 dtype=o0"},
      {"RandomUniformInt", "T=i0 Tout=i1"},
      {"Range", "Tidx=i0"},
      {"Reshape", "T=i0 Tshape=i1"},
      {"Restore", "dt=o0"},
      {"ReverseV2", "T=i0 Tidx=i1"},
      {"ScatterNd", "T=i1 Tindices=i0"},
      {"SelectV2", "T=i1"},
      {"Shape", "T=i0 out_type=o0"},
      {"Size", "T=i0 out_type=o0"},
      {"Slice", "T=i0 Index=i1"},
      {"SparseSoftmaxCrossEntropyWithLogits", "T=i0 Tlabels=i1"},
      {"Split", "T=i1 num_split=outs"},
      {"SplitV", "T=i0 Tlen=i1 num_split=outs"},
      {"StridedSlice", "T=i0 Index=i1"},
      {"StridedSliceGrad", "T=last Index=i0"},
      {"Sum", "T=i0 Tidx=i1"},
      {"TensorScatterAdd", "T=i0 Tindices=i1"},
      {"TensorScatterUpdate", "T=i0 Tindices=i1"},
      {"Tile", "T=i0 Tmultiples=i1"},
      {"TopKV2", "T=i0 Tk=i1 index_type=o1"},
      {"Transpose", "T=i0 Tperm=i1"},
      {"TruncatedNormal", "T=i0 dtype=o0"},
      {"Unpack", "T=i0 num=outs"},
      {"UnsortedSegmentMax", "T=i0 Tindices=i1 Tnumsegments=i2"},
      {"UnsortedSegmentMin", "T=i0 Tindices=i1 Tnumsegments=i2"},
      {"UnsortedSegmentSum", "T=i0 Tindices=i1 Tnumsegments=i2"},
      {"VariableV2", "dtype=o0"},
  });
  return *kRules;
}

AttrValue ValueOf(const Node& node, absl::string_view what) {
  if (what == "ins") return int64_t{node.num_inputs()};
  if (what == "ins-1") return int64_t{node.num_inputs() - 1};
  if (what == "outs") return int64_t{node.num_outputs()};
  if (what == "last") return node.input(node.num_inputs() - 1).dtype();
  int index = 0;
  CHECK(absl::SimpleAtoi(what.substr(1), &index)) << what;
  return what[0] == 'i' ? node.input(index).dtype()
                        : node.outputs()[static_cast<size_t>(index)].dtype;
}

}  // namespace

Attrs TensorFlowAttrs(const Node& node) {
  Attrs attrs = node.op() == kCheckRange ? Attrs() : node.attrs();  // written as an Identity
  const auto rule = Rules().find(node.op());
  const absl::string_view words = rule != Rules().end()   ? rule->second
                                  : node.num_inputs() > 0 ? "T=i0"
                                                          : "";
  for (const absl::string_view word : absl::StrSplit(words, ' ', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(word, '=');
    if (!attrs.has(parts.first)) attrs.Set(parts.first, ValueOf(node, parts.second));
  }
  return attrs;
}

std::string TensorFlowOp(absl::string_view op) {
  if (op == "ReplicaId") return "XlaReplicaId";
  return op == kCheckRange ? "Identity" : std::string(op);
}

}  // namespace estimator
