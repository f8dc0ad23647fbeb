// Patterns: trees of ops that describe how a value is computed.
//
//   const Pattern mean = OpOf("Mean", {Any("x")}, "mean");
//   Match match;
//   if (MatchPattern(module, OpOf("Sub", {Any("x"), mean}), value, &match)) match["x"] ...
//
// passes/rewriter.h replaces what a pattern has matched.
#ifndef ESTIMATOR_RUNTIME_PASSES_PATTERN_H_
#define ESTIMATOR_RUNTIME_PASSES_PATTERN_H_

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "estimator/runtime/ir.h"

namespace estimator::ir {

// A pattern with a name matches the same value wherever the name occurs.
struct Pattern {
  enum class Kind { kAny, kScalar, kNumber, kOp, kEither };
  using Condition = std::function<bool(const Module& module, Value value)>;

  Kind kind = Kind::kAny;
  std::string name = {};              // of the matched value; "": none
  std::vector<std::string> ops = {};  // of kOp: one of these; empty: any op
  std::vector<Pattern> operands = {};
  double number = 0;       // of kNumber
  bool all_equal = false;  // kNumber: see AllOf
  Condition condition = {};
  bool direct = false;  // views of the value do not match

  // The same pattern, for values that also meet `condition`.
  Pattern If(Condition condition) const;
};

// Any value.
Pattern Any(const std::string& name);
// A constant f32 of one element.
Pattern ScalarOf(const std::string& name);
// A constant f32 or bf16 of one element, which is `number` up to the rounding of its dtype.
Pattern NumberOf(double number);
// A constant of up to 64 elements of any dtype, all of which are exactly `number`.
Pattern AllOf(double number);
// Output 0 of an op. The operands of AddV2 and Mul match in either order. The op may have more
// inputs than the pattern has operands if they are constants (axes, a shape). Views of the value
// match too.
Pattern OpOf(const std::string& op, std::vector<Pattern> operands, const std::string& name = "");
// The same for one of several ops. Without any: for all ops, which a condition limits.
Pattern OneOf(std::vector<std::string> ops, std::vector<Pattern> operands,
              const std::string& name = "");
// The first of the alternatives that matches.
Pattern EitherOf(std::vector<Pattern> alternatives);
// The same tree, where views of a value do not match.
Pattern Direct(Pattern pattern);

// What a pattern has matched.
struct Match {
  std::map<std::string, Value> values;  // of each name
  std::set<int> nodes;                  // the ops, and the views between them

  bool has(const std::string& name) const { return values.count(name) > 0; }
  // REQUIRES: the name was matched.
  Value operator[](const std::string& name) const { return values.at(name); }
};

// Whether `value` is computed as `pattern` says. Names that `match` already has must match the same
// values. On success, adds names and nodes to `match`; otherwise leaves it as it is.
bool MatchPattern(const Module& module, const Pattern& pattern, Value value, Match* match);

// Conditions on a node.
bool IsOp(const Node& node, absl::string_view op);
// It has images in NHWC, which is the default, or no images.
bool IsPlain(const Node& node);
// Whether boolean attribute `name` is set; a missing one is false.
bool HasFlag(const Node& node, absl::string_view name);

// The value of a constant of one element, such as a ScalarOf. REQUIRES: it is one.
double ScalarValue(const Module& module, Value value);
// The integers of a constant, such as axes; empty if it is not one.
std::vector<int64_t> ConstantInts(const Module& module, Value value);
// Whether a Sum or Mean reduces the last axis alone. With `last` false: all axes but the last.
bool ReducesOnly(const Module& module, Value reduction, bool last);

}  // namespace estimator::ir

#endif  // ESTIMATOR_RUNTIME_PASSES_PATTERN_H_
