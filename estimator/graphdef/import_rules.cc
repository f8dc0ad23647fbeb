#include "estimator/graphdef/import_rules.h"

#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "estimator/graphdef/import_conversions.h"
#include "estimator/graphdef/tensor_proto.h"
#include "estimator/proto/graph.pb.h"

namespace estimator {
namespace {

using RuleMap = std::map<absl::string_view, ImportRule>;

// Ops that have no attributes of their own and the same name as ours.
constexpr absl::string_view kPlainOps =
    "Abs Acos Acosh AddN AddV2 Asin Asinh Atan Atan2 Atanh BitwiseAnd BitwiseOr BitwiseXor "
    "BroadcastTo Ceil Cholesky ConcatV2 Cos Cosh Div DivNoNan Elu EluGrad Equal Erf Erfc Exp "
    "ExpandDims Expm1 Fill Floor FloorDiv FloorMod GatherNd Greater GreaterEqual InTopKV2 "
    "Invert InvertPermutation IsFinite IsInf IsNan L2Loss LeftShift Less LessEqual LinSpace "
    "Log Log1p LogMatrixDeterminant LogSoftmax LogicalAnd LogicalNot LogicalOr "
    "MatrixBandPart MatrixDeterminant MatrixDiag MatrixDiagPart Maximum Minimum Mul Neg NotEqual "
    "OnesLike Pad PadV2 Pow Range Rank "
    "RealDiv Reciprocal Relu Relu6 Relu6Grad ReluGrad Reshape ReverseV2 RightShift Rint "
    "Round Rsqrt ScatterNd SelectV2 Selu SeluGrad Sigmoid SigmoidGrad Sign Sin Sinh Slice "
    "Softmax SoftmaxCrossEntropyWithLogits Softplus SoftplusGrad Softsign SoftsignGrad "
    "SparseSoftmaxCrossEntropyWithLogits Sqrt Square SquaredDifference Sub Tan Tanh TanhGrad "
    "TensorScatterAdd TensorScatterUpdate Tile Transpose TruncateDiv TruncateMod "
    "UnsortedSegmentMax UnsortedSegmentMin UnsortedSegmentSum Xdivy Xlogy ZerosLike";

constexpr absl::string_view kConv =
    "strides:l padding:s explicit_paddings:l= data_format:s=NHWC! dilations:l=1,1,1,1";
constexpr absl::string_view kPool =
    "ksize:l strides:l padding:s explicit_paddings:l= data_format:s=NHWC!";
constexpr absl::string_view kBatchNorm =
    "epsilon:f=0.0001 is_training:b=true exponential_avg_factor:f=1 data_format:s=NHWC!";
constexpr absl::string_view kMasks =
    "begin_mask:i=0 end_mask:i=0 ellipsis_mask:i=0 new_axis_mask:i=0 shrink_axis_mask:i=0";
constexpr absl::string_view kRandom = "seed:i=0 seed2:i=0 dtype:t";

RuleMap MakeRules() {
  RuleMap rules;
  for (const absl::string_view op : absl::StrSplit(kPlainOps, ' ')) rules[op] = {op, ""};
  const auto add = [&rules](absl::string_view op, absl::string_view attrs) {
    rules[op] = {op, attrs};
  };
  add("ArgMax", "output_type:t=int64");
  add("ArgMin", "output_type:t=int64");
  add("AsString", "precision:i=-1 scientific:b=false shortest:b=false width:i=-1 fill:s=");
  add("AvgPool", kPool);
  add("AvgPoolGrad", kPool);
  add("BatchMatMulV2", "adj_x:b=false adj_y:b=false");
  add("BiasAdd", "data_format:s=NHWC!");
  add("BiasAddGrad", "data_format:s=NHWC!");
  add("Cast", "SrcT:t DstT:t Truncate:b=false!");
  add("CheckNumerics", "message:s");
  add("Conv2D", kConv);
  add("Conv2DBackpropFilter", kConv);
  add("Conv2DBackpropInput", kConv);
  add("Cumprod", "exclusive:b=false reverse:b=false");
  add("Cumsum", "exclusive:b=false reverse:b=false");
  add("DepthwiseConv2dNative", kConv);
  add("DepthwiseConv2dNativeBackpropFilter", kConv);
  add("DepthwiseConv2dNativeBackpropInput", kConv);
  add("FusedBatchNormGradV3", "epsilon:f=0.0001 is_training:b=true data_format:s=NHWC!");
  add("FusedBatchNormV3", kBatchNorm);
  add("GatherV2", "batch_dims:i=0");
  add("LeakyRelu", "alpha:f=0.2");
  add("LeakyReluGrad", "alpha:f=0.2");
  add("MatMul", "transpose_a:b=false transpose_b:b=false");
  add("MatrixInverse", "adjoint:b=false");
  add("MatrixSolve", "adjoint:b=false");
  add("MatrixSolveLs", "fast:b=true");
  add("MatrixTriangularSolve", "lower:b=true adjoint:b=false");
  add("MaxPool", kPool);
  add("MaxPoolGrad", kPool);
  add("MirrorPad", "mode:s");
  add("MirrorPadGrad", "mode:s");
  add("Multinomial", "seed:i=0 seed2:i=0 output_dtype:t=int64");
  add("OneHot", "axis:i=-1");
  add("Pack", "axis:i=0");
  add("Qr", "full_matrices:b=false");
  add("RandomStandardNormal", kRandom);
  add("RandomShuffle", "seed:i=0 seed2:i=0");
  add("RandomUniform", kRandom);
  add("RandomUniformInt", "seed:i=0 seed2:i=0");
  add("SelfAdjointEigV2", "compute_v:b=true");
  add("Shape", "out_type:t=int32");
  add("Size", "out_type:t=int32");
  add("Split", "num_split:i");
  add("SplitV", "num_split:i");
  add("Squeeze", "squeeze_dims:l=");
  add("StridedSlice", kMasks);
  add("StridedSliceGrad", kMasks);
  add("Svd", "compute_uv:b=true full_matrices:b=false");
  add("TopKV2", "sorted:b=true index_type:t=int32!");
  add("TruncatedNormal", kRandom);
  add("Unpack", "num:i axis:i=0");
  for (const char* op : {"All", "Any", "Max", "Mean", "Min", "Prod", "Sum"})
    add(op, "keep_dims:b=false");

  // Ops that have another name than ours.
  rules["Add"] = {"AddV2", ""};
  rules["BatchMatMul"] = {"BatchMatMulV2", "adj_x:b=false adj_y:b=false"};
  rules["BatchMatMulV3"] = rules["BatchMatMul"];
  rules["BiasAddV1"] = {"BiasAdd", "data_format:s=NHWC!"};
  rules["FusedBatchNorm"] = {"FusedBatchNormV3", kBatchNorm};
  rules["FusedBatchNormV2"] = {"FusedBatchNormV3", kBatchNorm};
  rules["Inv"] = {"Reciprocal", ""};
  rules["VariableShape"] = {"Shape", "out_type:t=int32"};
  rules["ResourceGatherNd"] = {"GatherNd", ""};

  // Ops that become several of our ops, or none.
  for (const char* op : {"DebugGradientIdentity", "Identity", "PreventGradient", "ReadVariableOp",
                         "Snapshot", "StopGradient"})
    rules[op] = {"", "", PassThrough, 1};
  rules["IdentityN"] = {"", "", PassThrough, -1};
  rules["PlaceholderWithDefault"] = {"", "", PassThrough, 1};
  rules["ClipByValue"] = {"", "", ConvertClipByValue, 3};
  rules["Concat"] = {"", "", ConvertConcat, -1};
  rules["Einsum"] = {"", "equation:s", ConvertEinsum, -1};
  rules["EnsureShape"] = {"", "shape:p", ConvertEnsureShape, 1};
  rules["Gather"] = {"", "", ConvertGather, 2};
  rules["InTopK"] = {"", "k:i", ConvertInTopK, 2};
  for (const char* op : {"MatrixDiagV2", "MatrixDiagV3"})
    rules[op] = {"", "", ConvertMatrixDiag, 5};
  for (const char* op : {"MatrixDiagPartV2", "MatrixDiagPartV3"})
    rules[op] = {"", "", ConvertMatrixDiagPart, 3};
  rules["ResourceGather"] = {"", "batch_dims:i=0!", ConvertGather, 2};
  rules["Select"] = {"", "", ConvertSelect, 3};
  rules["ShapeN"] = {"", "out_type:t=int32", ConvertShapeN, -1};
  rules["TopK"] = {"", "k:i sorted:b=true", ConvertTopK, 1};
  return rules;
}

// One attribute of ImportRule::attrs, parsed.
struct AttrRule {
  absl::string_view name = "";
  char kind = ' ';
  std::optional<absl::string_view> default_value = std::nullopt;
  bool only = false;
};

AttrRule ParseRule(absl::string_view word) {
  AttrRule rule;
  rule.only = absl::ConsumeSuffix(&word, "!");
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(word, absl::MaxSplits('=', 1));
  if (absl::StrContains(word, '=')) rule.default_value = parts.second;
  rule.kind = parts.first.back();
  rule.name = parts.first.substr(0, parts.first.size() - 2);
  return rule;
}

AttrValue FromText(char kind, absl::string_view text) {
  switch (kind) {
    case 'b':
      return text == "true";
    case 'i': {
      int64_t value = 0;
      (void)absl::SimpleAtoi(text, &value);
      return value;
    }
    case 'f': {
      float value = 0;
      (void)absl::SimpleAtof(text, &value);
      return value;
    }
    case 't':
      return DTypeFromName(text).value_or(DType::kInvalid);
    case 'l': {
      std::vector<int64_t> values;
      for (const absl::string_view item : absl::StrSplit(text, ',', absl::SkipEmpty()))
        values.push_back(std::get<int64_t>(FromText('i', item)));
      return values;
    }
    default:
      return std::string(text);
  }
}

// The attribute as a value of the rule's kind; nullopt if it is of another kind.
std::optional<AttrValue> FromProto(char kind, const proto::AttrValue& value) {
  using proto::AttrValue;
  const auto is = [&value](AttrValue::ValueCase c) { return value.value_case() == c; };
  if (kind == 'b' && is(AttrValue::kB)) return value.b();
  if (kind == 'i' && is(AttrValue::kI)) return value.i();
  if (kind == 'f' && is(AttrValue::kF)) return value.f();
  if (kind == 's' && is(AttrValue::kS)) return value.s();
  if (kind == 't' && is(AttrValue::kType)) return ReadDType(value.type());
  if (kind == 'l' && is(AttrValue::kList))
    return std::vector<int64_t>(value.list().i().begin(), value.list().i().end());
  if (kind == 'p' && is(AttrValue::kShape)) {
    const absl::StatusOr<Shape> shape = ReadShapeProto(value.shape());
    if (shape.ok()) return *shape;
  }
  return std::nullopt;
}

}  // namespace

const ImportRule* FindImportRule(absl::string_view op) {
  static const RuleMap* const kRules = new RuleMap(MakeRules());
  const auto found = kRules->find(op);
  return found == kRules->end() ? nullptr : &found->second;
}

Attrs ReadAttrs(const ImportRule& rule, const proto::NodeDef& node,
                std::optional<std::string>& problem) {
  Attrs attrs;
  for (const absl::string_view word : absl::StrSplit(rule.attrs, ' ', absl::SkipEmpty())) {
    const AttrRule wanted = ParseRule(word);
    const auto found = node.attr().find(std::string(wanted.name));
    std::optional<AttrValue> value;
    if (found != node.attr().end()) {
      value = FromProto(wanted.kind, found->second);
      if (!value.has_value()) problem = absl::StrCat(wanted.name, " of an unknown kind");
    } else if (wanted.default_value.has_value()) {
      value = FromText(wanted.kind, *wanted.default_value);
    } else {
      problem = absl::StrCat("without ", wanted.name);
    }
    if (!value.has_value()) continue;
    if (wanted.only &&
        AttrToString(*value) != AttrToString(FromText(wanted.kind, *wanted.default_value))) {
      problem = absl::StrCat(wanted.name, " = ", AttrToString(*value).substr(0, 40));
    }
    attrs.Set(wanted.name, *std::move(value));
  }
  return attrs;
}

}  // namespace estimator
