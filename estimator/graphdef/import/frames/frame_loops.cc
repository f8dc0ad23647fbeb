// FrameConverter: the loop of each frame.
#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "estimator/graphdef/import/frames/frame_converter.h"
#include "estimator/graphdef/import/frames/frame_ops.h"
#include "estimator/graphdef/import/op_kinds.h"
#include "estimator/graphdef/node_attr.h"

namespace estimator {
namespace {

constexpr int kMaxSteps = 64;  // of Identities and renamed tensors, for a malformed file

}  // namespace

void FrameConverter::ReadFrame(int f) {
  Frame& frame = frames_[static_cast<size_t>(f)];
  if (frame.problem.empty()) frame.problem = ReadVariables(f);
  if (frame.problem.empty()) frame.problem = CheckReaders(f);
}

// Returns the problem, or "".
std::string FrameConverter::ReadVariables(int f) {
  Frame& frame = frames_[static_cast<size_t>(f)];
  if (frame.cond < 0) return "has no condition (LoopCond)";
  for (const int i : frame.members) {
    const FlatNode& merge = node(i);
    const auto is_next = [this](FlatTensor at) { return IsNextOp(node(at.node).op); };
    if (!IsMergeOp(merge.op) || std::none_of(merge.inputs.begin(), merge.inputs.end(), is_next))
      continue;
    const std::string where = absl::StrCat("the Merge '", merge.name, "' ");
    if (merge.inputs.size() != 2)
      return absl::StrCat(where, "has ", merge.inputs.size(), " inputs, not 2");
    const size_t next = is_next(merge.inputs[0]) ? 0 : 1;
    const FlatTensor first = merge.inputs[1 - next];
    const FlatNode& from = node(merge.inputs[next].node);
    if (!IsEnterOp(node(first.node).op) || frame_of(first.node) != f)
      return absl::StrCat(where, "does not begin with an Enter");
    if (from.inputs.size() != 1 || frame_of(merge.inputs[next].node) != f)
      return absl::StrCat(where, "does not go on with a NextIteration of the loop");
    Variable& variable = frame.variables.emplace_back();
    variable.arg = i;
    variable.first = {first.node, 0};
    variable.next = from.inputs[0];
  }
  if (frame.variables.empty()) return "has no loop variable";
  // The order of the file.
  std::sort(frame.variables.begin(), frame.variables.end(),
            [](const Variable& a, const Variable& b) { return a.arg < b.arg; });
  for (Variable& variable : frame.variables) variable.constant = IsConstant(frame, variable);
  return "";
}

bool FrameConverter::IsConstant(const Frame& frame, const Variable& variable) const {
  FlatTensor at = variable.next;
  for (int steps = 0; steps < kMaxSteps && at.node != variable.arg; ++steps) {
    const FlatNode& from = node(at.node);
    const bool passes =
        from.op == "Identity" || (IsSwitchOp(from.op) && from.inputs.size() == 2 &&
                                  at.output == 1 && from.inputs[1].node == frame.cond);
    if (!passes || from.inputs.empty()) return false;
    at = from.inputs[0];
  }
  return at.node == variable.arg;
}

// The tensor that an Exit or an Identity passes on.
FlatTensor FrameConverter::BehindIdentities(FlatTensor at) const {
  for (int steps = 0; steps < kMaxSteps; ++steps) {
    const FlatNode& from = node(at.node);
    if ((from.op != "Identity" && !IsExitOp(from.op)) || from.inputs.empty()) break;
    at = from.inputs[0];
  }
  return at;
}

// Returns the problem, or "".
std::string FrameConverter::CheckReaders(int f) const {
  const Frame& frame = frames_[static_cast<size_t>(f)];
  std::set<int> args;
  for (const Variable& variable : frame.variables) args.insert(variable.arg);
  const auto is_loop_switch = [&](int i) {
    return IsSwitchOp(node(i).op) && node(i).inputs.size() == 2 &&
           node(i).inputs[1].node == frame.cond;
  };
  for (const int i : frame.members) {
    const FlatNode& from = node(i);
    const auto& readers = readers_[static_cast<size_t>(i)];
    if (is_loop_switch(i) && args.count(from.inputs[0].node) == 0)
      return absl::StrCat("the Switch '", from.name, "' is of no loop variable");
    for (const int reader : readers) {
      const bool to_arg = args.count(reader) > 0;
      const std::vector<FlatTensor>& inputs = node(reader).inputs;
      const auto reads = [&](int output) {
        return std::find(inputs.begin(), inputs.end(), FlatTensor{i, output}) != inputs.end();
      };
      const auto wrong = [&](absl::string_view what) {
        return absl::StrCat("'", node(reader).name, "' reads ", what, " '", from.name, "'");
      };
      if (i == frame.cond && reads(0) && !is_loop_switch(reader)) return wrong("the LoopCond");
      // tf.gradients has an Identity between.
      if (is_loop_switch(i) && reads(0) && !IsExitOp(node(reader).op) &&
          node(reader).op != "Identity")
        return wrong("the last value of");
      if (IsNextOp(from.op) && reads(0) && !to_arg) return wrong("the NextIteration");
      const proto::AttrValue* const constant = FindAttr(*from.def, "is_constant");
      const bool is_constant = constant != nullptr && constant->b();
      if (IsEnterOp(from.op) && !is_constant && reads(0) && !to_arg)
        return wrong("the first value of");
    }
  }
  for (const int i : frame.exits) {
    const FlatTensor from = BehindIdentities({i, 0});
    if (from.output != 0 || !is_loop_switch(from.node) ||
        args.count(node(from.node).inputs[0].node) == 0)
      return absl::StrCat("the Exit '", node(i).name, "' is of no loop variable");
  }
  return "";
}

// The Enters through which the handle of a stack reaches a node, the outermost first.
std::vector<int> FrameConverter::EntersOf(FlatTensor handle) const {
  std::vector<int> enters;
  for (int steps = 0; steps < 2 * kMaxSteps; ++steps) {
    const FlatNode& from = node(handle.node);
    if (IsEnterOp(from.op)) enters.insert(enters.begin(), handle.node);
    if (from.inputs.empty()) break;
    handle = from.inputs[0];
  }
  return enters;
}

void FrameConverter::ConvertStacks() {
  for (const auto& [stack, of] : stacks_) {
    const bool used = std::any_of(of.pops.begin(), of.pops.end(), [this](int pop) {
      return IsUsed({pop, 0});
    });
    const std::string problem = used ? ConvertStack(stack, of) : "";
    const bool converted = used && problem.empty();
    for (const int push : of.pushes) {
      FlatNode& at = node(push);
      // A push returns what it pushes.
      if (at.inputs.size() == 2) renamed_[{push, 0}] = at.inputs[1];
      if (converted) continue;
      at.op = "NoOp";
      at.inputs.clear();
    }
    for (const int pop : of.pops) {
      FlatNode& at = node(pop);
      if (converted) renamed_[{pop, 0}] = {pop, 1};
      if (converted) continue;
      if (!used) at.op = "NoOp";
      at.inputs.clear();
      at.problem = problem;
    }
  }
}

// Makes the stack a variable of the loops that push and of those that pop. In a loop inside of a
// loop, the inner one makes a list at each trip of the outer one, which keeps these lists in one.
std::string FrameConverter::ConvertStack(int stack, const Stack& of) {
  if (of.pushes.size() != 1 || of.pops.size() != 1)
    return "a stack that is not pushed to and popped from at one place";
  const int push = of.pushes[0], pop = of.pops[0];
  if (node(push).inputs.size() != 2) return "a stack without a value";
  if (FlowOf(node(push).inputs[1]) != nullptr) return "a stack of TensorArrays";
  const std::vector<int> down = EntersOf(node(push).inputs[0]), up = EntersOf(node(pop).inputs[0]);
  const auto frame = [this](int enter) -> Frame& {
    return frames_[static_cast<size_t>(frame_of(enter))];
  };
  if (down.empty() || down.size() != up.size() || frame_of(down.back()) != frame_of(push) ||
      frame_of(up.back()) != frame_of(pop) || frame_of(down[0]) == frame_of(up[0]))
    return "a stack that is not of a loop and of its gradient";
  for (const std::vector<int>* const enters : {&down, &up}) {
    for (const int enter : *enters) {
      if (frame_of(enter) < 0 || !frame(enter).problem.empty())
        return "a stack of a loop that cannot be converted";
    }
  }
  FlatTensor element;  // what the next frame adds to its list
  for (size_t k = down.size(); k-- > 0;) {
    Frame& at = frame(down[k]);
    int adds = push;
    if (k + 1 < down.size()) {
      adds = AddNode(push, k);
      node(adds).inputs = {{}, element};
    }
    node(adds).op = "TensorListPushBack";
    node(adds).inputs[0] = {down[k], 0};
    element = {at.cond, static_cast<int>(at.variables.size())};
    at.variables.push_back(
        {.arg = down[k], .first = {stack, 0}, .next = {adds, 0}, .is_stack = true});
  }
  for (size_t k = 0; k < up.size(); ++k) {
    const int takes = k + 1 < up.size() ? AddNode(pop, k) : pop;
    node(takes).op = "TensorListPopBack";
    node(takes).inputs = {{up[k], 0}};
    frame(up[k]).variables.push_back(
        {.arg = up[k], .first = element, .next = {takes, 0}, .is_stack = true});
    element = {takes, 1};
  }
  return "";
}

// A node that does for an outer loop what node i does for the inner one.
int FrameConverter::AddNode(int i, size_t depth) {
  const int frame = frame_of(EntersOf(node(i).inputs[0])[depth]);
  FlatNode& made = nodes_.emplace_back();
  made.name = absl::StrCat(node(i).name, "/outer_", depth);
  made.def = node(i).def;
  made.loop = node(i).loop;
  made.resolved = true;
  frame_.push_back(frame);
  readers_.emplace_back();
  const int number = static_cast<int>(nodes_.size()) - 1;
  frames_[static_cast<size_t>(frame)].members.push_back(number);
  return number;
}

FlatTensor FrameConverter::Renamed(FlatTensor at) const {
  for (int steps = 0; steps < kMaxSteps; ++steps) {
    const auto found = renamed_.find(at);
    if (found == renamed_.end()) break;
    at = found->second;
  }
  return at;
}

// The body reads a loop variable through its Switch.
void FrameConverter::Rename() {
  for (const Frame& frame : frames_) {
    if (!frame.problem.empty()) continue;
    for (const int i : frame.members) {
      FlatNode& at = node(i);
      if (!IsSwitchOp(at.op) || at.inputs.size() != 2 || at.inputs[1].node != frame.cond) continue;
      renamed_[{i, 1}] = at.inputs[0];
    }
  }
  for (FlatNode& at : nodes_)
    for (FlatTensor& input : at.inputs) input = Renamed(input);
}

// Nothing behind the results of the loop is reached, so that its obstacle is in one row.
void FrameConverter::Refuse(const Frame& frame) {
  for (const int i : frame.exits) {
    node(i).inputs.clear();
    node(i).controls.clear();
    node(i).problem = absl::StrCat("a loop (tf.while_loop) that ", frame.problem);
  }
}

void FrameConverter::ConvertFrame(int f) {
  const Frame& frame = frames_[static_cast<size_t>(f)];
  FlatNode& made = node(frame.cond);
  const int base = made.loop;
  const int outer = frame.parent < 0 ? base : frames_[static_cast<size_t>(frame.parent)].cond;
  for (const int i : frame.members)
    // The nodes of a functional loop inside are in that one.
    if (node(i).loop == base) node(i).loop = frame.cond;
  for (const int i : frame.enters) {
    node(i).op = "Identity";
    node(i).loop = outer;
  }
  std::map<int, int> number_of;  // an arg -> the number of the variable
  for (size_t k = 0; k < frame.variables.size(); ++k)
    number_of[frame.variables[k].arg] = static_cast<int>(k);
  for (const int i : frame.exits) {
    const FlatTensor merge = node(BehindIdentities({i, 0}).node).inputs[0];
    node(i).op = "Identity";
    node(i).inputs = {{frame.cond, number_of.at(merge.node)}};
    node(i).loop = outer;
  }
  std::vector<FlatTensor> firsts, nexts;
  std::vector<int> controls;
  FlatLoop loop;
  for (const Variable& variable : frame.variables) {
    FlatNode& arg = node(variable.arg);
    firsts.push_back(variable.first);
    nexts.push_back(variable.is_stack ? variable.next : Renamed(variable.next));
    const int place = variable.constant ? -1 : variable.arg;
    loop.cond_args.push_back(variable.is_stack ? -1 : place);
    loop.body_args.push_back(place);
    loop.constant.push_back(variable.constant);
    arg.inputs.clear();
    if (variable.constant) {
      arg.op = "Identity";
      arg.inputs = {variable.first};
      arg.loop = outer;
    } else {
      // It has no input, but what it waits for still comes before it.
      arg.op = kLoopArgOp;
      arg.controls = {variable.first.node};
      arg.loop = frame.cond;
    }
  }
  for (const int i : frame.members) {
    FlatNode& at = node(i);
    if (IsNextOp(at.op)) {
      // What a trip runs for its effect, the loop runs.
      controls.insert(controls.end(), at.controls.begin(), at.controls.end());
      at.op = "NoOp";
      at.inputs.clear();
      at.controls.clear();
    } else if (IsSwitchOp(at.op) && at.inputs.size() == 2 && at.inputs[1].node == frame.cond) {
      at.op = "Identity";
      at.inputs.pop_back();
    }
  }
  made.op = kLoopOp;
  made.loop = outer;
  firsts.push_back(Renamed(made.inputs[0]));
  firsts.insert(firsts.end(), nexts.begin(), nexts.end());
  made.inputs = std::move(firsts);
  made.controls.insert(made.controls.end(), controls.begin(), controls.end());
  loops_[frame.cond] = std::move(loop);
}

}  // namespace estimator
