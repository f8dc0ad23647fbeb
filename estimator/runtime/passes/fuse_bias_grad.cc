#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "estimator/kernels/layout.h"
#include "estimator/runtime/passes/find_kernel.h"
#include "estimator/runtime/passes/fuse.h"
#include "estimator/runtime/passes/transformer/pattern.h"

namespace estimator::ir {
namespace {

class BiasGradFuser {
 public:
  BiasGradFuser(Module& module, KernelTier fastest)
      : module_(module), fastest_(fastest), readers_(module), to_(module.nodes.size()) {}

  void Run() {
    const int count = static_cast<int>(module_.nodes.size());
    for (int n = 0; n < count; ++n) {
      const Node& node = module_.node(n);
      if (node.kind == Node::Kind::kOp && node.op == "BiasAddGrad") Visit(n);
    }
    ReplaceUses(module_, to_);
    Compact(module_);
  }

 private:
  void Visit(int n) {
    const Node& grad = module_.node(n);
    const Value x = grad.inputs[0], source = Root(module_, x);
    const bool plain =
        !grad.attrs.has("data_format") || grad.attrs.s("data_format") == kPlainFormat;
    if (!plain || module_.spec(x).shape.rank() > 3) return;
    if (module_.node(source).op == "_FusedElementwise") {
      SumInChain(n, source);
      return;
    }
    for (const int reader : readers_.of(source)) {
      if (reader >= 0 && module_.node(reader).op == "Cast" && SumInCast(n, x, reader)) return;
    }
  }

  // The chain that computes `source` computes the BiasAddGrad n of it too, and does not write it.
  void SumInChain(int n, Value source) {
    const Node grad = module_.node(n);
    Node fused = module_.node(source);
    const bool only_summed = readers_.of(source) == std::vector<int>{n};
    if (!only_summed || fused.outputs.size() == 1 || used_.count(source.node) > 0) return;
    // So that the sums are over the same elements, whatever view of the value `grad` reads.
    if (fused.outputs[0].shape[-1] != grad.outputs[0].shape[0]) return;
    std::vector<int64_t> outputs = fused.attrs.ints("outputs");
    const auto summed = static_cast<std::ptrdiff_t>(source.output);
    fused.op = "_FusedElementwiseSum";
    fused.attrs.Set("sum", At(outputs, summed));
    outputs.erase(outputs.begin() + summed);
    fused.attrs.Set("outputs", std::move(outputs));
    fused.outputs.erase(fused.outputs.begin() + summed);
    fused.outputs.push_back(grad.outputs[0]);
    if (fused.origin != nullptr) {
      auto origin = std::make_shared<Origin>(*fused.origin);
      origin->steps.push_back(StepOf(grad, {At(origin->outputs, summed)}));
      origin->outputs.erase(origin->outputs.begin() + summed);
      origin->outputs.push_back({static_cast<int>(origin->steps.size()) - 1, 0});
      fused.origin = std::move(origin);
    }
    if (!FindKernel(module_, fused, fastest_)) return;

    const int node = static_cast<int>(module_.nodes.size());
    int output = 0;
    for (int o = 0; o < static_cast<int>(fused.outputs.size()); ++o)
      At(to_, source.node).push_back(o == source.output ? Value{} : Value{node, output++});
    At(to_, n) = {{node, output}};
    used_.insert(source.node);
    module_.nodes.push_back(std::move(fused));
    ++module_.num_fused_nodes;
  }

  // The Cast `c`, which reads the same value as the BiasAddGrad n of x, computes both.
  bool SumInCast(int n, Value x, int c) {
    if (used_.count(c) > 0) return false;
    const Node grad = module_.node(n), cast = module_.node(c);
    if (cast.attrs.has("Truncate") && cast.attrs.b("Truncate")) return false;  // the kernel rounds
    Node fused;
    fused.op = "_FusedElementwiseSum";
    fused.name = cast.name;
    fused.inputs = {x};
    fused.outputs = {{cast.outputs[0].dtype, module_.spec(x).shape}, grad.outputs[0]};
    fused.attrs.Set("ops", std::vector<std::string>{"Cast"});
    fused.attrs.Set("args", std::vector<int64_t>{0, -1, -1});
    fused.attrs.Set("outputs", std::vector<int64_t>{1});
    fused.attrs.Set("sum", int64_t{0});
    auto origin = std::make_shared<Origin>();
    origin->steps = {StepOf(cast, {{-1, 0}}), StepOf(grad, {{-1, 0}})};
    origin->steps[0].outputs = {fused.outputs[0]};
    origin->outputs = {{0, 0}, {1, 0}};
    fused.origin = std::move(origin);
    if (!FindKernel(module_, fused, fastest_)) return false;

    const int node = static_cast<int>(module_.nodes.size());
    used_.insert(c);
    module_.nodes.push_back(std::move(fused));
    module_.nodes.push_back(MakeReshape({node, 0}, cast.outputs[0], cast.name));
    At(to_, c) = {{node + 1, 0}};
    At(to_, n) = {{node, 1}};
    module_.num_fused_nodes += 2;
    return true;
  }

  Module& module_;
  const KernelTier fastest_;
  const ValueReaders readers_;
  Replacements to_;
  std::set<int> used_;  // the chains and casts that sum a bias's gradient already
};

}  // namespace

void FuseBiasGrad(Module& module, KernelTier fastest) {
  if (fastest != KernelTier::kReference) BiasGradFuser(module, fastest).Run();
}

}  // namespace estimator::ir
