#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/runtime/passes/fusion/fuse.h"
#include "estimator/runtime/passes/rewriter.h"

namespace estimator::ir {
namespace {

// A variable or a constant in f32: what is computed from them alone is kept between runs.
Pattern Fixed(const std::string& name) {
  return Any(name).If([](const Module& module, Value value) {
    const Node::Kind kind = module.node(value).kind;
    return (kind == Node::Kind::kVariable || kind == Node::Kind::kConstant) &&
           module.spec(value).dtype == DType::kFloat32;
  });
}

bool HasFixedMoments(const Module& module, Value value) {
  const Node& norm = module.node(value);
  return !norm.attrs.b("is_training") && norm.attrs.s("data_format") == "NHWC" &&
         norm.outputs[0].dtype == DType::kFloat32;
}

}  // namespace

void FoldBatchNorm(Module& module) {
  Rewriter rewriter(module);
  const Pattern conv = OpOf("Conv2D", {Any("x"), Fixed("filter")}, "conv");
  const Pattern norm =
      OpOf("FusedBatchNormV3",
           {conv, Fixed("scale"), Fixed("offset"), Fixed("mean"), Fixed("variance")}, "y")
          .If(HasFixedMoments);
  rewriter.ForEach(Direct(norm), [&](const Match& match) {
    // So nothing reads the moments, which are outputs too.
    if (!rewriter.OnlyReadInside(match.nodes, {match["y"]})) return;
    const Node before = module.node(match["y"]);
    const TensorSpec channels = module.spec(match["scale"]);
    const auto op = [&](const char* name, std::vector<Value> inputs, const TensorSpec& output) {
      return rewriter.AddOp(name, std::move(inputs), output, before.name);
    };
    // All of this depends on fixed values alone, so DeriveValues computes it once.
    const Value epsilon = rewriter.Add(MakeConstant(Array::Scalar(before.attrs.f("epsilon")),
                                                    absl::StrCat(before.name, "/epsilon")));
    const Value deviation =
        op("Rsqrt", {op("AddV2", {match["variance"], epsilon}, channels)}, channels);
    const Value factor = op("Mul", {match["scale"], deviation}, channels);
    const Value bias =
        op("Sub", {match["offset"], op("Mul", {match["mean"], factor}, channels)}, channels);
    Node scaled = module.node(match["conv"]);
    scaled.inputs[1] = op("Mul", {match["filter"], factor}, module.spec(match["filter"]));
    const Value product = rewriter.Add(std::move(scaled));
    rewriter.Replace(match["y"],
                     rewriter.AddOp("BiasAdd", {product, bias}, before.outputs[0], before.name,
                                    {{"data_format", std::string("NHWC")}}));
    module.num_fused_nodes += 2;
  });
  rewriter.Finish();
}

}  // namespace estimator::ir
