#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "estimator/runtime/passes/rewriter.h"
#include "estimator/runtime/passes/transformer/fuse_transformer.h"
#include "estimator/runtime/passes/transformer/gradient_sum.h"

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

Pattern GeluPattern() {
  const Pattern tanh =
      OpOf("Tanh", {Times(OpOf("AddV2", {X(), Times(CubeOfX(), kCubic)}), kScale)}, "f");
  const Pattern erf = OpOf("Erf", {OverRoot2(X(), "argument")}, "f");
  const Pattern sum = OpOf("AddV2", {EitherOf({tanh, erf}), NumberOf(1)}, "sum");
  return EitherOf({OpOf("Mul", {Times(X(), 0.5, "half_x"), sum}, "y"),
                   OpOf("Mul", {X(), Times(sum, 0.5, "half_sum")}, "y")});
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

// Other nodes may read a value that one op computes from x, such as x / 2.
bool IsOneOpFrom(const Module& module, Value x, int n) {
  const std::vector<Value>& inputs = module.node(n).inputs;
  return std::all_of(inputs.begin(), inputs.end(), [&](Value input) {
    return input == x || module.constant(Root(module, input)) != nullptr;
  });
}

Fusion MakeGelu(std::string op, std::vector<Value> inputs, Value output) {
  return {.node = {.op = std::move(op), .inputs = std::move(inputs)},
          .outputs = {output},
          .slowest = KernelTier::kFused,
          .has_reference = true};
}

}  // namespace

void FuseGelu(Module& module, KernelTier fastest) {
  Rewriter rewriter(module, fastest);
  rewriter.ForEach(GeluPattern(), [&](const Match& forward) {
    const Value x = forward["x"];
    // A tile op takes operands of one shape.
    const auto looks_like_x = [&](Value value) { return module.spec(value) == module.spec(x); };
    if (!looks_like_x(forward["y"])) return;
    const GeluForm form{.is_approximate = module.node(forward["f"]).op == "Tanh",
                        .halves_x = forward.has("half_x")};
    const std::string op = form.is_approximate ? "_GeluApproximate" : "_Gelu";
    std::vector<Fusion> fusions = {MakeGelu(op, {x}, forward["y"])};
    // The factor comes first, because it names dy, which the other parts read.
    std::vector<Pattern> parts = {FactorPart(form), ArgumentPart(form)};
    if (form.is_approximate) parts.push_back(CubePart());
    Match whole = forward;
    GradientSum sum = FindSum(module, rewriter, parts, forward[form.halves_x ? "sum" : "half_sum"],
                              /*steps=*/3, &whole);
    Value dx;
    if (sum.node >= 0 && looks_like_x(whole["dy"]) && looks_like_x({sum.node, 0})) {
      dx = AddPartialSum(module, sum, rewriter);
      whole.nodes.insert(dx.node);
      fusions.push_back(MakeGelu(op + "Grad", {whole["dy"], x}, dx));
    } else {
      // Fuse then refuses, if a gradient of another form reads values in between.
      whole = forward;
      sum = {};
    }
    std::erase_if(whole.nodes, [&](int n) { return IsOneOpFrom(module, x, n); });
    if (rewriter.Fuse(whole.nodes, std::move(fusions), sum.node) && sum.node >= 0)
      UsePartialSum(module, sum, dx, rewriter);
  });
  rewriter.Finish();
}

}  // namespace estimator::ir
