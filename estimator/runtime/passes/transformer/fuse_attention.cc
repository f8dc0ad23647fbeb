#include <set>
#include <utility>
#include <vector>

#include "estimator/runtime/passes/transformer/fuse_transformer.h"
#include "estimator/runtime/passes/transformer/pattern.h"

namespace estimator::ir {
namespace {

// Which of the optional ops an attention has.
struct Form {
  bool bias = false;
  bool mask = false;
};

// [B, S, heads, D] `name` -> [B, heads, S, D] `name`_turned.
Pattern Turned(const std::string& name) { return OpOf("Transpose", {Any(name)}, name + "_turned"); }

Pattern ForwardPattern(const Form& form) {
  const Pattern scores = OpOf("BatchMatMulV2", {Turned("q"), Turned("k")}, "scores");
  const Pattern scaled = OpOf("Mul", {scores, ScalarOf("scale")});
  const Pattern p =
      OpOf("Softmax", {form.bias ? OpOf("AddV2", {scaled, Any("bias")}) : scaled}, "p");
  const Pattern kept =
      OpOf("SelectV2", {Any("mask"), OpOf("Mul", {p, ScalarOf("keep_scale")}), ScalarOf("zero")},
           "kept");
  return OpOf("Transpose", {OpOf("BatchMatMulV2", {form.mask ? kept : p, Turned("v")}, "context")},
              "y");
}

Pattern KeptGradient() { return OpOf("BatchMatMulV2", {Turned("dy"), Any("v_turned")}, "dkept"); }

// The gradient of the products of queries and keys.
Pattern ScoresGradient(const Form& form) {
  const Pattern dp = form.mask
                         ? OpOf("Mul",
                                {OpOf("SelectV2", {Any("mask"), Any("dkept"), ScalarOf("zero")}),
                                 ScalarOf("keep_scale")},
                                "dp")
                         : Any("dkept");
  const Pattern sum = OpOf("Sum", {OpOf("Mul", {dp, Any("p")})}, "sum");
  return OpOf("Mul", {OpOf("Mul", {OpOf("Sub", {dp, sum}), Any("p")}), ScalarOf("scale")},
              "dscores");
}

class AttentionFuser {
 public:
  AttentionFuser(Module& module, KernelTier fastest)
      : module_(module),
        fastest_(fastest),
        readers_(Readers(module)),
        value_readers_(module),
        to_(module.nodes.size()) {}

  void Run() {
    for (int n = 0; n < static_cast<int>(to_.size()); ++n) {
      if (module_.node(n).op != "Transpose") continue;
      for (const Form& form : {Form{true, true}, Form{true, false}, Form{false, true}, Form{}}) {
        Match match;
        if (!MatchPattern(module_, ForwardPattern(form), {n, 0}, &match)) continue;
        Visit(form, match);
        break;
      }
    }
    ReplaceUses(module_, to_);
    Compact(module_);
  }

 private:
  // Whether a Transpose exchanges the axes of positions and heads.
  bool IsTurn(Value value) const {
    const Node& node = module_.node(value);
    const Array* const axes = module_.constant(Root(module_, node.inputs[1]));
    if (axes == nullptr || axes->num_elements() != 4) return false;
    for (int64_t i = 0; i < 4; ++i) {
      const auto axis = static_cast<int64_t>(axes->AsDouble(i));
      if (axis != (i == 1 ? 2 : i == 2 ? 1 : i)) return false;
    }
    return true;
  }
  bool IsProduct(Value value, bool adj_x, bool adj_y) const {
    const Attrs& attrs = module_.node(value).attrs;
    const auto flag = [&attrs](const char* name) { return attrs.has(name) && attrs.b(name); };
    return flag("adj_x") == adj_x && flag("adj_y") == adj_y;
  }
  bool IsZero(const Form& form, const Match& match) const {
    return !form.mask || ScalarValue(module_, match["zero"]) == 0;
  }

  void Visit(const Form& form, const Match& forward) {
    for (const char* turn : {"q_turned", "k_turned", "v_turned", "y"}) {
      if (!IsTurn(forward[turn])) return;
    }
    if (!IsProduct(forward["scores"], false, true) ||
        !IsProduct(forward["context"], false, false) || !IsZero(form, forward))
      return;
    Match whole = forward;
    const bool has_gradient = FindGradient(form, &whole);
    std::vector<Value> outputs = {forward["y"]}, gradients;
    if (has_gradient) gradients = {whole["dq"], whole["dk"], whole["dv"]};
    std::vector<Value> all = gradients;
    all.push_back(forward["y"]);
    if (!OnlyReadInside(module_, readers_, whole.nodes, all)) return;

    Node node;
    node.op = "_Attention";
    node.attrs = AttrsOf(form, forward);
    node.inputs = InputsOf(form, forward);
    if (!AddFusedNode(module_, fastest_, std::move(node), outputs, forward.nodes, to_)) return;
    if (!has_gradient) return;
    Node gradient;
    gradient.op = "_AttentionGrad";
    gradient.attrs = AttrsOf(form, forward);
    gradient.inputs = InputsOf(form, forward);
    gradient.inputs.insert(gradient.inputs.begin(), whole["dy"]);
    AddFusedNode(module_, fastest_, std::move(gradient), gradients, whole.nodes, to_);
  }

  Attrs AttrsOf(const Form& form, const Match& match) const {
    Attrs attrs;
    attrs.Set("has_bias", form.bias);
    attrs.Set("has_mask", form.mask);
    attrs.Set("scale", static_cast<float>(ScalarValue(module_, match["scale"])));
    attrs.Set("keep_scale",
              form.mask ? static_cast<float>(ScalarValue(module_, match["keep_scale"])) : 1.0f);
    return attrs;
  }
  static std::vector<Value> InputsOf(const Form& form, const Match& match) {
    std::vector<Value> inputs = {match["q"], match["k"], match["v"]};
    if (form.bias) inputs.push_back(match["bias"]);
    if (form.mask) inputs.push_back(match["mask"]);
    return inputs;
  }

  // Finds the gradients, and adds their names and nodes to `match`.
  bool FindGradient(const Form& form, Match* match) const {
    Match trial = *match;
    const bool found =
        Find(KeptGradient(), (*match)["v_turned"], false, true, &trial) &&
        Find(OpOf("BatchMatMulV2", {Any(form.mask ? "kept" : "p"), Any("dy_turned")}, "dv_turned"),
             trial["dy_turned"], true, false, &trial) &&
        Find(OpOf("BatchMatMulV2", {ScoresGradient(form), Any("k_turned")}, "dq_turned"),
             trial["k_turned"], false, false, &trial) &&
        Find(OpOf("BatchMatMulV2", {Any("dscores"), Any("q_turned")}, "dk_turned"),
             trial["q_turned"], true, false, &trial) &&
        FindTurn("dq", &trial) && FindTurn("dk", &trial) && FindTurn("dv", &trial) &&
        IsTurn(trial["dy_turned"]) && ReducesOnly(module_, trial["sum"], /*last=*/true);
    if (found) *match = std::move(trial);
    return found;
  }

  // Finds a reader of `value` that matches the pattern of a product.
  bool Find(const Pattern& pattern, Value value, bool adj_x, bool adj_y, Match* match) const {
    for (const int n : value_readers_.of(value)) {
      if (n >= 0 && match->nodes.count(n) == 0 && module_.node(n).op == pattern.op &&
          IsProduct({n, 0}, adj_x, adj_y) && MatchPattern(module_, pattern, {n, 0}, match))
        return true;
    }
    return false;
  }
  // Finds the Transpose that makes gradient `name` from `name`_turned.
  bool FindTurn(const std::string& name, Match* match) const {
    const Pattern pattern = OpOf("Transpose", {Any(name + "_turned")}, name);
    for (const int n : value_readers_.of((*match)[name + "_turned"])) {
      if (n >= 0 && module_.node(n).op == "Transpose" && IsTurn({n, 0}) &&
          MatchPattern(module_, pattern, {n, 0}, match))
        return true;
    }
    return false;
  }

  Module& module_;
  const KernelTier fastest_;
  const std::vector<std::vector<int>> readers_;
  const ValueReaders value_readers_;
  Replacements to_;
};

}  // namespace

void FuseAttention(Module& module, KernelTier fastest) {
  if (fastest != KernelTier::kReference) AttentionFuser(module, fastest).Run();
}

}  // namespace estimator::ir
