#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "estimator/kernels/op_traits.h"
#include "estimator/runtime/passes/find_kernel.h"
#include "estimator/runtime/passes/fuse.h"

namespace estimator::ir {
namespace {

// Nodes that are fused: the product, the bias and, if not null, the add and the activation after
// them.
struct Chain {
  const Node* product = nullptr;
  const Node* bias = nullptr;
  const Node* add = nullptr;
  Value side = {};  // the other operand of `add`
  const Node* activation = nullptr;

  int size() const { return 2 + (add != nullptr ? 1 : 0) + (activation != nullptr ? 1 : 0); }
};

// The fused op of a product; null if it has none.
const char* FusedOpOf(const Node& product) {
  return product.kind == Node::Kind::kOp ? TraitsOf(product.op).with_bias : nullptr;
}

Node MakeFused(const Chain& chain) {
  const Node& product = *chain.product;
  const Node& last = chain.activation != nullptr ? *chain.activation
                     : chain.add != nullptr      ? *chain.add
                                                 : *chain.bias;
  Node fused;
  fused.op = FusedOpOf(product);
  fused.name = last.name;
  fused.attrs = product.attrs;
  std::vector<std::string> ops = {"BiasAdd"};
  if (chain.activation != nullptr) {
    ops.push_back(chain.activation->op);
    if (chain.activation->attrs.has("alpha"))
      fused.attrs.Set("leakyrelu_alpha", chain.activation->attrs.f("alpha"));
  }
  fused.attrs.Set("fused_ops", std::move(ops));
  fused.inputs = {product.inputs[0], product.inputs[1], chain.bias->inputs[1]};
  if (chain.add != nullptr) fused.inputs.push_back(chain.side);
  fused.outputs = last.outputs;
  auto origin = std::make_shared<Origin>();
  origin->steps = {StepOf(product, {{-1, 0}, {-1, 1}}), StepOf(*chain.bias, {{0, 0}, {-1, 2}})};
  if (chain.add != nullptr) origin->steps.push_back(StepOf(*chain.add, {{1, 0}, {-1, 3}}));
  const int before = static_cast<int>(origin->steps.size()) - 1;
  if (chain.activation != nullptr)
    origin->steps.push_back(StepOf(*chain.activation, {{before, 0}}));
  origin->outputs = {{static_cast<int>(origin->steps.size()) - 1, 0}};
  fused.origin = std::move(origin);
  return fused;
}

class BiasFuser {
 public:
  BiasFuser(Module& module, KernelTier fastest, DType compute_dtype)
      : module_(module),
        fastest_(fastest),
        compute_dtype_(compute_dtype),
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
  // The only reader of node n; -1 if there is none. An add that was fused into an earlier chain is
  // gone, but is still in the list of nodes.
  int Next(int n) {
    const int reader = OnlyReader(readers_, n);
    return reader >= 0 && !At(gone_, reader) && at(reader).kind == Node::Kind::kOp ? reader : -1;
  }

  void Visit(int n) {
    const int p = at(n).inputs[0].node;
    const Node& product = at(p);
    if (FusedOpOf(product) == nullptr) return;
    if (OnlyReader(readers_, p) != n) return;
    Chain chain{.product = &product, .bias = &at(n)};
    int last = n;
    const int a = Next(n);
    if (a >= 0 && at(a).op == "AddV2") {
      Chain longer = chain;
      const size_t own = at(a).inputs[0].node == n ? 0 : 1;
      longer.side = at(a).inputs[1 - own];
      longer.add = &at(a);
      // Another shape would be broadcast. (If both operands are n, n has two readers, so a is -1.)
      if (module_.spec(longer.side) == at(n).outputs[0] &&
          (product.op != "MatMul" || KeepsItsTier(longer, chain))) {
        chain = longer;
        last = a;
      }
    }
    const int r = Next(last);
    if (r >= 0 && TraitsOf(at(r).op).activation) {
      Chain longer = chain;
      longer.activation = &at(r);
      if (KeepsItsTier(longer, chain)) {
        chain = longer;
        last = r;
      }
    }
    // Tries the longest chain first.
    if (Replace(last, chain)) return;
    chain.activation = nullptr;
    if (chain.add != nullptr && Replace(a, chain)) return;
    chain.add = nullptr;
    Replace(n, chain);
  }

  // Whether the longer chain runs on the tier of the shorter one, and like it with or without
  // conversions of bf16 operands (kernels/widened.h). An add or an activation in the same pass saves
  // less time than a slower product costs.
  bool KeepsItsTier(const Chain& longer, const Chain& shorter) const {
    KernelSpec of_longer = SpecOf(module_, MakeFused(longer)),
               of_shorter = SpecOf(module_, MakeFused(shorter));
    if (!RunAlike(of_longer, of_shorter)) return false;
    if (compute_dtype_ != DType::kBfloat16) return true;
    // NarrowProducts may cast the factors later.
    for (KernelSpec* spec : {&of_longer, &of_shorter}) {
      for (const int i : TraitsOf(spec->op).factors) At(spec->inputs, i).dtype = compute_dtype_;
    }
    return RunAlike(of_longer, of_shorter);
  }

  bool RunAlike(const KernelSpec& a, const KernelSpec& b) const {
    return AcceptingTier(a, fastest_) == AcceptingTier(b, fastest_) &&
           AcceptsUnwidened(a, fastest_) == AcceptsUnwidened(b, fastest_);
  }

  bool Replace(int last, const Chain& chain) {
    Node fused = MakeFused(chain);
    if (!FindKernel(module_, fused, fastest_)) return false;
    module_.num_fused_nodes += chain.size();
    for (const Node* node : {chain.product, chain.bias, chain.add, chain.activation}) {
      if (node != nullptr) At(gone_, node - module_.nodes.data()) = true;
    }
    at(last) = std::move(fused);
    At(gone_, last) = false;
    return true;
  }

  Module& module_;
  const KernelTier fastest_;
  const DType compute_dtype_;
  const std::vector<std::vector<int>> readers_;
  std::vector<bool> gone_;  // nodes that were fused into others
};

}  // namespace

void FuseBias(Module& module, KernelTier fastest, DType compute_dtype) {
  BiasFuser(module, fastest, compute_dtype).Run();
}

}  // namespace estimator::ir
