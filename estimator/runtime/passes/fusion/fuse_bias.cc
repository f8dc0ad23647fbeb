#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "estimator/op_def/op_def.h"
#include "estimator/runtime/passes/fusion/fuse.h"
#include "estimator/runtime/passes/rewriter.h"

namespace estimator::ir {
namespace {

bool HasFusedOp(const Module& module, Value value) {
  return TraitsOf(module.node(value).op).with_bias != nullptr;
}
bool IsActivation(const Module& module, Value value) {
  return TraitsOf(module.node(value).op).activation;
}

class BiasFuser {
 public:
  BiasFuser(Module& module, KernelTier fastest, DType compute_dtype)
      : module_(module),
        fastest_(fastest),
        compute_dtype_(compute_dtype),
        rewriter_(module, fastest) {}

  void Run() {
    const Pattern product = OneOf({}, {Any("a"), Any("b")}, "product").If(HasFusedOp);
    rewriter_.ForEach(Direct(OpOf("BiasAdd", {product, Any("bias")}, "biased")),
                      [&](const Match& match) { Visit(match); });
    rewriter_.Finish();
  }

 private:
  void Visit(const Match& biased) {
    std::vector<Match> chains = {biased};  // from the shortest to the longest
    Match sum = biased;
    // Another shape of the other operand would be broadcast.
    if (rewriter_.MatchesOnlyReader(Direct(OpOf("AddV2", {Any("biased"), Any("side")}, "sum")),
                                    biased["biased"], &sum) &&
        module_.spec(sum["side"]) == module_.spec(biased["biased"]) &&
        (module_.node(biased["product"]).op != "MatMul" || KeepsItsTier(sum, biased)))
      chains.push_back(sum);
    Match activated = chains.back();
    const std::string last = activated.has("sum") ? "sum" : "biased";
    const Pattern activation = Direct(OneOf({}, {Any(last)}, "activated").If(IsActivation));
    if (rewriter_.MatchesOnlyReader(activation, activated[last], &activated) &&
        KeepsItsTier(activated, chains.back()))
      chains.push_back(activated);
    // A kernel may accept the bias alone, but not the shortcut or the activation after it.
    while (!chains.empty() && !Fuse(chains.back())) chains.pop_back();
  }

  static Value LastOf(const Match& chain) {
    return chain.has("activated") ? chain["activated"]
           : chain.has("sum")     ? chain["sum"]
                                  : chain["biased"];
  }

  Node MakeFused(const Match& chain) const {
    const Node& product = module_.node(chain["product"]);
    Node fused;
    fused.op = TraitsOf(product.op).with_bias;
    fused.attrs = product.attrs;
    std::vector<std::string> ops = {"BiasAdd"};
    if (chain.has("activated")) {
      const Node& activation = module_.node(chain["activated"]);
      ops.push_back(activation.op);
      if (activation.attrs.has("alpha"))
        fused.attrs.Set("leakyrelu_alpha", activation.attrs.f("alpha"));
    }
    fused.attrs.Set("fused_ops", std::move(ops));
    fused.inputs = {chain["a"], chain["b"], chain["bias"]};
    if (chain.has("sum")) fused.inputs.push_back(chain["side"]);
    fused.outputs = {module_.spec(LastOf(chain))};
    return fused;
  }

  bool Fuse(const Match& chain) {
    const Value last = LastOf(chain);
    return rewriter_.Fuse(chain.nodes,
                          {{.node = MakeFused(chain), .outputs = {last}, .place = last.node}});
  }

  // Whether the longer chain runs on the tier of the shorter one, and like it with or without
  // conversions of bf16 operands (kernels/widened.h). An add or an activation in the same pass
  // saves less time than a slower product costs.
  bool KeepsItsTier(const Match& longer, const Match& shorter) const {
    return KernelsOf(longer) == KernelsOf(shorter);
  }

  struct Choice {
    std::optional<KernelTier> tier;
    bool unwidened = false;
    friend bool operator==(const Choice&, const Choice&) = default;
  };
  // The kernels that compute the chain as it is and, if NarrowProducts may cast its factors, in
  // compute_dtype.
  std::array<Choice, 2> KernelsOf(const Match& chain) const {
    KernelSpec spec = SpecOf(module_, MakeFused(chain));
    const auto choice = [&] {
      return Choice{AcceptingTier(spec, fastest_), AcceptsUnwidened(spec, fastest_)};
    };
    std::array<Choice, 2> kernels = {choice(), {}};
    if (compute_dtype_ != DType::kBfloat16) return kernels;
    for (const int i : TraitsOf(spec.op).factors) At(spec.inputs, i).dtype = compute_dtype_;
    kernels[1] = choice();
    return kernels;
  }

  Module& module_;
  const KernelTier fastest_;
  const DType compute_dtype_;
  Rewriter rewriter_;
};

}  // namespace

void FuseBias(Module& module, KernelTier fastest, DType compute_dtype) {
  BiasFuser(module, fastest, compute_dtype).Run();
}

}  // namespace estimator::ir
