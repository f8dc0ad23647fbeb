#include <memory>
#include <utility>
#include <vector>

#include "estimator/runtime/passes/find_kernel.h"
#include "estimator/runtime/passes/fuse.h"

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
  const auto step = [&](const Node& of) {
    return Origin::Step{.op = of.op,
                        .name = of.name,
                        .attrs = of.attrs,
                        .inputs = {{-1, 0}},
                        .outputs = of.outputs};
  };
  // For --check_kernels: the plain op gives the maxima, but only the fused op gives their places.
  auto origin = std::make_shared<Origin>();
  origin->steps = {step(pool), step(node)};
  origin->outputs = {{0, 0}, {1, 1}};
  node.origin = std::move(origin);
  return node;
}

class PoolFuser {
 public:
  PoolFuser(Module& module, KernelTier fastest)
      : module_(module), fastest_(fastest), readers_(Readers(module)) {}

  void Run() {
    for (size_t n = 0; n < readers_.size(); ++n) {
      const Node& grad = module_.nodes[n];
      if (grad.kind == Node::Kind::kOp && grad.op == "MaxPoolGrad") Visit(static_cast<int>(n));
    }
    Compact(module_);
  }

 private:
  Node& at(int n) { return module_.node(n); }

  void Visit(int n) {
    const Node& grad = at(n);
    const Value x = grad.inputs[0], y = grad.inputs[1], dy = grad.inputs[2];
    Node& pool = at(y.node);
    if (pool.kind != Node::Kind::kOp || pool.inputs.empty() || pool.inputs[0] != x || y.output != 0)
      return;
    if (!(WindowOf(pool) == WindowOf(grad))) return;
    // A second gradient of the pool uses the same argmax.
    const bool shared = pool.op == "_MaxPoolWithArgmax";
    if (!shared && pool.op != "MaxPool") return;
    Node forward = shared ? pool : WithArgmax(pool);
    if (!shared && !FindKernel(module_, forward, fastest_)) return;

    const int r = OnlyReader(readers_, n);
    const bool relu =
        r >= 0 && at(r).op == "ReluGrad" && at(r).inputs[0].node == n && at(r).inputs[1] == x;
    const int last = relu ? r : n;
    Node backward;
    backward.op = "_MaxPoolGradWithArgmax";
    backward.name = at(last).name;
    backward.attrs = grad.attrs;
    backward.attrs.Set("input_shape", module_.spec(x).shape.dims());
    backward.outputs = at(last).outputs;
    // The backward node has an output of the forward node as its input, so FindKernel needs the
    // forward node in the module.
    std::swap(pool, forward);
    backward.inputs = {{y.node, 1}, dy};
    if (relu) backward.inputs.push_back(y);
    if (!FindKernel(module_, backward, fastest_)) {
      std::swap(pool, forward);
      return;
    }
    at(last) = std::move(backward);
    module_.num_fused_nodes += (relu ? 2 : 1) + (shared ? 0 : 1);
  }

  Module& module_;
  const KernelTier fastest_;
  const std::vector<std::vector<int>> readers_;
};

}  // namespace

void FusePool(Module& module, KernelTier fastest) { PoolFuser(module, fastest).Run(); }

}  // namespace estimator::ir
