#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "estimator/kernels/layout.h"
#include "estimator/runtime/passes/fusion/fuse.h"
#include "estimator/runtime/passes/rewriter.h"
#include "estimator/runtime/passes/schedule.h"

namespace estimator::ir {
namespace {

// The attributes that decide what a convolution computes. An op may omit those with a default.
Attrs ConvolutionOf(const Attrs& attrs) {
  Attrs convolution = {{"dilations", std::vector<int64_t>{1, 1, 1, 1}},
                       {"explicit_paddings", std::vector<int64_t>{}},
                       {"data_format", std::string(kPlainFormat)}};
  for (const char* name : {"strides", "padding", "dilations", "explicit_paddings", "data_format"}) {
    const auto it = attrs.values().find(name);
    if (it != attrs.values().end()) convolution.Set(name, it->second);
  }
  return convolution;
}

bool HasImagesInNhwc(const Module& module, Value value) { return IsPlain(module.node(value)); }

bool HasBiasAndRelu(const Module& module, Value value) {
  const Node& node = module.node(value);
  // A side input, which may be a constant, would be lost.
  return IsPlain(node) && node.inputs.size() == 3 &&
         node.attrs.get<std::vector<std::string>>("fused_ops") ==
             std::vector<std::string>{"BiasAdd", "Relu"};
}

// The gradient of the bias that belongs to this gradient of a filter.
TensorSpec BiasOf(const Node& filter) {
  return {filter.outputs[0].dtype, {filter.outputs[0].shape[3]}};
}

class ConvBlockFuser {
 public:
  ConvBlockFuser(Module& module, KernelTier fastest)
      : module_(module), rewriter_(module, fastest), levels_(Levels(module)) {}

  void Run() {
    const Pattern conv =
        OpOf("_FusedConv2D", {Any("x"), Any("filter"), Any("bias")}, "conv").If(HasBiasAndRelu);
    const Pattern pool =
        OneOf({"MaxPool", "_MaxPoolWithArgmax"}, {conv}, "pool").If(HasImagesInNhwc);
    rewriter_.ForEach(Direct(pool), [&](const Match& match) { FuseBlock(match); });
    // What is left are convolutions without such a block.
    const Pattern filter =
        OpOf("Conv2DBackpropFilter", {Any("x"), Any("sizes"), Any("dy")}, "dfilter");
    rewriter_.ForEach(Direct(filter.If(HasImagesInNhwc)),
                      [&](const Match& match) { AddBiasGradient(match); });
    rewriter_.Finish();
  }

 private:
  // Replaces a convolution, its pool, and the gradients of both. The pool's argmax and the gradient
  // of the convolution's output are not computed any more, so Fuse refuses a block in which other
  // ops than these read them.
  void FuseBlock(const Match& match) {
    const Value pool = match["pool"], argmax{pool.node, 1};
    Attrs attrs = module_.node(match["conv"]).attrs;
    const Attrs& window = module_.node(pool).attrs;
    attrs.Set("pool_ksize", window.ints("ksize"));
    attrs.Set("pool_strides", window.ints("strides"));
    attrs.Set("pool_padding", window.s("padding"));

    std::vector<Fusion> fusions;
    Add(fusions, "_FusedConv2DMaxPool", attrs, {match["x"], match["filter"], match["bias"]},
        {pool});
    const TensorSpec y = module_.spec(pool);
    fusions[0].node.outputs = {y, {DType::kUint8, y.shape}};
    std::set<int> nodes = match.nodes;
    const Pattern gradient =
        OpOf("_MaxPoolGradWithArgmax", {Any("argmax"), Any("dy"), Any("pool")}, "full");
    for (const int reader : rewriter_.readers(argmax)) {
      Match pooled = match;
      pooled.values["argmax"] = argmax;
      if (reader < 0 || !rewriter_.Matches(Direct(gradient), {reader, 0}, &pooled)) continue;
      nodes.insert(reader);
      AddGradients(attrs, pooled, nodes, fusions);
    }
    rewriter_.Fuse(nodes, std::move(fusions));
  }

  // Adds the nodes that replace the readers of the gradient of the convolution's output.
  void AddGradients(const Attrs& attrs, const Match& match, std::set<int>& nodes,
                    std::vector<Fusion>& fusions) {
    const Value dy = match["dy"], argmax = match["argmax"];
    const auto same_convolution = [&](const Module& module, Value value) {
      return ConvolutionOf(module.node(value).attrs) == ConvolutionOf(attrs);
    };
    const Pattern to_filter =
        OpOf("Conv2DBackpropFilter", {Any("from"), Any("sizes"), Any("full")}, "dfilter")
            .If(same_convolution);
    const Pattern to_input =
        OpOf("Conv2DBackpropInput", {Any("sizes"), Any("with"), Any("full")}, "dx")
            .If(same_convolution);
    const Pattern to_bias = OpOf("BiasAddGrad", {Any("full")}, "dbias").If(HasImagesInNhwc);
    Match bias, filter;  // there is at most one of each
    for (const int reader : rewriter_.readers(match["full"])) {
      if (reader < 0) continue;
      Match one = match;
      if (rewriter_.Matches(Direct(to_bias), {reader, 0}, &one)) {
        bias = one;
      } else if (rewriter_.Matches(Direct(to_filter), {reader, 0}, &one)) {
        filter = one;
      } else if (rewriter_.Matches(Direct(to_input), {reader, 0}, &one)) {
        nodes.insert(reader);
        Add(fusions, "_Conv2DMaxPoolBackpropInput", attrs, {one["with"], dy, argmax}, {one["dx"]});
      }
    }
    if (!filter.has("dfilter")) return;
    const Value dfilter = filter["dfilter"];
    const TensorSpec spec = BiasOf(module_.node(dfilter));
    std::vector<Value> outputs = {dfilter};
    nodes.insert(dfilter.node);
    if (bias.has("dbias") && module_.spec(bias["dbias"]) == spec) {
      outputs.push_back(bias["dbias"]);
      nodes.insert(bias["dbias"].node);
    }
    Add(fusions, "_Conv2DMaxPoolBackpropFilter", attrs, {filter["from"], dy, argmax}, outputs);
    // The kernel has the gradient of the bias as an output in any case.
    fusions.back().node.outputs = {module_.spec(dfilter), spec};
  }

  // Adds a node at the place of the first of its outputs. A kernel of the reference tier would run
  // the parts one after the other, which is no gain.
  static void Add(std::vector<Fusion>& fusions, const char* op, const Attrs& attrs,
                  std::vector<Value> inputs, const std::vector<Value>& outputs,
                  KernelTier slowest = KernelTier::kFused) {
    fusions.push_back({.node = {.op = op, .attrs = attrs, .inputs = std::move(inputs)},
                       .outputs = outputs,
                       .place = outputs[0].node,
                       .slowest = slowest,
                       .has_reference = true});
  }

  // Lets the gradient of a filter compute that of the bias too.
  void AddBiasGradient(const Match& match) {
    const Value x = match["x"], dy = match["dy"], dfilter = match["dfilter"];
    const Pattern to_bias = Direct(OpOf("BiasAddGrad", {Any("dy")}, "dbias").If(HasImagesInNhwc));
    for (const int reader : rewriter_.readers(dy)) {
      Match both = match;
      // A collective must not wait for both. x must not depend on the gradient of the bias.
      if (reader < 0 || !rewriter_.Matches(to_bias, {reader, 0}, &both) ||
          !(module_.spec(both["dbias"]) == BiasOf(module_.node(dfilter))) ||
          At(levels_, reader) != At(levels_, dfilter.node) || x.node >= reader)
        continue;
      std::vector<Fusion> fusions;
      // Winograd's algorithm has the sums of dy anyway. oneDNN's gradient of a bias is a sum in
      // f32, which is less accurate than BiasAddGrad's.
      Add(fusions, "_FusedConv2DBackpropFilter", module_.node(dfilter).attrs, {x, dy},
          {dfilter, both["dbias"]}, KernelTier::kNative);
      rewriter_.Fuse(both.nodes, std::move(fusions));
      return;
    }
  }

  Module& module_;
  Rewriter rewriter_;
  const std::vector<int> levels_;
};

}  // namespace

void FuseConvBlock(Module& module, KernelTier fastest) { ConvBlockFuser(module, fastest).Run(); }

}  // namespace estimator::ir
