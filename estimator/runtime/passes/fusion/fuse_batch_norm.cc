#include <string>
#include <utility>
#include <vector>

#include "estimator/runtime/passes/fusion/fuse.h"
#include "estimator/runtime/passes/rewriter.h"

namespace estimator::ir {
namespace {

// All outputs of node n, the first of which is `first`.
std::vector<Value> OutputsOf(const Module& module, int n, Value first) {
  std::vector<Value> outputs = {first};
  for (int o = 1; o < static_cast<int>(module.node(n).outputs.size()); ++o)
    outputs.push_back({n, o});
  return outputs;
}

Node WithActivation(const Node& norm, const char* op, const std::string& activation, bool side) {
  Node fused{.op = op, .attrs = norm.attrs, .inputs = norm.inputs};
  fused.attrs.Set("activation_mode", activation);
  fused.attrs.Set("num_side_inputs", int64_t{side ? 1 : 0});
  return fused;
}

// Fuses the gradient of a batch norm that was fused.
void FuseBatchNormGradient(const Module& module, const std::string& activation, Match match,
                           Rewriter& rewriter) {
  const bool side = match.has("side");
  match.values["mean_and_more"] = {match["norm"].node, 3};
  const Pattern dsum = OpOf(activation + "Grad", {Any("dy"), Any("y")}, "dsum");
  const Pattern gradient =
      Direct(OpOf("FusedBatchNormGradV3",
                  {dsum, Any("x"), Any(""), Any("mean_and_more"), Any(""), Any("")}, "dx"));
  // The forward nodes are replaced already. From here on, the match has only nodes of the gradient.
  match.nodes.clear();
  // The gradient of the activation reads y, and that of the norm is one op above.
  if (!rewriter.FindAbove(gradient, match["y"], &match, /*steps=*/2)) return;
  const Node& plain = module.node(match["dx"]);
  Node fused = WithActivation(plain, "_FusedBatchNormGradEx", activation, side);
  fused.inputs[0] = match["dy"];
  fused.inputs.push_back(match["offset"]);
  fused.inputs.push_back(match["y"]);
  std::vector<Value> outputs = OutputsOf(module, match["dx"].node, match["dx"]);
  // Without a side input the fused node does not output the gradient before the activation, so no
  // other node may need it.
  if (side) outputs.push_back(match["dsum"]);
  rewriter.Fuse(
      match.nodes,
      {{.node = std::move(fused), .outputs = std::move(outputs), .place = match["dx"].node}});
}

}  // namespace

void FuseBatchNorm(Module& module, KernelTier fastest) {
  Rewriter rewriter(module, fastest);
  const Pattern norm =
      OpOf("FusedBatchNormV3", {Any("x"), Any("scale"), Any("offset"), Any(""), Any("")}, "norm");
  rewriter.ForEach(Direct(norm), [&](Match& match) {
    const int n = match["norm"].node;
    const bool side = rewriter.MatchesOnlyReader(
        Direct(OpOf("AddV2", {Any("norm"), Any("side")}, "sum")), match["norm"], &match);
    // If the side input depends on another output of the batch norm, fusing would make a cycle.
    if (side && (!(module.spec(match["side"]) == module.spec(match["norm"])) ||
                 NodesBelow(module, {match["side"]}, [n](Value value) {
                   return value.node >= n;  // what is before n does not depend on it
                 }).count(n) > 0))
      return;
    const std::string sum = side ? "sum" : "norm";
    if (!rewriter.MatchesOnlyReader(Direct(OneOf({"Relu", "Relu6"}, {Any(sum)}, "y")), match[sum],
                                    &match))
      return;
    const int y = match["y"].node;
    const std::string activation = module.node(y).op;
    Node fused = WithActivation(module.node(n), "_FusedBatchNormEx", activation, side);
    if (side) fused.inputs.push_back(match["side"]);
    if (rewriter.Fuse(
            match.nodes,
            {{.node = std::move(fused), .outputs = OutputsOf(module, n, match["y"]), .place = y}}))
      FuseBatchNormGradient(module, activation, match, rewriter);
  });
  rewriter.Finish();
}

}  // namespace estimator::ir
