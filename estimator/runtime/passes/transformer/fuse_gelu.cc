#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "estimator/runtime/passes/find_kernel.h"
#include "estimator/runtime/passes/transformer/fuse_transformer.h"
#include "estimator/runtime/passes/transformer/pattern.h"

namespace estimator::ir {
namespace {

constexpr double kRoot2 = std::numbers::sqrt2;
constexpr double kCubic = 0.044715;
const double kScale = std::sqrt(2 * std::numbers::inv_pi);

// How a graph computes x (1 + f) / 2, where f is a tanh or an erf.
struct GeluForm {
  bool is_approximate = false;  // f is a tanh
  bool halves_x = false;        // (x / 2) (1 + f), as tf.nn.gelu does; else x ((1 + f) / 2)
};

Pattern X() { return Any("x"); }
Pattern Times(Pattern x, double number, const std::string& name = "") {
  return OpOf("Mul", {std::move(x), NumberOf(number)}, name);
}
Pattern OverRoot2(const Pattern& x, const std::string& name) {
  return EitherOf({OpOf("RealDiv", {x, NumberOf(kRoot2)}, name), Times(x, 1 / kRoot2, name)});
}
// Simplify replaces Pow in f32, but not in bf16.
Pattern SquareOfX() { return EitherOf({OpOf("Square", {X()}), OpOf("Pow", {X(), NumberOf(2)})}); }
Pattern CubeOfX() {
  return EitherOf({OpOf("Mul", {OpOf("Square", {X()}), X()}), OpOf("Pow", {X(), NumberOf(3)})});
}

Pattern GeluPattern(const GeluForm& form) {
  const Pattern tanh =
      OpOf("Tanh", {Times(OpOf("AddV2", {X(), Times(CubeOfX(), kCubic)}), kScale)}, "f");
  const Pattern erf = OpOf("Erf", {OverRoot2(X(), "argument")}, "f");
  const Pattern sum = OpOf("AddV2", {form.is_approximate ? tanh : erf, NumberOf(1)}, "sum");
  return form.halves_x ? OpOf("Mul", {Times(X(), 0.5, "half_x"), sum}, "y")
                       : OpOf("Mul", {X(), Times(sum, 0.5, "half_sum")}, "y");
}

// The gradient is a sum of parts: that of the factor x, that of the x in f, and for a tanh that of
// the x in the cube.
Pattern FactorPart(const GeluForm& form) {
  return form.halves_x ? Times(OpOf("Mul", {Any("dy"), Any("sum")}), 0.5)
                       : OpOf("Mul", {Any("dy"), Any("half_sum")});
}
// The gradient of f, times `factor`.
Pattern GradientOfF(const GeluForm& form, double factor = 1) {
  if (!form.halves_x) return Times(OpOf("Mul", {X(), Any("dy")}), 0.5 * factor);
  const Pattern df = OpOf("Mul", {Any("half_x"), Any("dy")});
  return factor == 1 ? df : Times(df, factor);
}
Pattern ArgumentPart(const GeluForm& form) {
  if (form.is_approximate)
    return Times(OpOf("TanhGrad", {Any("f"), GradientOfF(form)}), kScale, "by_argument");
  // TensorFlow's gradient of Erf, and ours.
  constexpr double kTwoOverRootPi = 2 * std::numbers::inv_sqrtpi;
  const Pattern power = OpOf("Exp", {OpOf("Neg", {OpOf("Square", {Any("argument")})})});
  const Pattern theirs =
      EitherOf({GradientOfF(form, kTwoOverRootPi), Times(GradientOfF(form), kTwoOverRootPi)});
  return OverRoot2(EitherOf({OpOf("Mul", {theirs, power}),
                             OpOf("Mul", {GradientOfF(form), Times(power, kTwoOverRootPi)})}),
                   "by_argument");
}
Pattern CubePart() {
  // Simplify multiplies the numbers in f32, but not in bf16.
  const Pattern scaled = EitherOf(
      {Times(Any("by_argument"), 3 * kCubic), Times(Times(Any("by_argument"), kCubic), 3)});
  return OpOf("Mul", {scaled, SquareOfX()});
}

class GeluFuser {
 public:
  GeluFuser(Module& module, KernelTier fastest)
      : module_(module),
        fastest_(fastest),
        readers_(Readers(module)),
        value_readers_(module),
        to_(module.nodes.size()) {}

  void Run() {
    for (int n = 0; n < static_cast<int>(readers_.size()); ++n) {
      if (module_.node(n).op != "Mul") continue;
      for (const GeluForm& form :
           {GeluForm{true, true}, GeluForm{true, false}, GeluForm{false, true}, GeluForm{}}) {
        Match match;
        if (!MatchPattern(module_, GeluPattern(form), {n, 0}, &match)) continue;
        Visit(form, match);
        break;
      }
    }
    ReplaceUses(module_, to_);
    Compact(module_);
  }

 private:
  // The sum of the gradient's parts. An input of `adder` that is not a part stays there.
  struct Gradient {
    int adder = -1;
    std::vector<Value> parts;
  };

  // A tile op takes operands of one shape.
  bool LooksLikeX(const Match& match, Value value) const {
    return module_.spec(value) == module_.spec(match["x"]);
  }

  bool IsOneOpFrom(Value x, int n) const {
    const std::vector<Value>& inputs = module_.node(n).inputs;
    return std::all_of(inputs.begin(), inputs.end(), [&](Value input) {
      return input == x || module_.constant(Root(module_, input)) != nullptr;
    });
  }

  void Visit(const GeluForm& form, const Match& forward) {
    if (!LooksLikeX(forward, forward["y"])) return;
    Match whole = forward;
    const std::optional<Gradient> gradient = FindGradient(form, &whole);
    // Other nodes may read a value that one op computes from x, such as x / 2.
    std::set<int> nodes = whole.nodes;
    std::erase_if(nodes, [&](int n) { return IsOneOpFrom(forward["x"], n); });
    std::vector<Value> outputs = {forward["y"]};
    if (gradient.has_value()) {
      nodes.insert(gradient->adder);
      outputs.push_back({gradient->adder, 0});
    }
    if (!OnlyReadInside(module_, readers_, nodes, outputs)) return;
    const std::string op = form.is_approximate ? "_GeluApproximate" : "_Gelu";
    const std::optional<Value> y = Add(op, {forward["x"]}, forward["y"]);
    if (!y.has_value()) return;
    if (gradient.has_value()) {
      const std::optional<Value> dx =
          Add(op + "Grad", {whole["dy"], whole["x"]}, {gradient->adder, 0});
      if (!dx.has_value()) return;
      ReplaceParts(*gradient, *dx);
    }
    At(to_, forward["y"].node) = {*y};
    module_.num_fused_nodes += static_cast<int>(nodes.size());
  }

  // Adds a node that has the dtype and name of `like`. Returns nullopt if no fast kernel accepts it.
  std::optional<Value> Add(const std::string& op, std::vector<Value> inputs, Value like) {
    Node node;
    node.op = op;
    node.name = module_.node(like).name;
    node.inputs = std::move(inputs);
    node.outputs = {module_.spec(like)};
    if (!FindKernel(module_, node, fastest_, KernelTier::kFused)) return std::nullopt;
    module_.nodes.push_back(std::move(node));
    return Value{static_cast<int>(module_.nodes.size()) - 1, 0};
  }

  // Finds the gradient, and adds its names and nodes to `match`.
  std::optional<Gradient> FindGradient(const GeluForm& form, Match* match) const {
    for (const int part : FactorParts(form, *match)) {
      for (const int adder : value_readers_.of({part, 0})) {
        std::optional<Gradient> gradient = FindParts(form, adder, match);
        if (gradient.has_value()) return gradient;
      }
    }
    return std::nullopt;
  }

  // The nodes that may be the FactorPart.
  std::vector<int> FactorParts(const GeluForm& form, const Match& forward) const {
    std::vector<int> parts;
    for (const int product : value_readers_.of(forward[form.halves_x ? "sum" : "half_sum"])) {
      if (product < 0 || forward.nodes.count(product) > 0) continue;
      if (!form.halves_x) {
        parts.push_back(product);
        continue;
      }
      for (const int half : value_readers_.of({product, 0})) {
        if (half >= 0) parts.push_back(half);
      }
    }
    return parts;
  }

  // Finds the parts among the inputs of node `adder`.
  std::optional<Gradient> FindParts(const GeluForm& form, int adder, Match* match) const {
    if (adder < 0 || (module_.node(adder).op != "AddN" && module_.node(adder).op != "AddV2"))
      return std::nullopt;
    std::vector<Pattern> patterns = {FactorPart(form), ArgumentPart(form)};
    if (form.is_approximate) patterns.push_back(CubePart());
    Match trial = *match;
    Gradient gradient{.adder = adder, .parts = {}};
    const std::vector<Value>& inputs = module_.node(adder).inputs;
    for (const Pattern& pattern : patterns) {
      for (const Value& input : inputs) {
        // A part that occurs twice belongs to two gradients, which MergeEqual has made one.
        if (std::count(inputs.begin(), inputs.end(), input) > 1 ||
            !MatchPattern(module_, pattern, input, &trial))
          continue;
        gradient.parts.push_back(input);
        break;
      }
    }
    if (gradient.parts.size() != patterns.size() || !LooksLikeX(trial, trial["dy"]) ||
        !LooksLikeX(trial, {adder, 0}))
      return std::nullopt;
    *match = std::move(trial);
    return gradient;
  }

  // `dx` takes the place of the parts in their sum.
  void ReplaceParts(const Gradient& gradient, Value dx) {
    Node& adder = module_.node(gradient.adder);
    std::vector<Value> inputs;
    for (const Value& input : adder.inputs) {
      const auto& parts = gradient.parts;
      if (std::find(parts.begin(), parts.end(), input) == parts.end()) inputs.push_back(input);
    }
    if (inputs.empty()) {
      At(to_, gradient.adder) = {dx};
      return;
    }
    inputs.push_back(dx);
    adder.inputs = std::move(inputs);
    if (adder.inputs.size() == 2) {
      adder.op = "AddV2";
      adder.attrs = {};
    }
  }

  Module& module_;
  const KernelTier fastest_;
  const std::vector<std::vector<int>> readers_;
  const ValueReaders value_readers_;
  Replacements to_;
};

}  // namespace

void FuseGelu(Module& module, KernelTier fastest) {
  if (fastest != KernelTier::kReference) GeluFuser(module, fastest).Run();
}

}  // namespace estimator::ir
