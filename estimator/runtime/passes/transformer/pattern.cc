#include "estimator/runtime/passes/transformer/pattern.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "estimator/kernels/op_traits.h"
#include "estimator/runtime/passes/find_kernel.h"

namespace estimator::ir {
namespace {

// Whether `constant` is `number`, within twice the largest rounding error of its dtype.
bool IsNumber(const Array* constant, double number) {
  if (constant == nullptr || constant->num_elements() != 1) return false;
  const bool is_bf16 = constant->dtype() == DType::kBfloat16;
  if (!is_bf16 && constant->dtype() != DType::kFloat32) return false;
  const double limit = is_bf16 ? 0x1p-8 : 0x1p-23;
  return std::abs(constant->AsDouble() - number) <= limit * std::abs(number);
}

bool MatchOperands(const Module& module, const Pattern& pattern, const Node& node, Match* match) {
  const std::vector<Pattern>& operands = pattern.operands;
  if (node.inputs.size() < operands.size()) return false;
  for (size_t i = operands.size(); i < node.inputs.size(); ++i) {
    if (module.constant(Root(module, node.inputs[i])) == nullptr) return false;
  }
  const auto match_in_order = [&](size_t first, Match* into) {
    for (size_t i = 0; i < operands.size(); ++i) {
      if (!MatchPattern(module, operands[i],
                        node.inputs[i == 0   ? first
                                    : i == 1 ? 1 - first
                                             : i],
                        into))
        return false;
    }
    return true;
  };
  Match trial = *match;
  bool found = match_in_order(0, &trial);
  if (!found && operands.size() == 2 && TraitsOf(node.op).commutative) {
    trial = *match;
    found = match_in_order(1, &trial);
  }
  if (found) *match = std::move(trial);
  return found;
}

}  // namespace

Pattern Any(const std::string& name) { return {.kind = Pattern::Kind::kAny, .name = name}; }

Pattern ScalarOf(const std::string& name) { return {.kind = Pattern::Kind::kScalar, .name = name}; }

Pattern NumberOf(double number) { return {.kind = Pattern::Kind::kNumber, .number = number}; }

Pattern OpOf(const std::string& op, std::vector<Pattern> operands, const std::string& name) {
  return {.kind = Pattern::Kind::kOp, .name = name, .op = op, .operands = std::move(operands)};
}

Pattern EitherOf(std::vector<Pattern> alternatives) {
  return {.kind = Pattern::Kind::kEither, .operands = std::move(alternatives)};
}

bool MatchPattern(const Module& module, const Pattern& pattern, Value value, Match* match) {
  if (!pattern.name.empty()) {
    const auto bound = match->values.find(pattern.name);
    if (bound != match->values.end()) {
      if (Root(module, bound->second) != Root(module, value)) return false;
      // The views on the way to an op that is known belong to the match, too.
      if (pattern.kind == Pattern::Kind::kOp) {
        for (; IsView(module.node(value)); value = module.node(value).inputs[0])
          match->nodes.insert(value.node);
      }
      return true;
    }
  }
  Match trial = *match;
  switch (pattern.kind) {
    case Pattern::Kind::kAny:
      break;
    case Pattern::Kind::kScalar: {
      const Array* const constant = module.constant(Root(module, value));
      if (constant == nullptr || constant->num_elements() != 1 ||
          constant->dtype() != DType::kFloat32)
        return false;
      break;
    }
    case Pattern::Kind::kNumber:
      if (!IsNumber(module.constant(Root(module, value)), pattern.number)) return false;
      break;
    case Pattern::Kind::kEither:
      if (std::none_of(pattern.operands.begin(), pattern.operands.end(),
                       [&](const Pattern& p) { return MatchPattern(module, p, value, &trial); }))
        return false;
      break;
    case Pattern::Kind::kOp: {
      for (; IsView(module.node(value)); value = module.node(value).inputs[0])
        trial.nodes.insert(value.node);
      const Node& node = module.node(value);
      if (node.kind != Node::Kind::kOp || node.op != pattern.op || value.output != 0) return false;
      if (!MatchOperands(module, pattern, node, &trial)) return false;
      trial.nodes.insert(value.node);
      break;
    }
  }
  if (!pattern.name.empty()) trial.values[pattern.name] = value;
  *match = std::move(trial);
  return true;
}

double ScalarValue(const Module& module, Value value) {
  return module.constant(Root(module, value))->AsDouble();
}

bool ReducesOnly(const Module& module, Value reduction, bool last) {
  const Node& node = module.node(reduction);
  const Array* const axes = module.constant(Root(module, node.inputs[1]));
  const int rank = module.spec(node.inputs[0]).shape.rank();
  if (axes == nullptr) return false;
  std::set<int64_t> reduced;
  for (int64_t i = 0; i < axes->num_elements(); ++i) {
    const auto axis = static_cast<int64_t>(axes->AsDouble(i));
    reduced.insert(axis < 0 ? axis + rank : axis);
  }
  const bool has_last = reduced.count(rank - 1) > 0;
  return last ? has_last && reduced.size() == 1
              : !has_last && static_cast<int>(reduced.size()) == rank - 1;
}

ValueReaders::ValueReaders(const Module& module) : module_(module) {
  for (size_t n = 0; n < module.nodes.size(); ++n) {
    if (IsView(module.nodes[n])) continue;
    for (const Value& input : module.nodes[n].inputs)
      readers_[Root(module, input)].push_back(static_cast<int>(n));
  }
  for (const Value& fetch : module.fetches) readers_[Root(module, fetch)].push_back(-1);
  for (const Update& update : module.updates) readers_[Root(module, update.value)].push_back(-1);
}

const std::vector<int>& ValueReaders::of(Value value) const {
  static const auto* const none = new std::vector<int>();
  const auto it = readers_.find(Root(module_, value));
  return it == readers_.end() ? *none : it->second;
}

bool OnlyReadInside(const Module& module, const std::vector<std::vector<int>>& readers,
                    const std::set<int>& nodes, const std::vector<Value>& outputs) {
  for (const int n : nodes) {
    if (std::any_of(outputs.begin(), outputs.end(), [n](Value v) { return v.node == n; })) continue;
    // A view of an output reads the fused node's output instead.
    if (IsView(module.node(n))) {
      const Value root = Root(module, {n, 0});
      if (std::find(outputs.begin(), outputs.end(), root) != outputs.end()) continue;
    }
    for (const int reader : At(readers, n)) {
      if (reader < 0 || nodes.count(reader) == 0) return false;
    }
  }
  return true;
}

bool AddFusedNode(Module& module, KernelTier fastest, Node fused, const std::vector<Value>& outputs,
                  const std::set<int>& nodes, Replacements& to) {
  // The nodes that the outputs depend on. The others only belong to the other pass, forward or
  // backward, of the same layer.
  std::set<int> needed;
  std::vector<int> stack;
  const auto visit = [&](Value value) {
    if (nodes.count(value.node) > 0 &&
        std::find(fused.inputs.begin(), fused.inputs.end(), value) == fused.inputs.end() &&
        needed.insert(value.node).second)
      stack.push_back(value.node);
  };
  for (const Value& output : outputs) visit(output);
  while (!stack.empty()) {
    const int n = stack.back();
    stack.pop_back();
    for (const Value& input : module.node(n).inputs) visit(input);
  }
  auto origin = std::make_shared<Origin>();
  std::map<int, int> step_of;
  for (const int n : needed) {  // in topological order, as the nodes of the module are
    std::vector<Value> inputs;
    for (const Value& input : module.node(n).inputs) {
      auto given = std::find(fused.inputs.begin(), fused.inputs.end(), input);
      if (given == fused.inputs.end() && needed.count(input.node) > 0) {
        inputs.push_back({step_of.at(input.node), input.output});
        continue;
      }
      if (given == fused.inputs.end()) {
        if (module.constant(Root(module, input)) == nullptr) return false;
        given = fused.inputs.insert(fused.inputs.end(), input);
      }
      inputs.push_back({-1, static_cast<int>(given - fused.inputs.begin())});
    }
    step_of[n] = static_cast<int>(origin->steps.size());
    origin->steps.push_back(StepOf(module.node(n), std::move(inputs)));
  }
  for (const Value& output : outputs) {
    origin->outputs.push_back({step_of.at(output.node), output.output});
    fused.outputs.push_back(module.spec(output));
  }
  fused.name = module.node(outputs[0]).name;
  fused.origin = std::move(origin);
  if (!FindKernel(module, fused, fastest)) return false;
  const int index = static_cast<int>(module.nodes.size());
  module.nodes.push_back(std::move(fused));
  module.num_fused_nodes += static_cast<int>(needed.size());
  for (size_t o = 0; o < outputs.size(); ++o) {
    std::vector<Value>& replaced = At(to, outputs[o].node);
    replaced.resize(std::max(replaced.size(), static_cast<size_t>(outputs[o].output) + 1));
    At(replaced, outputs[o].output) = {index, static_cast<int>(o)};
  }
  return true;
}

}  // namespace estimator::ir
