// FrameConverter: the frame of each node.
#include <algorithm>
#include <set>

#include "estimator/graphdef/import/frames/frame_converter.h"
#include "estimator/graphdef/import/frames/frame_ops.h"
#include "estimator/graphdef/import/op_kinds.h"
#include "estimator/graphdef/node_attr.h"

namespace estimator {
namespace {

constexpr int kMaxDepth = 64;  // of nested frames, and of Identities: a limit for a malformed file

}  // namespace

bool IsFrameOp(absl::string_view op) {
  return IsEnterOp(op) || IsExitOp(op) || IsNextOp(op) || IsPushOp(op) || IsPopOp(op) ||
         IsOneOf(op, {"TensorArrayV3", "LoopCond"});
}

void FrameConverter::Run() {
  FindReaders();
  FindFrames();
  SplitFrames();
  FindStacks();
  FindFlows();
  ConvertArrays();
  FindReaders();  // without what only ordered the accesses of arrays
  for (size_t f = 0; f < frames_.size(); ++f) ReadFrame(static_cast<int>(f));
  ConvertStacks();
  Rename();
  // A loop in a frame that cannot be converted is not reached.
  for (size_t f = 0; f < frames_.size(); ++f) {
    if (frames_[f].problem.empty())
      ConvertFrame(static_cast<int>(f));
    else
      Refuse(frames_[f]);
  }
}

void FrameConverter::FindReaders() {
  readers_.assign(nodes_.size(), {});
  for (size_t i = 0; i < nodes_.size(); ++i) {
    for (const FlatTensor& input : nodes_[i].inputs)
      readers_[static_cast<size_t>(input.node)].push_back(static_cast<int>(i));
    for (const int control : nodes_[i].controls)
      readers_[static_cast<size_t>(control)].push_back(static_cast<int>(i));
  }
}

// Visits each node after those that it waits for, except for the way back to the next trip.
void FrameConverter::FindFrames() {
  const auto is_back = [this](int from, int to) {
    return IsNextOp(node(from).op) && IsMergeOp(node(to).op);
  };
  frame_.assign(nodes_.size(), -1);
  std::vector<int> waits(nodes_.size(), 0), ready;
  for (size_t i = 0; i < nodes_.size(); ++i) {
    for (const int reader : readers_[i])
      if (!is_back(static_cast<int>(i), reader)) ++waits[static_cast<size_t>(reader)];
  }
  for (size_t i = 0; i < nodes_.size(); ++i)
    if (waits[i] == 0) ready.push_back(static_cast<int>(i));
  while (!ready.empty()) {
    const int i = ready.back();
    ready.pop_back();
    frame_[static_cast<size_t>(i)] = FrameOfInputs(i);
    if (frame_of(i) >= 0) frames_[static_cast<size_t>(frame_of(i))].members.push_back(i);
    for (const int reader : readers_[static_cast<size_t>(i)]) {
      if (!is_back(i, reader) && --waits[static_cast<size_t>(reader)] == 0) ready.push_back(reader);
    }
  }
  for (size_t i = 0; i < nodes_.size(); ++i) {
    if (waits[i] <= 0 || (!IsMergeOp(nodes_[i].op) && !IsExitOp(nodes_[i].op))) continue;
    nodes_[i].problem = "in a cycle, or behind one, that no NextIteration closes";
    nodes_[i].inputs.clear();
    nodes_[i].controls.clear();
  }
}

// A graph that is imported into itself has two loops of one frame_name. No tensor goes from one to
// the other: nodes that are connected inside of loops, nested ones included, are one component.
void FrameConverter::SplitFrames() {
  if (std::none_of(frames_.begin(), frames_.end(),
                   [](const Frame& frame) { return !frame.problem.empty(); }))
    return;
  component_.assign(nodes_.size(), -1);
  for (size_t i = 0; i < nodes_.size(); ++i) {
    std::vector<int> pending;
    const auto add = [&](int other) {
      if (component_[static_cast<size_t>(other)] >= 0 || frame_of(other) < 0) return;
      component_[static_cast<size_t>(other)] = static_cast<int>(i);
      pending.push_back(other);
    };
    if (frame_[i] >= 0) add(static_cast<int>(i));
    while (!pending.empty()) {
      const int at = pending.back();
      pending.pop_back();
      for (const int reader : readers_[static_cast<size_t>(at)]) add(reader);
      for (const FlatTensor& input : node(at).inputs) add(input.node);
      for (const int control : node(at).controls) add(control);
    }
  }
  frames_.clear();
  frame_names_.clear();
  FindFrames();
}

bool FrameConverter::IsWithin(int frame, int outer) const {
  while (frame >= 0 && frame != outer) frame = frames_[static_cast<size_t>(frame)].parent;
  return frame == outer;
}

int FrameConverter::FrameNamed(int parent, const std::string& name, int component) {
  const auto [found, is_new] = frame_names_.emplace(std::make_tuple(parent, name, component),
                                                    static_cast<int>(frames_.size()));
  if (!is_new) return found->second;
  Frame& frame = frames_.emplace_back();
  frame.parent = parent;
  frame.depth = parent < 0 ? 1 : frames_[static_cast<size_t>(parent)].depth + 1;
  if (frame.depth > kMaxDepth) frame.problem = "is nested too deeply";
  return found->second;
}

int FrameConverter::FrameOfInputs(int i) {
  FlatNode& at = node(i);
  int frame = -1;
  const auto add = [&](int from) {
    if (IsNextOp(node(from).op) && IsMergeOp(at.op)) return;
    const int other = frame_of(from);
    // A tensor of a frame around is as good as one that an Enter takes in: constants are written
    // so by programs that freeze graphs.
    if (IsWithin(other, frame)) {
      frame = other;
    } else if (!IsWithin(frame, other)) {
      at.problem = "reads tensors of two loops, neither of which is inside of the other";
    }
  };
  for (const FlatTensor& input : at.inputs) add(input.node);
  for (const int control : at.controls) add(control);
  if (!at.problem.empty()) at.inputs.clear();
  if (IsEnterOp(at.op) && at.inputs.size() == 1) {
    const proto::AttrValue* const name = FindAttr(*at.def, "frame_name");
    if (frame >= 0 && frames_[static_cast<size_t>(frame)].depth > kMaxDepth) return frame;
    frame = FrameNamed(frame, name == nullptr ? "" : name->s(),
                       component_.empty() ? 0 : component_[static_cast<size_t>(i)]);
    frames_[static_cast<size_t>(frame)].enters.push_back(i);
  } else if (IsExitOp(at.op) && frame >= 0) {
    frames_[static_cast<size_t>(frame)].exits.push_back(i);
    frame = frames_[static_cast<size_t>(frame)].parent;
  } else if (at.op == "LoopCond" && frame >= 0 && at.inputs.size() == 1) {
    Frame& of = frames_[static_cast<size_t>(frame)];
    if (of.cond >= 0) of.problem = "has two conditions (LoopCond)";
    of.cond = i;
  } else if (at.op == "ControlTrigger") {
    at.op = "NoOp";
  }
  return frame;
}

FlatTensor FrameConverter::Origin(FlatTensor at) const {
  for (int steps = 0; steps < kMaxDepth; ++steps) {
    const FlatNode& from = node(at.node);
    const auto stack = stack_of_.find(at.node);
    if (stack != stack_of_.end() && IsPopOp(from.op)) {
      const std::vector<int>& pushes = stacks_.at(stack->second).pushes;
      if (pushes.size() != 1 || node(pushes[0]).inputs.size() != 2) break;
      at = node(pushes[0]).inputs[1];
      continue;
    }
    if (from.inputs.empty()) break;
    if (IsMergeOp(from.op)) {
      // The value of a loop variable that is a handle is its first one.
      at = from.inputs[IsNextOp(node(from.inputs[0].node).op) ? from.inputs.size() - 1 : 0];
    } else if (PassesReference(from.op) && from.op != "IdentityN") {
      at = from.inputs[0];
    } else if (IsEnterOp(from.op) || IsExitOp(from.op) || IsNextOp(from.op) ||
               IsSwitchOp(from.op)) {
      at = from.inputs[0];
    } else {
      break;
    }
  }
  return at;
}

bool FrameConverter::IsUsed(FlatTensor at) const {
  std::vector<FlatTensor> pending = {at};
  std::set<int> passed;
  while (!pending.empty()) {
    const FlatTensor from = pending.back();
    pending.pop_back();
    for (const int reader : readers_[static_cast<size_t>(from.node)]) {
      const std::vector<FlatTensor>& inputs = node(reader).inputs;
      if (std::find(inputs.begin(), inputs.end(), from) == inputs.end()) continue;
      if (node(reader).op != "Identity") return true;
      if (passed.insert(reader).second) pending.push_back({reader, 0});
    }
  }
  return false;
}

}  // namespace estimator
