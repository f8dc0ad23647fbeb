// FrameConverter: TensorArrays and stacks, as TensorLists.
#include <algorithm>

#include "estimator/graphdef/import/frames/frame_converter.h"
#include "estimator/graphdef/import/frames/frame_ops.h"
#include "estimator/graphdef/import/op_kinds.h"

namespace estimator {
namespace {

constexpr char kGradient[] = "TensorArrayGradV3";
constexpr char kNotFound[] = "the TensorArray is not found";
constexpr int kMaxPassed = 64;  // a limit for a malformed file

// An access to a TensorArray: where its inputs are, and the op on a list that it becomes. That op
// takes the flow and then the others, in the order of `others`.
struct Access {
  absl::string_view op;
  size_t num_inputs;
  size_t flow;
  std::vector<size_t> others;
  absl::string_view list_op;
  bool writes;  // its output is a flow
};

const Access* AccessOf(absl::string_view op) {
  static const auto* const kAccesses = new std::vector<Access>{
      {"TensorArrayReadV3", 3, 2, {1}, "TensorListGetItem", false},
      {"TensorArrayWriteV3", 4, 3, {1, 2}, "TensorListSetItem", true},
      {"TensorArrayGatherV3", 3, 2, {1}, "TensorListGather", false},
      {"TensorArrayScatterV3", 4, 3, {2, 1}, "TensorArrayScatterV3", true},
      {"TensorArrayConcatV3", 2, 1, {}, "TensorListConcatV2", false},
      {"TensorArraySplitV3", 4, 3, {1, 2}, "TensorArraySplitV3", true},
      {"TensorArraySizeV3", 2, 1, {}, "TensorListLength", false},
  };
  for (const Access& access : *kAccesses)
    if (access.op == op) return &access;
  return nullptr;
}

// Makes the node an obstacle, behind which nothing is reached.
void RefuseNode(FlatNode& at, absl::string_view problem) {
  at.problem = std::string(problem);
  at.inputs.clear();
}

}  // namespace

void FrameConverter::FindStacks() {
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const bool pushes = IsPushOp(nodes_[i].op), pops = IsPopOp(nodes_[i].op);
    if ((!pushes && !pops) || nodes_[i].inputs.empty()) continue;
    const int stack = Origin(nodes_[i].inputs[0]).node;
    if (!IsStackOp(node(stack).op)) continue;
    Stack& of = stacks_[stack];
    (pushes ? of.pushes : of.pops).push_back(static_cast<int>(i));
    stack_of_[static_cast<int>(i)] = stack;
  }
}

const FrameConverter::Flow* FrameConverter::FlowOf(FlatTensor at) const {
  const auto found = flows_.find(at);
  return found == flows_.end() ? nullptr : &found->second;
}

void FrameConverter::AddFlow(FlatTensor at, Flow flow, std::vector<FlatTensor>& pending) {
  if (flows_.emplace(at, flow).second) pending.push_back(at);
}

void FrameConverter::FindFlows() {
  std::vector<FlatTensor> pending;
  for (size_t k = 0; k < nodes_.size(); ++k) {
    const int i = static_cast<int>(k);
    if (node(i).op == "TensorArrayV3") AddFlow({i, 1}, {i, false}, pending);
    const Access* const access = AccessOf(node(i).op);
    if (access == nullptr || !access->writes || node(i).inputs.size() != access->num_inputs)
      continue;
    int array = Origin(node(i).inputs[0]).node;
    const bool of_gradient = node(array).op == kGradient && !node(array).inputs.empty();
    if (of_gradient) array = Origin(node(array).inputs[0]).node;
    if (node(array).op == "TensorArrayV3") AddFlow({i, 0}, {array, of_gradient}, pending);
  }
  while (!pending.empty()) {
    const FlatTensor at = pending.back();
    pending.pop_back();
    const Flow flow = flows_.at(at);
    for (const int reader : readers_[static_cast<size_t>(at.node)]) {
      const absl::string_view op = node(reader).op;
      const std::vector<FlatTensor>& inputs = node(reader).inputs;
      const auto found = std::find(inputs.begin(), inputs.end(), at);
      if (found == inputs.end()) continue;
      const auto stack = stack_of_.find(reader);
      if (op == "IdentityN") {
        AddFlow({reader, static_cast<int>(found - inputs.begin())}, flow, pending);
      } else if (PassesReference(op) || IsEnterOp(op) || IsExitOp(op) || IsNextOp(op) ||
                 IsMergeOp(op) || IsOneOf(op, {"Add", "AddV2", "AddN"})) {
        AddFlow({reader, 0}, flow, pending);
      } else if (IsSwitchOp(op)) {
        AddFlow({reader, 0}, flow, pending);
        AddFlow({reader, 1}, flow, pending);
      } else if (op == "ZerosLike") {
        AddFlow({reader, 0}, {flow.array, true}, pending);
      } else if (IsPushOp(op) && stack != stack_of_.end()) {
        for (const int pop : stacks_.at(stack->second).pops) AddFlow({pop, 0}, flow, pending);
      }
    }
  }
}

void FrameConverter::ConvertArrays() {
  for (size_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].op != kGradient && AccessOf(nodes_[i].op) == nullptr)
      ReplaceZeroFlows(static_cast<int>(i));
  }
  for (size_t i = 0; i < nodes_.size(); ++i)
    if (AccessOf(nodes_[i].op) != nullptr) ConvertAccess(static_cast<int>(i));
  // Last, because the accesses find their arrays through the handles.
  for (size_t i = 0; i < nodes_.size(); ++i)
    if (nodes_[i].op == kGradient) ConvertGradient(static_cast<int>(i));
}

// A gradient that is zero is a number that is no list: the first value of a sum over trips, or the
// other branch of a tf.cond. The array before its first write is such a list.
void FrameConverter::ReplaceZeroFlows(int i) {
  FlatNode& at = node(i);
  const Flow* const flow = FlowOf({i, 0});
  if (flow == nullptr) return;
  const bool adds = IsOneOf(at.op, {"Add", "AddV2", "AddN"});
  if (!adds && !IsMergeOp(at.op)) return;
  for (FlatTensor& input : at.inputs) {
    if (FlowOf(input) != nullptr) continue;
    FlatNode& from = node(input.node);
    const bool passes = (IsEnterOp(from.op) || IsNextOp(from.op)) && from.inputs.size() == 1;
    (passes ? from.inputs[0] : input) = {flow->array, 1};
  }
  if (adds) at.op = "AddN";
}

void FrameConverter::ConvertAccess(int i) {
  FlatNode& at = node(i);
  const Access& access = *AccessOf(at.op);
  if (at.inputs.size() != access.num_inputs)
    return RefuseNode(at, "takes another number of inputs");
  const int array = Origin(at.inputs[0]).node;
  const bool of_gradient = node(array).op == kGradient;
  if (!of_gradient && node(array).op != "TensorArrayV3") return RefuseNode(at, kNotFound);
  FlatTensor flow = at.inputs[access.flow];
  const Flow* const known = FlowOf(flow);
  if (of_gradient && (known == nullptr || !known->of_gradient)) {
    flow = {array, 0};
  } else if (known == nullptr) {
    flow = {array, 1};
  }
  std::vector<FlatTensor> inputs = {flow};
  for (const size_t k : access.others) inputs.push_back(at.inputs[k]);
  at.op = access.list_op;
  at.inputs = std::move(inputs);
}

// The list of an array of gradients, before what writes to it.
void FrameConverter::ConvertGradient(int i) {
  FlatNode& at = node(i);
  const int array = at.inputs.size() == 2 ? Origin(at.inputs[0]).node : i;
  if (node(array).op != "TensorArrayV3") {
    return RefuseNode(
        at, array != i && node(array).op == kGradient ? "the gradient of a gradient" : kNotFound);
  }
  const Flow* const flow = FlowOf(at.inputs[1]);
  const bool has_values = flow != nullptr && flow->of_gradient;
  at.op = has_values ? "Identity" : "ZerosLike";
  FlatTensor list = at.inputs[1];
  if (flow == nullptr) list = {array, 1};
  // Only its size is read, which is the same at each trip: no stack need keep it.
  FlatTensor from = list;
  for (int steps = 0; steps < kMaxPassed && !has_values && !node(from.node).inputs.empty();
       ++steps) {
    const auto stack = stack_of_.find(from.node);
    if (node(from.node).op == "Identity") {
      from = node(from.node).inputs[0];
    } else if (stack != stack_of_.end() && stacks_.at(stack->second).pushes.size() == 1) {
      list = from = node(stacks_.at(stack->second).pushes[0]).inputs.back();
    } else {
      break;
    }
  }
  at.inputs = {list};
}

}  // namespace estimator
