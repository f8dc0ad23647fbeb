#include "estimator/runtime/passes/pattern.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "estimator/kernels/layout.h"
#include "estimator/op_def/op_def.h"

namespace estimator::ir {
namespace {

// Larger constants are not read, because passes ask about every constant of a step.
constexpr int64_t kMostEqualElements = 64;

bool IsNumber(const Array* constant, const Pattern& pattern) {
  if (constant == nullptr || constant->dtype() == DType::kString) return false;
  if (pattern.all_equal) {
    const int64_t count = constant->num_elements();
    if (count == 0 || count > kMostEqualElements) return false;
    for (int64_t i = 0; i < count; ++i) {
      if (constant->AsDouble(i) != pattern.number) return false;
    }
    return true;
  }
  const bool is_bf16 = constant->dtype() == DType::kBfloat16;
  if (!is_bf16 && constant->dtype() != DType::kFloat32) return false;
  // Twice the largest rounding error of the dtype, because a user may have rounded the number
  // before.
  const double limit = is_bf16 ? 0x1p-8 : 0x1p-23;
  return constant->num_elements() == 1 &&
         std::abs(constant->AsDouble() - pattern.number) <= limit * std::abs(pattern.number);
}

bool MatchOperands(const Module& module, const Pattern& pattern, const Node& node, Match* match) {
  const std::vector<Pattern>& operands = pattern.operands;
  if (node.inputs.size() < operands.size()) return false;
  // An input that the pattern does not mention would be lost, unless it is a constant.
  for (size_t i = operands.size(); i < node.inputs.size(); ++i) {
    if (module.constant(Root(module, node.inputs[i])) == nullptr) return false;
  }
  const auto match_in_order = [&](size_t first, Match* into) {
    for (size_t i = 0; i < operands.size(); ++i) {
      const size_t input = i > 1 ? i : i == 0 ? first : 1 - first;
      if (!MatchPattern(module, operands[i], node.inputs[input], into)) return false;
    }
    return true;
  };
  Match trial = *match;
  bool found = match_in_order(0, &trial);
  if (!found && operands.size() == 2 && TraitsOf(node.op).commutative) {
    trial = *match;  // without the names of the first attempt
    found = match_in_order(1, &trial);
  }
  if (found) *match = std::move(trial);
  return found;
}

// Matches an op, which may be below views of it, and sets `value` to its output.
bool MatchOp(const Module& module, const Pattern& pattern, Value* value, Match* match) {
  const Value root = pattern.direct ? *value : Root(module, *value);
  const Node& node = module.node(root);
  const std::vector<std::string>& ops = pattern.ops;
  // A pattern stands for output 0. The others, such as the moments of a batch norm, are other
  // values.
  if (node.kind != Node::Kind::kOp || root.output != 0 ||
      (!ops.empty() && std::find(ops.begin(), ops.end(), node.op) == ops.end()) ||
      !MatchOperands(module, pattern, node, match))
    return false;
  for (; *value != root; *value = module.node(*value).inputs[0]) match->nodes.insert(value->node);
  match->nodes.insert(root.node);
  return true;
}

bool MatchUnnamed(const Module& module, const Pattern& pattern, Value* value, Match* match) {
  const Array* const constant = module.constant(pattern.direct ? *value : Root(module, *value));
  switch (pattern.kind) {
    case Pattern::Kind::kAny:
      return true;
    case Pattern::Kind::kScalar:
      return constant != nullptr && constant->num_elements() == 1 &&
             constant->dtype() == DType::kFloat32;
    case Pattern::Kind::kNumber:
      return IsNumber(constant, pattern);
    case Pattern::Kind::kEither:
      return std::any_of(pattern.operands.begin(), pattern.operands.end(),
                         [&](const Pattern& p) { return MatchPattern(module, p, *value, match); });
    case Pattern::Kind::kOp:
      return MatchOp(module, pattern, value, match);
  }
  return false;
}

}  // namespace

Pattern Pattern::If(Condition new_condition) const {
  Pattern limited = *this;
  limited.condition = std::move(new_condition);
  return limited;
}

Pattern Any(const std::string& name) { return {.kind = Pattern::Kind::kAny, .name = name}; }

Pattern ScalarOf(const std::string& name) { return {.kind = Pattern::Kind::kScalar, .name = name}; }

Pattern NumberOf(double number) { return {.kind = Pattern::Kind::kNumber, .number = number}; }

Pattern AllOf(double number) {
  return {.kind = Pattern::Kind::kNumber, .number = number, .all_equal = true};
}

Pattern OpOf(const std::string& op, std::vector<Pattern> operands, const std::string& name) {
  return OneOf({op}, std::move(operands), name);
}

Pattern OneOf(std::vector<std::string> ops, std::vector<Pattern> operands,
              const std::string& name) {
  return {.kind = Pattern::Kind::kOp,
          .name = name,
          .ops = std::move(ops),
          .operands = std::move(operands)};
}

Pattern EitherOf(std::vector<Pattern> alternatives) {
  return {.kind = Pattern::Kind::kEither, .operands = std::move(alternatives)};
}

Pattern Direct(Pattern pattern) {
  pattern.direct = true;
  for (Pattern& operand : pattern.operands) operand = Direct(std::move(operand));
  return pattern;
}

bool MatchPattern(const Module& module, const Pattern& pattern, Value value, Match* match) {
  // A name that occurs twice in a pattern stands for one value.
  const auto bound = match->values.find(pattern.name);
  if (!pattern.name.empty() && bound != match->values.end()) {
    if (pattern.direct) return bound->second == value;
    if (Root(module, bound->second) != Root(module, value)) return false;
    // The views on the way to an op that is known belong to the match, too.
    if (pattern.kind == Pattern::Kind::kOp) {
      for (; IsView(module.node(value)); value = module.node(value).inputs[0])
        match->nodes.insert(value.node);
    }
    return true;
  }
  // A pattern that fails must not leave the names of its operands.
  Match trial = *match;
  if (!MatchUnnamed(module, pattern, &value, &trial)) return false;
  if (pattern.condition && !pattern.condition(module, value)) return false;
  if (!pattern.name.empty()) trial.values[pattern.name] = value;
  *match = std::move(trial);
  return true;
}

bool IsOp(const Node& node, absl::string_view op) {
  return node.kind == Node::Kind::kOp && node.op == op;
}

bool IsPlain(const Node& node) {
  return !node.attrs.has("data_format") || node.attrs.s("data_format") == kPlainFormat;
}

bool HasFlag(const Node& node, absl::string_view name) {
  return node.attrs.has(name) && node.attrs.b(name);
}

double ScalarValue(const Module& module, Value value) {
  return module.constant(Root(module, value))->AsDouble();
}

std::vector<int64_t> ConstantInts(const Module& module, Value value) {
  const Array* const array = module.constant(Root(module, value));
  if (array == nullptr || !IsInteger(array->dtype())) return {};
  const Array wide = array->Cast(DType::kInt64);
  return {wide.values<int64_t>().begin(), wide.values<int64_t>().end()};
}

bool ReducesOnly(const Module& module, Value reduction, bool last) {
  const Node& node = module.node(reduction);
  const int rank = module.spec(node.inputs[0]).shape.rank();
  std::set<int64_t> reduced;
  for (const int64_t axis : ConstantInts(module, node.inputs[1]))
    reduced.insert(axis < 0 ? axis + rank : axis);
  const bool has_last = reduced.count(rank - 1) > 0;
  return last ? has_last && reduced.size() == 1
              : !has_last && static_cast<int>(reduced.size()) == rank - 1;
}

}  // namespace estimator::ir
