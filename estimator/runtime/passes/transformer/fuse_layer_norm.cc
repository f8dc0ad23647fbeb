#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "estimator/runtime/passes/transformer/fuse_transformer.h"
#include "estimator/runtime/passes/transformer/pattern.h"

namespace estimator::ir {
namespace {

Pattern MeanPattern() { return OpOf("Mean", {Any("x")}, "mean"); }

// y = x factor + (beta - mean factor), factor = rstd gamma
Pattern ForwardPattern() {
  const Pattern variance =
      OpOf("Mean", {OpOf("SquaredDifference", {Any("x"), MeanPattern()})}, "variance");
  const Pattern rstd = OpOf("Rsqrt", {OpOf("AddV2", {variance, ScalarOf("epsilon")})}, "rstd");
  const Pattern factor = OpOf("Mul", {rstd, Any("gamma")}, "factor");
  return OpOf("AddV2",
              {OpOf("Mul", {factor, Any("x")}),
               OpOf("Sub", {Any("beta"), OpOf("Mul", {MeanPattern(), factor})})},
              "y");
}

// The three parts of dx, and what they share. Gradients() adds them up with one AddN.
Pattern NegatedPattern() { return OpOf("Neg", {Any("dy")}, "negated"); }
Pattern DFactorPattern() {
  return OpOf("AddV2",
              {OpOf("Mul", {Any("x"), Any("dy")}), OpOf("Mul", {Any("mean"), NegatedPattern()})},
              "dfactor");
}
Pattern ByValuePattern() { return OpOf("Mul", {Any("factor"), Any("dy")}, "by_value"); }
Pattern ByVariancePattern() {
  const Pattern drstd = OpOf("Sum", {OpOf("Mul", {Any("gamma"), DFactorPattern()})}, "drstd");
  const Pattern cube = OpOf("Mul", {OpOf("Mul", {Any("rstd"), Any("rstd")}), Any("rstd")});
  const Pattern dvariance =
      OpOf("RealDiv", {OpOf("Mul", {OpOf("Mul", {drstd, ScalarOf("minus_half")}), cube}),
                       ScalarOf("count_of_variance")});
  return OpOf("Mul",
              {OpOf("Mul", {OpOf("BroadcastTo", {dvariance}), ScalarOf("two")}),
               OpOf("Sub", {Any("x"), Any("mean")})},
              "by_variance");
}
Pattern ByMeanPattern() {
  const Pattern dmean = OpOf("Sum", {OpOf("Mul", {NegatedPattern(), Any("factor")})}, "dmean");
  return OpOf("BroadcastTo", {OpOf("RealDiv", {dmean, ScalarOf("count_of_mean")})}, "by_mean");
}

class LayerNormFuser {
 public:
  LayerNormFuser(Module& module, KernelTier fastest)
      : module_(module),
        fastest_(fastest),
        readers_(Readers(module)),
        value_readers_(module),
        to_(module.nodes.size()) {}

  void Run() {
    const Pattern forward = ForwardPattern();
    for (int n = 0; n < static_cast<int>(to_.size()); ++n) {
      Match match;
      if (module_.node(n).op == "AddV2" && MatchPattern(module_, forward, {n, 0}, &match))
        Visit(match);
    }
    ReplaceUses(module_, to_);
    Compact(module_);
  }

 private:
  const Shape& ShapeOf(Value value) const { return module_.spec(value).shape; }

  bool Reduces(Value reduction, bool last) const { return ReducesOnly(module_, reduction, last); }
  bool IsChannels(Value value, int64_t channels) const { return ShapeOf(value) == Shape{channels}; }

  void Visit(const Match& forward) {
    const Value x = forward["x"];
    const Shape& shape = ShapeOf(x);
    if (module_.spec(x).dtype != DType::kFloat32 || shape.rank() < 2) return;
    if (!(ShapeOf(forward["y"]) == shape) || !IsChannels(forward["gamma"], shape[-1]) ||
        !IsChannels(forward["beta"], shape[-1]) || !Reduces(forward["mean"], true) ||
        !Reduces(forward["variance"], true))
      return;
    Match backward = forward;
    std::vector<Value> gradients, parts;
    int sum = -1;
    const bool has_gradient = FindGradient(&backward, &gradients, &parts, &sum);
    const std::vector<Value> outputs = {forward["y"], forward["mean"], forward["rstd"]};
    std::vector<Value> all = outputs;
    for (const Value& gradient : gradients) all.push_back(gradient);
    // The AddN reads the parts from outside of the match, but is rewritten.
    for (const Value& part : parts) all.push_back(part);
    if (!OnlyReadInside(module_, readers_, has_gradient ? backward.nodes : forward.nodes, all))
      return;

    Node node;
    node.op = "_LayerNorm";
    node.attrs.Set("epsilon", static_cast<float>(ScalarValue(module_, forward["epsilon"])));
    node.inputs = {x, forward["gamma"], forward["beta"]};
    if (!AddFusedNode(module_, fastest_, std::move(node), outputs, forward.nodes, to_)) return;
    if (has_gradient) FuseGradient(backward, gradients, parts, sum);
  }

  // Finds the parts of dx in an AddN, and the gradients of gamma and beta.
  //   gradients: those of gamma and beta.  sum: the node that adds the parts.
  bool FindGradient(Match* match, std::vector<Value>* gradients, std::vector<Value>* parts,
                    int* sum) const {
    const Value factor = (*match)["factor"];
    for (const int product : value_readers_.of(factor)) {
      Match trial = *match;
      if (product < 0 || !MatchPattern(module_, ByValuePattern(), {product, 0}, &trial)) continue;
      for (const int adder : value_readers_.of({product, 0})) {
        if (adder < 0 || module_.node(adder).op != "AddN") continue;
        Match whole = trial;
        *parts = {};
        for (const Pattern& part : {ByVariancePattern(), ByMeanPattern()}) {
          for (const Value& input : module_.node(adder).inputs) {
            if (!MatchPattern(module_, part, input, &whole)) continue;
            parts->push_back(input);
            break;
          }
        }
        if (parts->size() != 2 || !IsGradient(whole)) continue;
        for (const Value& input : module_.node(adder).inputs) {
          if (Root(module_, input) == Value{product, 0}) parts->push_back(input);
        }
        if (parts->size() != 3 || !FindSums(&whole, gradients)) continue;
        *sum = adder;
        *match = std::move(whole);
        return true;
      }
    }
    parts->clear();
    gradients->clear();
    return false;
  }

  bool IsGradient(const Match& match) const {
    const auto count = static_cast<double>(ShapeOf(match["x"])[-1]);
    return Reduces(match["drstd"], true) && Reduces(match["dmean"], true) &&
           ScalarValue(module_, match["minus_half"]) == -0.5 &&
           ScalarValue(module_, match["two"]) == 2 &&
           ScalarValue(module_, match["count_of_variance"]) == count &&
           ScalarValue(module_, match["count_of_mean"]) == count &&
           ShapeOf(match["by_value"]) == ShapeOf(match["x"]);
  }

  // The gradients of gamma and beta: sums over all rows.
  bool FindSums(Match* match, std::vector<Value>* gradients) const {
    const Pattern dgamma = OpOf("Sum", {OpOf("Mul", {Any("rstd"), Any("dfactor")})}, "dgamma");
    const Pattern dbeta = OpOf("Sum", {Any("dy")}, "dbeta");
    for (const int product : value_readers_.of((*match)["dfactor"])) {
      if (product < 0) continue;
      for (const int n : value_readers_.of({product, 0})) {
        if (n >= 0 && match->values.count("dgamma") == 0 && module_.node(n).op == "Sum" &&
            Reduces({n, 0}, false))
          MatchPattern(module_, dgamma, {n, 0}, match);
      }
    }
    for (const int n : value_readers_.of((*match)["dy"])) {
      if (n >= 0 && match->values.count("dbeta") == 0 && module_.node(n).op == "Sum" &&
          Reduces({n, 0}, false) && IsChannels({n, 0}, ShapeOf((*match)["x"])[-1]))
        MatchPattern(module_, dbeta, {n, 0}, match);
    }
    if (match->values.count("dgamma") == 0 || match->values.count("dbeta") == 0) return false;
    *gradients = {(*match)["dgamma"], (*match)["dbeta"]};
    return true;
  }

  // dx replaces the first of its parts in the AddN; the others are dropped.
  void FuseGradient(const Match& match, const std::vector<Value>& gradients,
                    const std::vector<Value>& parts, int sum) {
    const Node adder = module_.node(sum);
    Node dx = adder;  // the sum of the three parts alone
    dx.inputs = parts;
    const int dx_index = static_cast<int>(module_.nodes.size());
    module_.nodes.push_back(dx);
    std::set<int> nodes = match.nodes;
    nodes.insert(dx_index);
    to_.resize(module_.nodes.size());

    Node node;
    node.op = "_LayerNormGrad";
    node.inputs = {match["dy"], match["x"], match["gamma"], match["mean"], match["rstd"]};
    if (!AddGradientNode(std::move(node), {{dx_index, 0}, gradients[0], gradients[1]}, nodes))
      return;
    Node& rewritten = module_.node(sum);
    std::vector<Value> inputs;
    for (const Value& input : adder.inputs) {
      const bool is_part = std::find(parts.begin(), parts.end(), input) != parts.end();
      if (!is_part) inputs.push_back(input);
    }
    inputs.push_back({dx_index, 0});
    if (inputs.size() == 1) {
      At(to_, sum) = {{dx_index, 0}};
    } else {
      rewritten.inputs = std::move(inputs);
      if (rewritten.inputs.size() == 2) {
        rewritten.op = "AddV2";
        rewritten.attrs = {};
      }
    }
  }

  bool AddGradientNode(Node node, const std::vector<Value>& outputs, const std::set<int>& nodes) {
    return AddFusedNode(module_, fastest_, std::move(node), outputs, nodes, to_);
  }

  Module& module_;
  const KernelTier fastest_;
  const std::vector<std::vector<int>> readers_;
  const ValueReaders value_readers_;
  Replacements to_;
};

}  // namespace

void FuseLayerNorm(Module& module, KernelTier fastest) {
  if (fastest != KernelTier::kReference) LayerNormFuser(module, fastest).Run();
}

}  // namespace estimator::ir
