#include "estimator/runtime/passes/rewriter.h"
#include "estimator/runtime/passes/transformer/fuse_transformer.h"

namespace estimator::ir {

void FuseRandomMask(Module& module, KernelTier fastest) {
  Rewriter rewriter(module, fastest);
  const Pattern numbers = OpOf("RandomUniform", {Any("shape")}, "numbers");
  const Pattern mask = OpOf("GreaterEqual", {numbers, ScalarOf("limit")}, "mask");
  rewriter.ForEach(mask, [&](const Match& match) {
    const Node& random = module.node(match["numbers"]);
    // A limit of higher rank, such as [1,1,1], gives the mask another shape than the numbers.
    if (!(random.outputs[0].shape == module.spec(match["mask"]).shape)) return;
    rewriter.Fuse(match.nodes, {{.node = {.op = "_RandomGreaterEqual",
                                          .attrs = random.attrs,
                                          .inputs = {match["shape"], match["limit"]},
                                          .stateful = true},
                                 .outputs = {match["mask"]}}});
  });
  rewriter.Finish();
}

}  // namespace estimator::ir
