#include "estimator/graphdef/import/op_support.h"

#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "estimator/array/element_limit.h"
#include "estimator/base/status.h"
#include "estimator/graphdef/import/op_kinds.h"
#include "estimator/graphdef/import/output_numbers.h"
#include "estimator/graphdef/import/write_rules.h"
#include "estimator/graphdef/node_attr.h"
#include "estimator/graphdef/tensor_proto.h"

namespace estimator {
namespace {

constexpr int64_t kMaxOutputs = 1 << 16;  // the largest number of outputs of a node

// Ops that pass strings and resources on without reading them, or that read only the shape.
bool TakesAnyType(absl::string_view op) {
  return IsOneOf(op, {"Const", "Identity", "IdentityN", "Placeholder", "PlaceholderWithDefault",
                      "ParseExample", "ParseExampleV2", "Rank", "Shape", "ShapeN", "Size",
                      "Snapshot", "StopGradient", "VariableShape"});
}

// Ops whose kernels produce, move or compare strings. Classification heads use them for the names
// of classes.
bool TakesStrings(absl::string_view op) {
  return IsOneOf(op,
                 {"AsString", "BroadcastTo", "Concat",       "ConcatV2", "Equal",     "ExpandDims",
                  "Fill",     "Gather",      "GatherNd",     "GatherV2", "NotEqual",  "Pack",
                  "Reshape",  "ReverseV2",   "Select",       "SelectV2", "Slice",     "Split",
                  "SplitV",   "Squeeze",     "StridedSlice", "Tile",     "Transpose", "Unpack"});
}

//   op: FlatNode::op.
std::optional<std::string> TypeProblem(const proto::NodeDef& node, absl::string_view op) {
  // Sorted by name, so that the same graph gives the same message.
  std::map<std::string, proto::DataType> types;
  for (const auto& [name, value] : node.attr()) {
    if (value.value_case() == proto::AttrValue::kType) types.emplace(name, value.type());
    if (value.value_case() == proto::AttrValue::kPlaceholder)
      return absl::StrCat("attribute ", name, " of a polymorphic function");
  }
  for (const auto& [name, type] : types) {
    const DType dtype = ReadDType(type);
    const bool known = dtype != DType::kInvalid && dtype != DType::kString;
    const bool handed_on = (dtype == DType::kString && (TakesAnyType(op) || TakesStrings(op))) ||
                           (type == proto::DT_RESOURCE && TakesAnyType(op)) ||
                           // A TensorList.
                           (type == proto::DT_VARIANT &&
                            IsOneOf(op, {"AddN", "Identity", "StopGradient", "ZerosLike"}));
    if (known || handed_on) continue;
    const std::string text = proto::DataType_Name(type);
    return absl::StrCat("dtype ", text.empty() ? absl::StrCat(static_cast<int>(type)) : text);
  }
  return std::nullopt;
}

std::optional<std::string> VariableProblem(const proto::NodeDef& node) {
  const proto::AttrValue* const shape = FindAttr(node, "shape");
  if (FindAttr(node, "dtype") == nullptr) return "without dtype";
  if (shape == nullptr || shape->shape().unknown_rank()) return "unknown shape";
  const absl::StatusOr<Shape> known = ReadShapeProto(shape->shape());
  if (known.ok() && known->fully_known()) return std::nullopt;
  return "unknown shape";
}

constexpr char kNotSupported[] = "not supported";

// Why an op that no rule knows cannot be imported.
std::string Unsupported(absl::string_view op) {
  if (absl::StartsWith(op, "TPU") || absl::StartsWith(op, "Infeed") ||
      absl::StartsWith(op, "Outfeed") || absl::StrContains(op, "TPUEmbedding") ||
      IsOneOf(op, {"ConfigureDistributedTPU", "ShutdownDistributedTPU", "CrossReplicaSum",
                   "CollectivePermute", "AllToAll"})) {
    return "the graph was built for real TPUs; save it with use_tpu=False";
  }
  if (IsOneOf(op, {"Enter", "Exit", "NextIteration", "LoopCond", "RefEnter", "RefExit",
                   "RefNextIteration"})) {
    return "a loop (tf.while_loop) in TensorFlow 1's form";
  }
  if (IsOneOf(op, {"PyFunc", "PyFuncStateless", "EagerPyFunc"})) return "calls Python";
  if (IsBranchOp(op) || IsLoopOp(op)) return "without its functions";
  return kNotSupported;
}

}  // namespace

std::optional<std::string> NodeProblem(const FlatNode& node) {
  const absl::string_view op = node.op;
  if (!node.problem.empty()) return node.problem;
  // The import reads the operands of these itself.
  if (IsSwitchOp(op) && node.inputs.size() != 2) return "takes 2 inputs";
  if (IsOneOf(op, {"Unique", "Where"}) && node.inputs.size() != 1) return "takes one tensor";
  // These the import builds itself, with any attributes.
  if (IsSwitchOp(op) || IsMergeOp(op) || IsInputOp(op) || IsListOp(op) ||
      IsOneOf(op, {"IsVariableInitialized", "OptionalFromValue", "OptionalGetValue", "OptionalNone",
                   "RefIdentity", "Unique", "VarIsInitializedOp", "Where", kCallOp, kSelectBranchOp,
                   kLoopOp, kLoopArgOp}))
    return std::nullopt;
  const proto::NodeDef& def = *node.def;
  std::optional<std::string> problem;
  // The dtype of a write is that of its variable, which is checked by itself.
  if (const WriteRule* const write = FindWriteRule(op)) {
    ReadAttrs({.op = write->op, .attrs = write->attrs}, def, problem);
    return problem;
  }
  const ImportRule* const rule = FindImportRule(op);
  if (rule == nullptr && op != "Const" && !IsVariableOp(op) && !IsParseExampleOp(op))
    return Unsupported(op);
  if ((problem = TypeProblem(def, op))) return problem;
  if (IsVariableOp(op)) return VariableProblem(def);
  if (rule != nullptr) ReadAttrs(*rule, def, problem);
  // A number from a malformed file becomes the number of outputs that are allocated.
  for (const char* name : {"num", "num_split"}) {
    const proto::AttrValue* const count = FindAttr(def, name);
    if (count != nullptr && count->i() > kMaxOutputs)
      problem = absl::StrCat(name, " = ", count->i());
  }
  return problem;
}

bool MayHaveEffects(absl::string_view op) {
  return FindWriteRule(op) != nullptr ||
         (FindImportRule(op) == nullptr && Unsupported(op) != kNotSupported);
}

std::optional<std::string> ParsedOutputProblem(const proto::NodeDef& node, int output) {
  const ParseExampleOutputs outputs = ParseExampleOutputsOf(node);
  const int dense = output - outputs.first_dense();
  if (dense < 0 || dense >= outputs.num_dense) return "a sparse or ragged feature";
  const proto::AttrValue* const shapes = FindAttr(node, "dense_shapes");
  if (shapes == nullptr || dense >= shapes->list().shape_size()) return std::nullopt;
  const auto& shape = shapes->list().shape(dense);
  for (const auto& dim : shape.dim())
    if (dim.size() < 0 || shape.unknown_rank()) return "a dense feature of variable length";
  return std::nullopt;
}

absl::StatusOr<TensorSpec> VariableSpec(const FlatNode& node) {
  if (const std::optional<std::string> problem = NodeProblem(node)) return Unimplemented(*problem);
  const auto& attrs = node.def->attr();
  EST_ASSIGN_OR_RETURN(const Shape shape, ReadShapeProto(attrs.at("shape").shape()));
  if (!HasElementsAtMost(shape, kMaxImportedElements)) {
    return InvalidArgument("a variable of shape ", shape.ToString(), " is too large");
  }
  return TensorSpec{ReadDType(attrs.at("dtype").type()), shape};
}

bool FitsShape(const Shape& actual, const Shape& wanted) {
  bool fits = wanted.rank() == actual.rank();
  for (int i = 0; fits && i < wanted.rank(); ++i)
    fits = wanted.dim(i) == Shape::kUnknownDim || wanted.dim(i) == actual.dim(i);
  return fits;
}

}  // namespace estimator
