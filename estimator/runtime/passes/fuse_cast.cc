#include <memory>
#include <string>
#include <typeinfo>
#include <utility>
#include <vector>

#include "estimator/runtime/passes/fuse.h"

namespace estimator::ir {
namespace {

bool AccumulatesInFloat32(const std::string& op) {
  return op == "MatMul" || op == "_FusedMatMul" || op == "BatchMatMulV2" ||
         op == "Conv2DBackpropFilter" || op == "BiasAddGrad" || op == "Sum" || op == "Mean";
}

// As FindKernel, but not with a kernel of the reference tier: these take one dtype, that of the
// first input, and do not check that of the output.
bool FindFastKernel(const Module& module, Node& node, KernelTier fastest) {
  if (!FindKernel(module, node, fastest)) return false;
  const auto reference = CreateKernel(SpecOf(module, node), KernelTier::kReference);
  if (!reference.ok()) return true;
  const Kernel &fast = *node.kernel, &slow = **reference;
  return typeid(fast) != typeid(slow);
}

Node WithFloat32Output(const Node& producer, const Node& cast) {
  Node node = producer;
  node.name = cast.name;
  node.outputs = cast.outputs;
  auto origin = std::make_shared<Origin>();
  if (producer.origin != nullptr) {
    *origin = *producer.origin;
  } else {
    std::vector<Value> inputs;
    for (int i = 0; i < static_cast<int>(producer.inputs.size()); ++i) inputs.push_back({-1, i});
    origin->steps = {StepOf(producer, std::move(inputs))};
    origin->outputs = {{0, 0}};
  }
  origin->steps.push_back(StepOf(cast, {origin->outputs[0]}));
  origin->outputs = {{static_cast<int>(origin->steps.size()) - 1, 0}};
  node.origin = std::move(origin);
  node.kernel = nullptr;
  return node;
}

}  // namespace

void FuseCast(Module& module, KernelTier fastest) {
  const std::vector<std::vector<int>> readers = Readers(module);
  for (int n = 0; n < static_cast<int>(module.nodes.size()); ++n) {
    Node& cast = module.node(n);
    if (cast.kind != Node::Kind::kOp || cast.op != "Cast") continue;
    if (cast.outputs[0].dtype != DType::kFloat32) continue;
    const Value input = cast.inputs[0];
    const Node& producer = module.node(input);
    if (producer.kind != Node::Kind::kOp || !AccumulatesInFloat32(producer.op)) continue;
    if (producer.outputs.size() != 1 || producer.outputs[0].dtype != DType::kBfloat16) continue;
    if (OnlyReader(readers, input.node) != n) continue;
    Node wide = WithFloat32Output(producer, cast);
    if (!FindFastKernel(module, wide, fastest)) continue;
    cast = std::move(wide);
    module.num_fused_nodes += 2;
  }
  Compact(module);
}

}  // namespace estimator::ir
