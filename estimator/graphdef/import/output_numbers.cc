#include "estimator/graphdef/import/output_numbers.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "estimator/base/status.h"
#include "estimator/graphdef/node_attr.h"

namespace estimator {
namespace {

constexpr int kMaxOutputIndex = 1 << 20;

// The ops with several named outputs. Every other op has one output, or one list of outputs, so the
// name does not matter.
const std::vector<absl::string_view>* NamesOf(absl::string_view op) {
  using Names = std::vector<absl::string_view>;
  static const auto* const kNames = new std::map<absl::string_view, Names>({
      {"BatchNormWithGlobalNormalizationGrad", {"dx", "dm", "dv", "db", "dg"}},
      {"CTCLoss", {"loss", "gradient"}},
      {"CombinedNonMaxSuppression",
       {"nmsed_boxes", "nmsed_scores", "nmsed_classes", "valid_detections"}},
      {"ComputeAccidentalHits", {"indices", "ids", "weights"}},
      {"DenseToDenseSetOperation", {"result_indices", "result_values", "result_shape"}},
      {"FusedBatchNorm",
       {"y", "batch_mean", "batch_variance", "reserve_space_1", "reserve_space_2"}},
      {"FusedBatchNormV2",
       {"y", "batch_mean", "batch_variance", "reserve_space_1", "reserve_space_2"}},
      {"FusedBatchNormV3",
       {"y", "batch_mean", "batch_variance", "reserve_space_1", "reserve_space_2",
        "reserve_space_3"}},
      {"FusedBatchNormGradV3",
       {"x_backprop", "scale_backprop", "offset_backprop", "reserve_space_4", "reserve_space_5"}},
      {"LogMatrixDeterminant", {"sign", "log_abs_determinant"}},
      {"LogUniformCandidateSampler",
       {"sampled_candidates", "true_expected_count", "sampled_expected_count"}},
      {"MaxPoolWithArgmax", {"output", "argmax"}},
      {"Merge", {"output", "value_index"}},
      {"NonMaxSuppressionV4", {"selected_indices", "valid_outputs"}},
      {"NonMaxSuppressionV5", {"selected_indices", "selected_scores", "valid_outputs"}},
      {"Qr", {"q", "r"}},
      {"SelfAdjointEigV2", {"e", "v"}},
      {"SoftmaxCrossEntropyWithLogits", {"loss", "backprop"}},
      {"SparseSoftmaxCrossEntropyWithLogits", {"loss", "backprop"}},
      {"Svd", {"s", "u", "v"}},
      {"Switch", {"output_false", "output_true"}},
      {"TensorListPopBack", {"output_handle", "tensor"}},
      {"TopK", {"values", "indices"}},
      {"TopKV2", {"values", "indices"}},
      {"UniformCandidateSampler",
       {"sampled_candidates", "true_expected_count", "sampled_expected_count"}},
      {"Unique", {"y", "idx"}},
  });
  const auto found = kNames->find(op);
  return found == kNames->end() ? nullptr : &found->second;
}

// Ops with one output whose name is not "output", by that name.
absl::string_view NameOf(absl::string_view op) {
  static const auto* const kNames = new std::map<absl::string_view, absl::string_view>([] {
    const std::pair<absl::string_view, absl::string_view> rows[] = {
        {"y",
         "Abs Acos Acosh Asin Asinh Atan Atanh Cast Ceil Cos Cosh Erf Erfc Exp Expm1 Floor Invert "
         "InvertPermutation IsFinite IsInf IsNan Log Log1p LogicalNot Neg OnesLike Reciprocal Rint "
         "Round Rsqrt Sigmoid Sign Sin Sinh Sqrt Square Tan Tanh Transpose ZerosLike"},
        {"z",
         "AddV2 Atan2 BitwiseAnd BitwiseOr BitwiseXor Div DivNoNan Equal FloorDiv FloorMod Greater "
         "GreaterEqual LeftShift Less LessEqual LogicalAnd LogicalOr Maximum Minimum Mul NotEqual "
         "Pow RealDiv RightShift SigmoidGrad SquaredDifference Sub TanhGrad TruncateDiv "
         "TruncateMod Xdivy Xlogy"},
        {"activations", "Elu LeakyRelu Relu Relu6 Selu Softplus Softsign"},
        {"backprops",
         "EluGrad LeakyReluGrad Relu6Grad ReluGrad SeluGrad SoftplusGrad SoftsignGrad"},
        {"band", "MatrixBandPart"},
        {"diagonal", "MatrixDiagPart"},
        {"handle", "EmptyTensorList TensorListReserve"},
        {"id", "XlaReplicaId"},
        {"item", "TensorListGetItem"},
        {"logsoftmax", "LogSoftmax"},
        {"out", "Cumprod Cumsum"},
        {"output_handle", "TensorListPushBack TensorListSetItem"},
        {"precision", "InTopKV2"},
        {"product", "MatMul"},
        {"resized_images", "ResizeBilinear ResizeNearestNeighbor"},
        {"softmax", "Softmax"},
        {"sum", "AddN"},
        {"tensor", "TensorListStack"}};
    std::map<absl::string_view, absl::string_view> names;
    for (const auto& [name, ops] : rows)
      for (const absl::string_view op : absl::StrSplit(ops, ' ')) names.emplace(op, name);
    return names;
  }());
  const auto found = kNames->find(op);
  return found == kNames->end() ? "output" : found->second;
}

int IntAttr(const proto::NodeDef& node, const char* name) {
  const proto::AttrValue* const attr = FindAttr(node, name);
  const int64_t value = attr == nullptr ? 0 : attr->i();
  // Sums of these numbers are output numbers; those of a malformed file must not overflow.
  return static_cast<int>(std::clamp<int64_t>(value, 0, kMaxOutputIndex));
}

// The number of an output of an op whose outputs are several lists.
absl::StatusOr<int> OutputOfLists(const proto::NodeDef& node, absl::string_view arg, int index) {
  const ParseExampleOutputs outputs = ParseExampleOutputsOf(node);
  const int paths = IntAttr(node, "top_paths");  // of CTCBeamSearchDecoder
  const std::pair<absl::string_view, int> groups[] = {{"sparse_indices", outputs.num_sparse},
                                                      {"sparse_values", outputs.num_sparse},
                                                      {"sparse_shapes", outputs.num_sparse},
                                                      {"dense_values", outputs.num_dense},
                                                      {"decoded_indices", paths},
                                                      {"decoded_values", paths},
                                                      {"decoded_shape", paths},
                                                      {"log_probability", 1}};
  int first = 0;
  for (const auto& [name, size] : groups) {
    if (arg == name && index < size) return first + index;
    first += size;
  }
  return InvalidArgument("'", node.name(), "' (", node.op(), ") has no output ", arg, ":", index);
}

}  // namespace

ParseExampleOutputs ParseExampleOutputsOf(const proto::NodeDef& node) {
  ParseExampleOutputs outputs;
  if (node.op() == "ParseExample") {
    outputs.num_sparse = IntAttr(node, "Nsparse");
    outputs.num_dense = IntAttr(node, "Ndense");
    return outputs;
  }
  outputs.num_sparse = IntAttr(node, "num_sparse");
  const proto::AttrValue* const types = FindAttr(node, "Tdense");
  if (types != nullptr) outputs.num_dense = types->list().type_size();
  return outputs;
}

absl::StatusOr<int> OutputNumber(const proto::NodeDef& node, absl::string_view output) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(output, absl::MaxSplits(':', 1));
  int index = 0;
  const bool bare = parts.second.empty() && absl::SimpleAtoi(parts.first, &index);
  if (!bare && !parts.second.empty() && !absl::SimpleAtoi(parts.second, &index)) index = -1;
  if (index < 0 || index >= kMaxOutputIndex) {
    return InvalidArgument("'", node.name(), ":", output, "' does not name an output");
  }
  if (bare) return index;
  // Its outputs are lists, so a name alone does not give a number.
  if (node.op() == "ParseExample" || node.op() == "ParseExampleV2" ||
      node.op() == "CTCBeamSearchDecoder")
    return OutputOfLists(node, parts.first, index);
  const std::vector<absl::string_view>* const names = NamesOf(node.op());
  // The op has one output or one list of outputs, so the index is the number.
  if (names == nullptr) return index;
  const auto found = std::find(names->begin(), names->end(), parts.first);
  if (found == names->end() || index != 0) {
    return InvalidArgument("'", node.name(), "' (", node.op(), ") has no output ", parts.first, ":",
                           index);
  }
  return static_cast<int>(found - names->begin());
}

std::string OutputName(absl::string_view op, int number) {
  const std::vector<absl::string_view>* const names = NamesOf(op);
  if (names != nullptr) return absl::StrCat((*names)[static_cast<size_t>(number)], ":0");
  return absl::StrCat(NameOf(op), ":", number);
}

}  // namespace estimator
