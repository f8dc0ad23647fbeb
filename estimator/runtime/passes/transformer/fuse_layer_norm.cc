#include <utility>
#include <vector>

#include "estimator/runtime/passes/rewriter.h"
#include "estimator/runtime/passes/transformer/fuse_transformer.h"
#include "estimator/runtime/passes/transformer/gradient_sum.h"

namespace estimator::ir {
namespace {

// A Sum or Mean over the last axis.
Pattern OverChannels(const char* op, Pattern operand, const std::string& name) {
  return OpOf(op, {std::move(operand)}, name).If([](const Module& module, Value value) {
    return ReducesOnly(module, value, /*last=*/true);
  });
}
// A sum over all rows.
Pattern OverRows(Pattern operand, const std::string& name) {
  return OpOf("Sum", {std::move(operand)}, name).If([](const Module& module, Value value) {
    return ReducesOnly(module, value, /*last=*/false);
  });
}

// y = x factor + (beta - mean factor), factor = rstd gamma
Pattern LayerNormPattern() {
  const Pattern mean = OverChannels("Mean", Any("x"), "mean");
  const Pattern variance =
      OverChannels("Mean", OpOf("SquaredDifference", {Any("x"), mean}), "variance");
  const Pattern rstd = OpOf("Rsqrt", {OpOf("AddV2", {variance, ScalarOf("epsilon")})}, "rstd");
  const Pattern factor = OpOf("Mul", {rstd, Any("gamma")}, "factor");
  return OpOf(
      "AddV2",
      {OpOf("Mul", {factor, Any("x")}), OpOf("Sub", {Any("beta"), OpOf("Mul", {mean, factor})})},
      "y");
}

// The three parts of dx, for `count` channels, and the gradients of gamma and beta.
Pattern ByValuePattern() { return OpOf("Mul", {Any("factor"), Any("dy")}, "by_value"); }
Pattern NegatedPattern() { return OpOf("Neg", {Any("dy")}, "negated"); }
Pattern ByVariancePattern(double count) {
  const Pattern dfactor = OpOf(
      "AddV2", {OpOf("Mul", {Any("x"), Any("dy")}), OpOf("Mul", {Any("mean"), NegatedPattern()})},
      "dfactor");
  const Pattern drstd = OverChannels("Sum", OpOf("Mul", {Any("gamma"), dfactor}), "drstd");
  const Pattern cube = OpOf("Mul", {OpOf("Mul", {Any("rstd"), Any("rstd")}), Any("rstd")});
  const Pattern dvariance =
      OpOf("RealDiv", {OpOf("Mul", {OpOf("Mul", {drstd, AllOf(-0.5)}), cube}), AllOf(count)});
  return OpOf("Mul",
              {OpOf("Mul", {OpOf("BroadcastTo", {dvariance}), AllOf(2)}),
               OpOf("Sub", {Any("x"), Any("mean")})},
              "by_variance");
}
Pattern ByMeanPattern(double count) {
  const Pattern dmean =
      OverChannels("Sum", OpOf("Mul", {NegatedPattern(), Any("factor")}), "dmean");
  return OpOf("BroadcastTo", {OpOf("RealDiv", {dmean, AllOf(count)})}, "by_mean");
}
Pattern DGammaPattern() { return OverRows(OpOf("Mul", {Any("rstd"), Any("dfactor")}), "dgamma"); }
Pattern DBetaPattern() { return OverRows(Any("dy"), "dbeta"); }

}  // namespace

void FuseLayerNorm(Module& module, KernelTier fastest) {
  Rewriter rewriter(module, fastest);
  rewriter.ForEach(LayerNormPattern(), [&](const Match& forward) {
    const Value x = forward["x"], y = forward["y"], gamma = forward["gamma"];
    const TensorSpec input = module.spec(x);
    const Shape& shape = input.shape;
    // The kernels compute rows of f32.
    if (input.dtype != DType::kFloat32 || shape.rank() < 2) return;
    const Shape channels{shape[-1]};
    const auto shape_of = [&](Value value) -> const Shape& { return module.spec(value).shape; };
    // The kernels do not broadcast gamma and beta along other axes.
    if (shape_of(y) != shape || shape_of(gamma) != channels ||
        shape_of(forward["beta"]) != channels)
      return;
    std::vector<Fusion> fusions = {
        {.node = {.op = "_LayerNorm", .inputs = {x, gamma, forward["beta"]}},
         .outputs = {y, forward["mean"], forward["rstd"]}}};
    fusions[0].node.attrs.Set("epsilon",
                              static_cast<float>(ScalarValue(module, forward["epsilon"])));
    // The gradients of the two means divide by it.
    const auto count = static_cast<double>(shape[-1]);
    Match whole = forward;
    const GradientSum sum = FindSum(
        module, rewriter, {ByValuePattern(), ByVariancePattern(count), ByMeanPattern(count)},
        forward["factor"], /*steps=*/2, &whole);
    // Without this form of the gradient the forward ops may still be fused. Fuse refuses that if
    // another form of the gradient reads values in between.
    if (sum.node < 0 || shape_of(whole["by_value"]) != shape ||
        !rewriter.FindAbove(DGammaPattern(), whole["dfactor"], &whole, /*steps=*/2) ||
        !rewriter.FindAbove(DBetaPattern(), whole["dy"], &whole) ||
        shape_of(whole["dbeta"]) != channels) {
      rewriter.Fuse(forward.nodes, std::move(fusions));
      return;
    }
    const Value dx = AddPartialSum(module, sum, rewriter);
    whole.nodes.insert(dx.node);
    fusions.push_back({.node = {.op = "_LayerNormGrad",
                                .inputs = {whole["dy"], x, gamma, whole["mean"], whole["rstd"]}},
                       .outputs = {dx, whole["dgamma"], whole["dbeta"]}});
    if (rewriter.Fuse(whole.nodes, std::move(fusions), sum.node))
      UsePartialSum(module, sum, dx, rewriter);
  });
  rewriter.Finish();
}

}  // namespace estimator::ir
