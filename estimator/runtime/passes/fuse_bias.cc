#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "estimator/kernels/op_traits.h"
#include "estimator/runtime/passes/find_kernel.h"
#include "estimator/runtime/passes/fuse.h"

namespace estimator::ir {
namespace {

// Nodes that are fused: the product, the bias and, if not null, the add and relu after them.
struct Chain {
  const Node* product = nullptr;
  const Node* bias = nullptr;
  const Node* add = nullptr;
  Value side = {};  // the other operand of `add`
  const Node* relu = nullptr;

  int size() const { return 2 + (add != nullptr ? 1 : 0) + (relu != nullptr ? 1 : 0); }
};

// The fused op of a product; null if it has none.
const char* FusedOpOf(const Node& product) {
  return product.kind == Node::Kind::kOp ? TraitsOf(product.op).with_bias : nullptr;
}

Node MakeFused(const Chain& chain) {
  const Node& product = *chain.product;
  const Node& last = chain.relu != nullptr  ? *chain.relu
                     : chain.add != nullptr ? *chain.add
                                            : *chain.bias;
  Node fused;
  fused.op = FusedOpOf(product);
  fused.name = last.name;
  fused.attrs = product.attrs;
  std::vector<std::string> ops = {"BiasAdd"};
  if (chain.relu != nullptr) ops.push_back(chain.relu->op);
  fused.attrs.Set("fused_ops", std::move(ops));
  fused.inputs = {product.inputs[0], product.inputs[1], chain.bias->inputs[1]};
  if (chain.add != nullptr) fused.inputs.push_back(chain.side);
  fused.outputs = last.outputs;
  auto origin = std::make_shared<Origin>();
  origin->steps = {StepOf(product, {{-1, 0}, {-1, 1}}), StepOf(*chain.bias, {{0, 0}, {-1, 2}})};
  if (chain.add != nullptr) origin->steps.push_back(StepOf(*chain.add, {{1, 0}, {-1, 3}}));
  const int before_relu = static_cast<int>(origin->steps.size()) - 1;
  if (chain.relu != nullptr) origin->steps.push_back(StepOf(*chain.relu, {{before_relu, 0}}));
  origin->outputs = {{static_cast<int>(origin->steps.size()) - 1, 0}};
  fused.origin = std::move(origin);
  return fused;
}

class BiasFuser {
 public:
  BiasFuser(Module& module, KernelTier fastest)
      : module_(module),
        fastest_(fastest),
        readers_(Readers(module)),
        gone_(module.nodes.size(), false) {}

  void Run() {
    for (int n = 0; n < static_cast<int>(module_.nodes.size()); ++n) {
      const Node& node = at(n);
      if (node.kind == Node::Kind::kOp && node.op == "BiasAdd") Visit(n);
    }
    Compact(module_);
  }

 private:
  Node& at(int n) { return module_.node(n); }
  // The only reader of node n, if its op is `op`; else -1. An add that was fused into an earlier
  // chain is gone, but is still in the list of nodes.
  int Next(int n, const char* op) {
    const int reader = OnlyReader(readers_, n);
    return reader >= 0 && !At(gone_, reader) && at(reader).op == op ? reader : -1;
  }

  void Visit(int n) {
    const int p = at(n).inputs[0].node;
    const Node& product = at(p);
    if (FusedOpOf(product) == nullptr) return;
    if (OnlyReader(readers_, p) != n) return;
    Chain chain{.product = &product, .bias = &at(n)};
    int a = Next(n, "AddV2");
    if (a >= 0) {
      const size_t own = at(a).inputs[0].node == n ? 0 : 1;
      chain.side = at(a).inputs[1 - own];
      // Another shape would be broadcast. (If both operands are n, n has two readers, so a is -1.)
      if (module_.spec(chain.side) == at(n).outputs[0]) chain.add = &at(a);
      if (chain.add == nullptr || !KeepsItsTier(chain)) {
        chain.add = nullptr;
        a = -1;
      }
    }
    // Tries the longest chain first.
    const int r = Next(a >= 0 ? a : n, "Relu");
    if (r >= 0) chain.relu = &at(r);
    if (r >= 0 && Replace(r, chain)) return;
    chain.relu = nullptr;
    if (a >= 0 && Replace(a, chain)) return;
    chain.add = nullptr;
    Replace(n, chain);
  }

  // Whether the product with the add runs on the tier of the product without it. The add saves less
  // time than a slower product costs.
  bool KeepsItsTier(const Chain& chain) const {
    if (chain.product->op != "MatMul") return true;
    const Chain bias{.product = chain.product, .bias = chain.bias};
    const auto tier = [&](const Chain& of) {
      return AcceptingTier(SpecOf(module_, MakeFused(of)), fastest_);
    };
    return tier(chain) == tier(bias);
  }

  bool Replace(int last, const Chain& chain) {
    Node fused = MakeFused(chain);
    if (!FindKernel(module_, fused, fastest_)) return false;
    module_.num_fused_nodes += chain.size();
    for (const Node* node : {chain.product, chain.bias, chain.add, chain.relu}) {
      if (node != nullptr) At(gone_, node - module_.nodes.data()) = true;
    }
    at(last) = std::move(fused);
    At(gone_, last) = false;
    return true;
  }

  Module& module_;
  const KernelTier fastest_;
  const std::vector<std::vector<int>> readers_;
  std::vector<bool> gone_;  // nodes that were fused into others
};

}  // namespace

void FuseBias(Module& module, KernelTier fastest) { BiasFuser(module, fastest).Run(); }

}  // namespace estimator::ir
