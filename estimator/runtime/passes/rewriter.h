// Rewriter: replaces nodes that a pattern has matched. A pass that fuses has its patterns and what
// it makes of a match; everything else is here.
//
//   Rewriter rewriter(module, fastest);
//   const Pattern sum = OpOf("AddV2", {Any("a"), Any("b")});
//   rewriter.ForEach(OpOf("Relu", {sum}, "y"), [&](const Match& match) {
//     rewriter.Fuse(match.nodes, {{.node = {.op = "_AddRelu", .inputs = {match["a"], match["b"]}},
//                                  .outputs = {match["y"]}}});
//   });
//   rewriter.Finish();
#ifndef ESTIMATOR_RUNTIME_PASSES_REWRITER_H_
#define ESTIMATOR_RUNTIME_PASSES_REWRITER_H_

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "estimator/runtime/ir.h"
#include "estimator/runtime/passes/pattern.h"

namespace estimator::ir {

// A new node, and the values that it computes instead of the nodes before.
struct Fusion {
  // Op, attributes and inputs are given. The name is that of the first output, unless it is given.
  // The specs are those of `outputs`; a node with more outputs than that gives them all.
  Node node;
  std::vector<Value> outputs;
  // The node whose number it takes; -1: it runs as late as it can. The order in which nodes run
  // depends on this alone.
  int place = -1;
  KernelTier slowest = KernelTier::kReference;  // of the kernels that pay
  // The op has a reference kernel, with which --check_kernels compares. Else it compares with the
  // nodes that are replaced.
  bool has_reference = false;
};

// The readers of values are those from before the first change. So each node is rewritten once: a
// pattern does not match nodes that were replaced.
class Rewriter {
 public:
  // `module` must not change in other ways than by the node that a visit looks at.
  explicit Rewriter(Module& module, KernelTier fastest = KernelTier::kReference);

  // Calls `visit` with the matches of `pattern` in the order of the nodes, without new nodes.
  void ForEach(const Pattern& pattern, const std::function<void(Match&)>& visit);
  // As MatchPattern, without nodes that were replaced.
  bool Matches(const Pattern& pattern, Value value, Match* match) const;

  // The ops that read `value` or a view of it, in order. An op that reads it twice is listed twice.
  // A fetch or an update is -1.
  const std::vector<int>& readers(Value value) const;
  // Its only reader; -1 if there are several, or if it is a fetch or an update.
  int OnlyReader(Value value) const;
  // Whether the only reader of `value` matches.
  bool MatchesOnlyReader(const Pattern& pattern, Value value, Match* match) const;
  // Finds a match among the nodes that are up to `steps` ops above `value` and not in `match`.
  bool FindAbove(const Pattern& pattern, Value value, Match* match, int steps = 1) const;
  // Whether only `nodes`, and node `also`, read the values of `nodes`, except for `outputs`. Then
  // the nodes disappear when other nodes compute the outputs.
  bool OnlyReadInside(const std::set<int>& nodes, const std::vector<Value>& outputs,
                      int also = -1) const;

  // Whether a kernel of a tier from `slowest` on accepts `node`, which SelectKernels will then
  // take. False if the reference tier is the fastest, because it has only plain ops.
  //   widened: kernels/widened.h counts, which computes bf16 in f32.
  bool Accepts(Node& node, KernelTier slowest = KernelTier::kReference, bool widened = true) const;
  // Replaces `nodes`, if all new nodes have kernels and if only `nodes` read the values in between.
  // Returns false, and leaves the module as it is, otherwise.
  //   rewritten: another reader, which the caller will change; -1: none.
  bool Fuse(const std::set<int>& nodes, std::vector<Fusion> fusions, int rewritten = -1);

  // Adds a node, which runs as late as it can, and returns its output 0.
  Value Add(Node node) { return module_.Add(std::move(node)); }
  // Adds an op with one output.
  Value AddOp(const std::string& op, std::vector<Value> inputs, const TensorSpec& output,
              const std::string& name, Attrs attrs = {});
  Value AddCast(Value value, DType to, const std::string& name);
  // All readers of `from` will read `to`.
  void Replace(Value from, Value to);
  bool is_replaced(int n) const { return replaced_.count(n) > 0; }

  // Lets node n read what its inputs were replaced by, before Finish.
  void UpdateInputs(int n) { ReplaceInputs(module_.node(n), to_); }

  // Replaces the values, and removes what no one needs. Call it once, at the end.
  void Finish();

 private:
  bool Complete(const std::set<int>& nodes, Fusion& fusion) const;
  bool SetOrigin(const std::set<int>& nodes, Fusion& fusion) const;

  Module& module_;
  const KernelTier fastest_;
  std::map<Value, std::vector<int>> readers_;
  std::set<int> replaced_;
  Replacements to_;
};

}  // namespace estimator::ir

#endif  // ESTIMATOR_RUNTIME_PASSES_REWRITER_H_
