#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "estimator/runtime/passes/fuse.h"

namespace estimator::ir {
namespace {

Origin::Step StepOf(const Node& node, std::vector<Value> inputs) {
  return {.op = node.op,
          .name = node.name,
          .attrs = node.attrs,
          .inputs = std::move(inputs),
          .outputs = node.outputs};
}

// The fused node of `product`, `bias` and, unless null, `relu`.
Node MakeFused(const Node& product, const Node& bias, const Node* relu) {
  const Node& last = relu != nullptr ? *relu : bias;
  Node fused;
  fused.op = product.op == "Conv2D" ? "_FusedConv2D" : "_FusedMatMul";
  fused.name = last.name;
  fused.attrs = product.attrs;
  std::vector<std::string> ops = {"BiasAdd"};
  if (relu != nullptr) ops.push_back(relu->op);
  fused.attrs.Set("fused_ops", std::move(ops));
  fused.inputs = {product.inputs[0], product.inputs[1], bias.inputs[1]};
  fused.outputs = last.outputs;
  auto origin = std::make_shared<Origin>();
  origin->steps = {StepOf(product, {{-1, 0}, {-1, 1}}), StepOf(bias, {{0, 0}, {-1, 2}})};
  if (relu != nullptr) origin->steps.push_back(StepOf(*relu, {{1, 0}}));
  origin->outputs = {{static_cast<int>(origin->steps.size()) - 1, 0}};
  fused.origin = std::move(origin);
  return fused;
}

}  // namespace

void FuseBias(Module& module, KernelTier fastest) {
  const std::vector<std::vector<int>> readers = Readers(module);
  for (size_t n = 0; n < module.nodes.size(); ++n) {
    const Node& bias = module.nodes[n];
    if (bias.kind != Node::Kind::kOp || bias.op != "BiasAdd") continue;
    const int p = bias.inputs[0].node;
    const Node& product = module.nodes[static_cast<size_t>(p)];
    if (product.kind != Node::Kind::kOp || (product.op != "Conv2D" && product.op != "MatMul"))
      continue;
    if (OnlyReader(readers, p) != static_cast<int>(n)) continue;
    const int r = OnlyReader(readers, static_cast<int>(n));
    if (r >= 0 && module.nodes[static_cast<size_t>(r)].op == "Relu") {
      Node fused = MakeFused(product, bias, &module.nodes[static_cast<size_t>(r)]);
      if (FindKernel(module, fused, fastest)) {
        module.nodes[static_cast<size_t>(r)] = std::move(fused);
        module.num_fused_nodes += 3;
        continue;
      }
    }
    Node fused = MakeFused(product, bias, nullptr);
    if (!FindKernel(module, fused, fastest)) continue;
    module.nodes[n] = std::move(fused);
    module.num_fused_nodes += 2;
  }
  Compact(module);
}

}  // namespace estimator::ir
