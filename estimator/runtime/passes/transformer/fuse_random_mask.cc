#include <utility>
#include <vector>

#include "estimator/runtime/passes/transformer/fuse_transformer.h"
#include "estimator/runtime/passes/transformer/pattern.h"

namespace estimator::ir {

void FuseRandomMask(Module& module, KernelTier fastest) {
  if (fastest == KernelTier::kReference) return;
  const std::vector<std::vector<int>> readers = Readers(module);
  const Pattern pattern =
      OpOf("GreaterEqual", {OpOf("RandomUniform", {Any("shape")}, "numbers"), ScalarOf("limit")},
           "mask");
  Replacements to(module.nodes.size());
  for (size_t n = 0; n < to.size(); ++n) {
    const Node& node = module.nodes[n];
    Match match;
    const Value mask{static_cast<int>(n), 0};
    if (node.op != "GreaterEqual" || !MatchPattern(module, pattern, mask, &match)) continue;
    const Value numbers = match["numbers"];
    if (!OnlyReadInside(module, readers, match.nodes, {mask}) ||
        !(module.spec(numbers).shape == node.outputs[0].shape))
      continue;
    Node fused;
    fused.op = "_RandomGreaterEqual";
    fused.attrs = module.node(numbers).attrs;
    fused.stateful = true;
    fused.inputs = {match["shape"], match["limit"]};
    AddFusedNode(module, fastest, std::move(fused), {mask}, match.nodes, to);
  }
  ReplaceUses(module, to);
  Compact(module);
}

}  // namespace estimator::ir
