#include "estimator/graphdef/import/node_builder.h"

#include <optional>

#include "estimator/array/element_limit.h"
#include "estimator/base/status.h"
#include "estimator/graph/constant_value.h"
#include "estimator/graph/op_registry.h"
#include "estimator/graphdef/import/layout/channels_first.h"
#include "estimator/graphdef/import/op_conversions.h"
#include "estimator/graphdef/import/op_kinds.h"
#include "estimator/graphdef/import/op_support.h"
#include "estimator/graphdef/node_attr.h"
#include "estimator/graphdef/tensor_proto.h"
#include "estimator/ops/gather.h"

namespace estimator {
namespace {

// Results up to this size become constants, so that values computed from shapes are constants too.
constexpr int64_t kMaxFoldedElements = 4096;

bool IsConst(const Tensor& tensor) { return tensor.node()->op() == "Const"; }

// Whether the op returns its first input unchanged: a Sum along no axis, a Reshape to the same
// shape. Gradients of a broadcast have both, where nothing was broadcast.
bool ChangesNothing(absl::string_view op, const std::vector<Tensor>& inputs) {
  if (inputs.size() != 2 || !IsConst(inputs[1])) return false;
  if (op == "Sum" || op == "Mean") return inputs[1].shape().num_elements() == 0;
  if (op != "Reshape") return false;
  const std::optional<Array> shape = ConstantValue(inputs[1]);
  if (!shape.has_value() || shape->num_elements() != inputs[0].rank()) return false;
  for (int i = 0; i < inputs[0].rank(); ++i) {
    const double size = shape->AsDouble(i);
    if (size != static_cast<double>(inputs[0].dim(i)) && !(size == -1 && inputs[0].dim(i) > 0))
      return false;
  }
  return true;
}

}  // namespace

int NodeBuilder::OriginOf(int node) const {
  if (options_.unique_rows == nullptr) return -1;
  const auto found = options_.unique_rows->origins.find(node);
  return found == options_.unique_rows->origins.end() ? -1 : found->second;
}

Tensor NodeBuilder::Const(const Array& value, const std::string& name) {
  return graph_->AddOp("Const", {}, {{"value", value}, {"dtype", value.dtype()}}, name);
}

absl::StatusOr<Tensor> NodeBuilder::OptionalValue(FlatTensor at, int reader) const {
  Tensor value;
  const auto given = given_.find(at);
  const int variable = order_.VariableOf(at);
  if (given != given_.end()) {
    value = given->second;
  } else if (variable >= 0) {
    EST_ASSIGN_OR_RETURN(value, read_(variable, reader));
  } else {
    const auto found = values_.find(at.node);
    if (found == values_.end() || static_cast<size_t>(at.output) >= found->second.size()) {
      return InvalidArgument(nodes_.Where(at.node), " has no output ", at.output);
    }
    value = found->second[static_cast<size_t>(at.output)];
  }
  const bool transfers = options_.transfer != nullptr && value.valid();
  return transfers ? options_.transfer(at, reader, value) : value;
}

absl::StatusOr<Tensor> NodeBuilder::Value(FlatTensor at, int reader) const {
  EST_ASSIGN_OR_RETURN(const Tensor value, OptionalValue(at, reader));
  if (value.valid()) return value;
  const auto unselected = unselected_.find(at);
  if (unselected != unselected_.end()) return Annotate(unselected->second, nodes_.Where(at.node));
  return InvalidArgument(nodes_.Where(at.node), " has no output ", at.output);
}

absl::StatusOr<std::vector<Tensor>> NodeBuilder::Inputs(int node) const {
  std::vector<Tensor> inputs;
  for (const FlatTensor& input : nodes_.node(node).inputs) {
    EST_ASSIGN_OR_RETURN(inputs.emplace_back(), Value(input, node));
  }
  return inputs;
}

absl::Status NodeBuilder::Build(int node) {
  if (bodies_ != nullptr && bodies_->BodyOf(node) != body_) return absl::OkStatus();
  const absl::Status status = BuildHere(node);
  if (!status.ok() && failed_node_ < 0 && nodes_.node(node).loop < 0) failed_node_ = node;
  return status;
}

absl::Status NodeBuilder::BuildHere(int node) {
  if (IsDead(node)) return absl::OkStatus();
  // The graph's own error is returned first: handles that it made invalid would only be reported as
  // missing outputs.
  absl::StatusOr<std::vector<Tensor>> outputs = Outputs(node);
  EST_RETURN_IF_ERROR(graph_->status());
  if (!outputs.ok()) return Annotate(outputs.status(), nodes_.Where(node));
  for (Tensor& output : *outputs) {
    // An Optional without a value and a reference that passes through have no tensor.
    if (!output.valid()) continue;
    // A loop has results whose number of rows is not known.
    if (output.node()->op() != "While" &&
        !HasElementsAtMost(output.shape(), kMaxImportedElements)) {
      return InvalidArgument(nodes_.Where(node), ": the result ", output.spec().ToString(),
                             " is too large, or has a negative size");
    }
    output = Folded(output, NameOf(node));
  }
  EST_RETURN_IF_ERROR(graph_->status());
  values_[node] = *std::move(outputs);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Tensor>> NodeBuilder::Outputs(int node) {
  const absl::string_view op = nodes_.op(node);
  const std::vector<FlatTensor>& inputs = nodes_.node(node).inputs;
  if (op == "Const") return BuildConst(node);
  if (IsMergeOp(op) || op == kSelectBranchOp) return BuildBranches(node);
  if (op == kLoopOp) return BuildLoop(node);
  if (IsListOp(op) || (IsOneOf(op, {"AddN", "ZerosLike"}) && !inputs.empty() && IsList(inputs[0])))
    return BuildList(node);
  if (op == "IsVariableInitialized" || op == "VarIsInitializedOp")
    return std::vector<Tensor>{Const(Array::Scalar(options_.variables_exist), NameOf(node))};
  // An Optional is its value here, and an empty one is an invalid handle.
  if (op == "OptionalNone") return std::vector<Tensor>{Tensor()};
  // Both outputs, rows and their numbers, are the look-ups themselves (unique_rows.h).
  if (op == "Unique") {
    EST_ASSIGN_OR_RETURN(const Tensor ids, Value(inputs[0], node));
    return std::vector<Tensor>{ids, ids};
  }
  if (op == "Where") {
    EST_ASSIGN_OR_RETURN(const Tensor mask, Value(inputs[0], node));
    EST_ASSIGN_OR_RETURN(const Tensor indices, AllIndices(mask, NameOf(node)));
    return std::vector<Tensor>{indices};
  }
  if (op == "UnsortedSegmentSum" && inputs.size() == 3 && OriginOf(inputs[1].node) >= 0)
    return BuildUniqueSum(node);
  const bool is_switch = IsSwitchOp(op);
  if (PassesReference(op) || is_switch || op == "OptionalFromValue" || op == "OptionalGetValue") {
    std::vector<Tensor> outputs;
    const size_t count = is_switch ? 1 : inputs.size();
    for (size_t k = 0; k < count; ++k) {
      // A reference that passes through is read by the node that uses it.
      const bool passes = order_.VariableOf({node, static_cast<int>(k)}) >= 0;
      Tensor value;
      if (IsList(inputs[k])) {
        lists_[{node, static_cast<int>(k)}] = lists_.at(inputs[k]);
        if (is_switch) lists_[{node, 1}] = lists_.at(inputs[k]);
      } else if (!passes) {
        EST_ASSIGN_OR_RETURN(value, OptionalValue(inputs[k], node));
      }
      outputs.push_back(value);
    }
    // Both outputs of a Switch have the value: what reads one is built in its branch, or computed
    // for both and selected.
    if (is_switch) outputs.push_back(outputs[0]);
    return outputs;
  }
  return BuildOp(node);
}

absl::StatusOr<std::vector<Tensor>> NodeBuilder::BuildConst(int node) {
  const proto::AttrValue* const value = FindAttr(*nodes_.node(node).def, "value");
  if (value == nullptr) return InvalidArgument("the constant has no attribute 'value'");
  EST_ASSIGN_OR_RETURN(const Array array,
                       ReadTensorProto(value->tensor(), options_.max_constant_bytes));
  return std::vector<Tensor>{Const(array, NameOf(node))};
}

// The sum of each row, once for each time that the row was looked up. The runtime computes it
// without the whole table (runtime/passes/row_updates.h).
absl::StatusOr<std::vector<Tensor>> NodeBuilder::BuildUniqueSum(int node) {
  const std::vector<FlatTensor>& inputs = nodes_.node(node).inputs;
  const int variable = options_.unique_rows->variables.at(OriginOf(inputs[1].node));
  EST_ASSIGN_OR_RETURN(const Tensor data, Value(inputs[0], node));
  EST_ASSIGN_OR_RETURN(const Tensor ids, Value(inputs[1], node));
  EST_ASSIGN_OR_RETURN(const Tensor table, read_(variable, node));
  if (table.rank() < 1) return InvalidArgument("the variable has no rows");
  return std::vector<Tensor>{
      Gather(UnsortedSegmentSum(data, ids, table.dim(0), NameOf(node)), ids)};
}

absl::StatusOr<std::vector<Tensor>> NodeBuilder::BuildOp(int node) {
  const proto::NodeDef& def = *nodes_.node(node).def;
  const ImportRule* const rule = FindImportRule(def.op());
  if (rule == nullptr) return Unimplemented("not supported");
  EST_ASSIGN_OR_RETURN(std::vector<Tensor> inputs, Inputs(node));
  std::optional<std::string> problem;
  Attrs attrs = ReadAttrs(*rule, def, problem);
  if (problem.has_value()) return Unimplemented(*problem);
  // TensorFlow would draw a seed for each session; here each op gets one from the graph.
  if (attrs.has("seed") && attrs.i("seed") == 0 && attrs.has("seed2") && attrs.i("seed2") == 0) {
    const auto [seed, seed2] = graph_->OpSeeds(std::nullopt);
    attrs.Set("seed", seed);
    attrs.Set("seed2", seed2);
  }
  if (options_.where_rows != nullptr && options_.where_rows->losses.count(node) > 0) {
    const int where = options_.where_rows->losses.at(node);
    EST_ASSIGN_OR_RETURN(const Tensor mask, Value(nodes_.node(where).inputs[0], where));
    inputs[2] = WithPadding(inputs[2], mask, inputs[0]);
  }
  const std::string name = NameOf(node);
  const bool converts = rule->convert != nullptr;
  if (converts && rule->num_inputs >= 0 && static_cast<size_t>(rule->num_inputs) != inputs.size())
    return InvalidArgument("takes ", rule->num_inputs, " inputs, not ", inputs.size());
  // The op would cost a copy in each step, and the CPU's fusions would stop at it.
  if (!converts && ChangesNothing(def.op(), inputs)) return std::vector<Tensor>{inputs[0]};
  ImportNode import{*graph_, name, std::move(inputs), std::move(attrs)};
  EST_ASSIGN_OR_RETURN(const std::vector<int> images, ToChannelsLast(def.op(), *rule, import));
  ImportOutputs outputs = converts
                              ? rule->convert(import)
                              : AddOutputs(*graph_, rule->op, import.inputs, import.attrs, name);
  if (outputs.ok()) ToChannelsFirst(images, *outputs);
  return outputs;
}

Tensor NodeBuilder::Folded(const Tensor& output, const std::string& name) {
  const Node& node = *output.node();
  const bool of_shape = node.op() == "Shape" || node.op() == "Size" || node.op() == "Rank";
  // A large result would be computed at once and stored, instead of once in each step.
  if (node.op() == "Const" || node.rules().stateful || !output.shape().fully_known() ||
      !HasElementsAtMost(output.shape(), kMaxFoldedElements))
    return output;
  for (const Tensor& input : node.inputs()) {
    const bool constant = IsConst(input) && HasElementsAtMost(input.shape(), kMaxFoldedElements);
    if (!of_shape && !constant) return output;
  }
  const std::optional<Array> value = ConstantValue(output, kMaxFoldedElements);
  if (!value.has_value()) return output;
  return Const(*value, name + "/folded");
}

}  // namespace estimator
