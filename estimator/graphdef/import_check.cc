#include "estimator/graphdef/import_check.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "estimator/array/element_limit.h"
#include "estimator/base/status.h"
#include "estimator/base/strings.h"
#include "estimator/graphdef/import_rules.h"
#include "estimator/graphdef/tensor_proto.h"
#include "estimator/proto/graph.pb.h"

namespace estimator {
namespace {

constexpr int64_t kMaxOutputs = 1 << 16;  // the largest number of outputs of a node

// Ops that pass strings and resources on without reading them, or that read only the shape.
bool TakesAnyType(absl::string_view op) {
  for (const char* other :
       {"Const", "Identity", "IdentityN", "Placeholder", "PlaceholderWithDefault", "ParseExample",
        "ParseExampleV2", "Rank", "Shape", "ShapeN", "Size", "Snapshot", "StopGradient",
        "VariableShape"}) {
    if (op == other) return true;
  }
  return false;
}

// Ops whose kernels produce, move or compare strings. Classification heads use them for the names
// of classes.
bool TakesStrings(absl::string_view op) {
  for (const char* other :
       {"AsString", "BroadcastTo", "Concat",       "ConcatV2", "Equal",     "ExpandDims",
        "Fill",     "Gather",      "GatherNd",     "GatherV2", "NotEqual",  "Pack",
        "Reshape",  "ReverseV2",   "Select",       "SelectV2", "Slice",     "Split",
        "SplitV",   "Squeeze",     "StridedSlice", "Tile",     "Transpose", "Unpack"}) {
    if (op == other) return true;
  }
  return false;
}

std::optional<std::string> TypeProblem(const proto::NodeDef& node) {
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
    const bool handed_on =
        (dtype == DType::kString && (TakesAnyType(node.op()) || TakesStrings(node.op()))) ||
        (type == proto::DT_RESOURCE && TakesAnyType(node.op()));
    if (known || handed_on) continue;
    const std::string text = proto::DataType_Name(type);
    return absl::StrCat("dtype ", text.empty() ? absl::StrCat(static_cast<int>(type)) : text);
  }
  return std::nullopt;
}

std::optional<std::string> VariableProblem(const proto::NodeDef& node) {
  const auto shape = node.attr().find("shape");
  if (node.attr().count("dtype") == 0) return "without dtype";
  if (shape == node.attr().end() || shape->second.shape().unknown_rank()) return "unknown shape";
  const absl::StatusOr<Shape> known = ReadShapeProto(shape->second.shape());
  if (known.ok() && known->fully_known()) return std::nullopt;
  return "unknown shape";
}

}  // namespace

absl::Status CheckFeed(absl::string_view name, const TensorSpec& spec, const proto::NodeDef& def,
                       int64_t max_elements) {
  const auto wrong = [&](absl::string_view what) {
    return absl::InvalidArgumentError(
        absl::StrCat("feed '", name, "' is ", spec.ToString(), ", but ", what));
  };
  if (spec.dtype == DType::kInvalid) return wrong("a feed needs a dtype");
  if (!spec.shape.fully_known()) return wrong("shapes are static: give the batch size");
  if (!HasElementsAtMost(spec.shape, max_elements)) return wrong("that is too large");
  if (def.op() != "Placeholder" && def.op() != "PlaceholderWithDefault") return absl::OkStatus();
  const auto dtype = def.attr().find("dtype");
  if (dtype != def.attr().end() && ReadDType(dtype->second.type()) != spec.dtype)
    return wrong(absl::StrCat("the graph takes ", proto::DataType_Name(dtype->second.type())));
  const auto shape = def.attr().find("shape");
  if (shape == def.attr().end() || shape->second.shape().unknown_rank()) return absl::OkStatus();
  EST_ASSIGN_OR_RETURN(const Shape wanted, ReadShapeProto(shape->second.shape()));
  // TensorFlow before 0.11 wrote an unknown shape as a scalar's.
  if (wanted.rank() == 0) return absl::OkStatus();
  bool fits = wanted.rank() == spec.shape.rank();
  for (int i = 0; fits && i < wanted.rank(); ++i)
    fits = wanted.dim(i) == Shape::kUnknownDim || wanted.dim(i) == spec.shape.dim(i);
  return fits ? absl::OkStatus() : wrong(absl::StrCat("the graph takes ", wanted.ToString()));
}

bool IsVariableOp(absl::string_view op) {
  return op == "VariableV2" || op == "Variable" || op == "VarHandleOp";
}

bool IsParseExampleOp(absl::string_view op) {
  return op == "ParseExample" || op == "ParseExampleV2";
}

std::optional<std::string> ImportProblem(const proto::NodeDef& node) {
  const std::string& op = node.op();
  if (op == "Placeholder") return "not fed";
  const bool own = op == "Const" || IsVariableOp(op) || IsParseExampleOp(op);
  const ImportRule* const rule = FindImportRule(op);
  if (rule == nullptr && !own) return "not supported";
  if (std::optional<std::string> problem = TypeProblem(node)) return problem;
  if (IsVariableOp(op)) return VariableProblem(node);
  std::optional<std::string> problem;
  if (rule != nullptr) ReadAttrs(*rule, node, problem);
  for (const char* name : {"num", "num_split"}) {
    const auto count = node.attr().find(name);
    if (count != node.attr().end() && count->second.i() > kMaxOutputs)
      problem = absl::StrCat(name, " = ", count->second.i());
  }
  return problem;
}

void ImportProblems::Add(absl::string_view op, std::string reason, absl::string_view node) {
  Entry& entry = entries_[{std::string(op), std::move(reason)}];
  if (entry.count++ == 0) entry.first = std::string(node);
}

absl::Status ImportProblems::status() const {
  if (entries_.empty()) return absl::OkStatus();
  std::vector<std::vector<std::string>> rows = {{"op", "reason", "nodes", "first node"}};
  int count = 0;
  for (const auto& [key, entry] : entries_) {
    rows.push_back({key.first, key.second, absl::StrCat(entry.count), entry.first});
    count += entry.count;
  }
  return absl::UnimplementedError(absl::StrCat(
      "the fetches need ", count, " ", count == 1 ? "node" : "nodes",
      " that cannot be imported; fetch fewer tensors, or feed the outputs of these nodes:\n",
      FormatTable(rows)));
}

}  // namespace estimator
