#include <memory>
#include <utility>
#include <vector>

#include "estimator/runtime/passes/fusion/fuse.h"
#include "estimator/runtime/passes/rewriter.h"

namespace estimator::ir {
namespace {

Attrs WindowOf(const Node& node) {
  Attrs window;
  for (const char* name : {"ksize", "strides", "padding"}) {
    const auto it = node.attrs.values().find(name);
    if (it != node.attrs.values().end()) window.Set(name, it->second);
  }
  // An op may omit data_format; this is TensorFlow's default.
  window.Set("data_format", node.attrs.has("data_format") ? node.attrs.s("data_format") : "NHWC");
  return window;
}

Node WithArgmax(const Node& pool) {
  Node node = pool;
  node.op = "_MaxPoolWithArgmax";
  node.outputs = {pool.outputs[0], {DType::kUint8, pool.outputs[0].shape}};
  // For --check_kernels: the plain op gives the maxima, but only the fused op gives their places.
  auto origin = std::make_shared<Origin>();
  const Value maxima = AppendSteps(pool, {{-1, 0}}, *origin)[0];
  origin->outputs = {maxima, AppendSteps(node, {{-1, 0}}, *origin)[1]};
  node.origin = std::move(origin);
  return node;
}

}  // namespace

void FusePool(Module& module, KernelTier fastest) {
  Rewriter rewriter(module, fastest);
  const Pattern pool = OneOf({"MaxPool", "_MaxPoolWithArgmax"}, {Any("x")}, "y");
  const Pattern grad = OpOf("MaxPoolGrad", {Any("x"), pool, Any("dy")}, "dx");
  rewriter.ForEach(Direct(grad), [&](Match& match) {
    const Value y = match["y"], dx = match["dx"];
    const Node& forward = module.node(y);
    if (!(WindowOf(forward) == WindowOf(module.node(dx)))) return;
    Node backward = {.op = "_MaxPoolGradWithArgmax", .attrs = module.node(dx).attrs};
    backward.attrs.Set("input_shape", module.spec(match["x"]).shape.dims());
    backward.inputs = {{y.node, 1}, match["dy"]};
    const bool relu = rewriter.MatchesOnlyReader(
        Direct(OpOf("ReluGrad", {Any("dx"), Any("x")}, "last")), dx, &match);
    if (relu) backward.inputs.push_back(y);
    const Value last = relu ? match["last"] : dx;
    std::vector<Fusion> fusions;
    if (forward.op == "MaxPool") {
      fusions.push_back({.node = WithArgmax(forward), .outputs = {y}, .place = y.node});
    } else {
      match.nodes.erase(y.node);  // a second gradient of the pool uses the same argmax
    }
    fusions.push_back({.node = std::move(backward),
                       .outputs = {last},
                       .place = last.node,
                       .has_reference = true});
    rewriter.Fuse(match.nodes, std::move(fusions));
  });
  rewriter.Finish();
}

}  // namespace estimator::ir
