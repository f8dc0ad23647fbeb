#include "estimator/runtime/passes/transformer/gradient_sum.h"

#include <algorithm>
#include <utility>

namespace estimator::ir {
namespace {

// The inputs of node `sum` that match, one for each pattern; empty if one is missing.
std::vector<Value> FindParts(const Module& module, const std::vector<Pattern>& patterns, int sum,
                             Match* match) {
  const std::vector<Value>& inputs = module.node(sum).inputs;
  Match trial = *match;
  std::vector<Value> parts;
  for (const Pattern& pattern : patterns) {
    const auto part = std::find_if(inputs.begin(), inputs.end(), [&](Value input) {
      // A part that occurs twice belongs to two gradients, which MergeEqual has made one.
      return std::count(inputs.begin(), inputs.end(), input) == 1 &&
             MatchPattern(module, pattern, input, &trial);
    });
    if (part == inputs.end()) return {};
    parts.push_back(*part);
  }
  *match = std::move(trial);
  return parts;
}

}  // namespace

GradientSum FindSum(const Module& module, const Rewriter& rewriter,
                    const std::vector<Pattern>& patterns, Value value, int steps, Match* match) {
  for (const int n : rewriter.readers(value)) {
    if (n < 0 || match->nodes.count(n) > 0) continue;
    if (IsOp(module.node(n), "AddN") || IsOp(module.node(n), "AddV2")) {
      GradientSum sum{.node = n, .parts = FindParts(module, patterns, n, match)};
      if (!sum.parts.empty()) return sum;
    }
    if (steps == 1) continue;
    GradientSum sum = FindSum(module, rewriter, patterns, {n, 0}, steps - 1, match);
    if (sum.node >= 0) return sum;
  }
  return {};
}

Value AddPartialSum(const Module& module, const GradientSum& sum, Rewriter& rewriter) {
  Node partial = module.node(sum.node);
  partial.inputs = sum.parts;
  return rewriter.Add(std::move(partial));
}

void UsePartialSum(Module& module, const GradientSum& sum, Value partial, Rewriter& rewriter) {
  Node& node = module.node(sum.node);
  std::erase_if(node.inputs, [&](Value input) {
    return std::count(sum.parts.begin(), sum.parts.end(), input) > 0;
  });
  // The layer is the only one that uses the value, so there is nothing else to add.
  if (node.inputs.empty()) return rewriter.Replace({sum.node, 0}, partial);
  node.inputs.push_back(partial);
  if (node.inputs.size() > 2) return;
  node.op = "AddV2";  // can be fused, AddN not
  node.attrs = {};
}

}  // namespace estimator::ir
