// Finds groups of nodes by the ops that compute a value, and replaces them by one fused node.
//
//   const Pattern mean = OpOf("Mean", {Any("x")}, "mean");
//   Match match;
//   if (MatchPattern(module, OpOf("Sub", {Any("x"), mean}), value, &match)) match["x"] ...
#ifndef ESTIMATOR_RUNTIME_PASSES_TRANSFORMER_PATTERN_H_
#define ESTIMATOR_RUNTIME_PASSES_TRANSFORMER_PATTERN_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "estimator/runtime/ir.h"

namespace estimator::ir {

// How a value is computed. A pattern with a name matches the same value wherever the name occurs.
struct Pattern {
  enum class Kind { kAny, kScalar, kNumber, kOp, kEither };
  Kind kind = Kind::kAny;
  std::string name = {};  // of the matched value; "": none
  std::string op = {};    // of kOp
  std::vector<Pattern> operands = {};
  double number = 0;  // of kNumber
};

// Any value.
Pattern Any(const std::string& name);
// A constant f32 of one element.
Pattern ScalarOf(const std::string& name);
// A constant f32 or bf16 of one element, which is `number` up to the rounding of its dtype.
Pattern NumberOf(double number);
// Output 0 of an op. The operands of AddV2 and Mul match in either order. The op may have more inputs
// than the pattern has operands if they are constants (axes, a shape). Views of the value match too.
Pattern OpOf(const std::string& op, std::vector<Pattern> operands, const std::string& name = "");
// The first of the alternatives that matches.
Pattern EitherOf(std::vector<Pattern> alternatives);

// What a pattern has matched.
struct Match {
  std::map<std::string, Value> values;  // of each name
  std::set<int> nodes;                  // the ops, and the views between them

  // REQUIRES: the name was matched.
  Value operator[](const std::string& name) const { return values.at(name); }
};

// Whether `value` is computed as `pattern` says. Names that `match` already has must match the same
// values. On success, adds names and nodes to `match`; otherwise leaves it as it is.
bool MatchPattern(const Module& module, const Pattern& pattern, Value value, Match* match);

// The value of a constant of one element, such as a ScalarOf. REQUIRES: it is one.
double ScalarValue(const Module& module, Value value);

// Whether a Sum or Mean reduces the last axis alone. With `last` false: all axes but the last.
bool ReducesOnly(const Module& module, Value reduction, bool last);

// The readers of each node, where a reader of a view also reads what it is a view of.
class ValueReaders {
 public:
  explicit ValueReaders(const Module& module);
  // The ops that read `value` or a view of it, in order. A fetch or an update is -1.
  const std::vector<int>& of(Value value) const;

 private:
  const Module& module_;
  std::map<Value, std::vector<int>> readers_;
};

// Whether no node, fetch or update but `nodes` reads the nodes in `nodes`, except for the values in
// `outputs`. Then the nodes disappear when a fused node computes the outputs.
bool OnlyReadInside(const Module& module, const std::vector<std::vector<int>>& readers,
                    const std::set<int>& nodes, const std::vector<Value>& outputs);

// Adds `fused`, whose op, attributes and inputs are given, to the module. Its outputs replace
// `outputs` in `to`, which the caller applies. `nodes` are what it replaces; they become its origin.
// Constants that only the origin needs are added to its inputs.
// Returns false, and leaves the module as it is, if no kernel accepts the node, or if the nodes need
// a value that is neither an input nor a constant.
bool AddFusedNode(Module& module, KernelTier fastest, Node fused, const std::vector<Value>& outputs,
                  const std::set<int>& nodes, Replacements& to);

}  // namespace estimator::ir

#endif  // ESTIMATOR_RUNTIME_PASSES_TRANSFORMER_PATTERN_H_
