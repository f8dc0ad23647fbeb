#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "estimator/kernels/layout.h"
#include "estimator/runtime/passes/find_kernel.h"
#include "estimator/runtime/passes/fuse.h"
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

bool IsPlain(const Attrs& attrs) {
  return !attrs.has("data_format") || attrs.s("data_format") == kPlainFormat;
}

bool IsOp(const Node& node, const char* op) {
  return node.kind == Node::Kind::kOp && node.op == op;
}

class ConvBlockFuser {
 public:
  ConvBlockFuser(Module& module, KernelTier fastest)
      : module_(module),
        fastest_(fastest),
        readers_(Readers(module)),
        levels_(Levels(module)),
        gone_(module.nodes.size(), false),
        to_(module.nodes.size()) {}

  void Run() {
    const int size = static_cast<int>(readers_.size());
    for (int n = 0; n < size; ++n) {
      if (IsOp(at(n), "_FusedConv2D")) VisitConvolution(n);
    }
    for (int n = 0; n < size; ++n) {
      if (IsOp(at(n), "Conv2DBackpropFilter") && !At(gone_, n)) VisitFilter(n);
    }
    ReplaceUses(module_, to_);
    Compact(module_);
  }

 private:
  // A new node, and the place of the node that it replaces.
  struct Replacement {
    int at = -1;
    Node node;
  };
  // The nodes of a block that replace others, and what they make superfluous.
  struct Plan {
    std::vector<Replacement> nodes;
    std::vector<int> gone;
    std::vector<std::pair<int, Value>> uses;  // a node's output 0, and the value that replaces it
  };

  Node& at(int n) { return module_.node(n); }

  void VisitConvolution(int conv) {
    const Node& node = at(conv);
    if (node.inputs.size() != 3 || !IsPlain(node.attrs) ||
        node.attrs.get<std::vector<std::string>>("fused_ops") !=
            std::vector<std::string>{"BiasAdd", "Relu"}) {
      return;
    }
    const int pool = OnlyReader(readers_, conv);
    if (pool < 0 || !IsPlain(at(pool).attrs)) return;
    const bool trains = IsOp(at(pool), "_MaxPoolWithArgmax");
    if (!trains && !IsOp(at(pool), "MaxPool")) return;

    Plan plan;
    plan.gone = {conv};
    Node forward;
    forward.op = "_FusedConv2DMaxPool";
    forward.name = at(pool).name;
    forward.attrs = BlockAttrs(conv, pool);
    forward.inputs = node.inputs;
    forward.outputs = {at(pool).outputs[0], {DType::kUint8, at(pool).outputs[0].shape}};
    plan.nodes.push_back({pool, std::move(forward)});
    if (trains && !AddGradients(conv, pool, plan)) return;
    // A kernel of the reference tier would run the parts one after the other, which is no gain.
    Apply(plan, KernelTier::kFused);
  }

  // The attributes of kernels/conv_block.h.
  Attrs BlockAttrs(int conv, int pool) {
    Attrs attrs = at(conv).attrs;
    const Attrs& window = at(pool).attrs;
    attrs.Set("pool_ksize", window.ints("ksize"));
    attrs.Set("pool_strides", window.ints("strides"));
    attrs.Set("pool_padding", window.s("padding"));
    return attrs;
  }

  // Adds the gradients of everything that reads the pool's argmax. Returns false if one of them is
  // not that of a convolution.
  bool AddGradients(int conv, int pool, Plan& plan) {
    // A gradient reads the pool twice: the argmax and the maxima.
    const std::vector<int>& all = At(readers_, pool);
    for (const int reader : std::set<int>(all.begin(), all.end())) {
      if (reader < 0 || At(gone_, reader)) continue;  // a fetch can only be of the maxima
      const std::vector<Value>& inputs = at(reader).inputs;
      const Value argmax{pool, 1};
      if (std::find(inputs.begin(), inputs.end(), argmax) == inputs.end()) continue;
      const bool own = IsOp(at(reader), "_MaxPoolGradWithArgmax") && inputs.size() == 3 &&
                       inputs[0] == argmax && inputs[2] == Value{pool, 0};
      if (!own || !AddGradientsOf(conv, pool, reader, plan)) return false;
      plan.gone.push_back(reader);
    }
    return true;
  }

  //   grad: the gradient of the convolution's output, which is no longer computed.
  bool AddGradientsOf(int conv, int pool, int grad, Plan& plan) {
    const Value argmax{pool, 1}, dy = at(grad).inputs[1], full{grad, 0};
    const Attrs attrs = BlockAttrs(conv, pool);
    int filter = -1, bias = -1;
    for (const int reader : At(readers_, grad)) {
      if (reader < 0) return false;
      const Node& node = at(reader);
      if (IsOp(node, "BiasAddGrad") && IsPlain(node.attrs) && bias < 0) {
        bias = reader;
        continue;
      }
      const bool by_filter = IsOp(node, "Conv2DBackpropFilter") && filter < 0;
      const bool by_input = IsOp(node, "Conv2DBackpropInput");
      if ((!by_filter && !by_input) || node.inputs[2] != full || node.inputs[1] == full ||
          node.inputs[0] == full || !(ConvolutionOf(node.attrs) == ConvolutionOf(attrs))) {
        return false;
      }
      if (by_filter) {
        filter = reader;
        continue;
      }
      Node to_input;
      to_input.op = "_Conv2DMaxPoolBackpropInput";
      to_input.name = node.name;
      to_input.attrs = attrs;
      to_input.inputs = {node.inputs[1], dy, argmax};
      to_input.outputs = node.outputs;
      plan.nodes.push_back({reader, std::move(to_input)});
    }
    if (filter < 0) return bias < 0;
    const Node& node = at(filter);
    Node to_filter;
    to_filter.op = "_Conv2DMaxPoolBackpropFilter";
    to_filter.name = node.name;
    to_filter.attrs = attrs;
    to_filter.inputs = {node.inputs[0], dy, argmax};
    to_filter.outputs = {node.outputs[0], BiasOf(node)};
    plan.nodes.push_back({filter, std::move(to_filter)});
    if (bias >= 0) {
      if (!(at(bias).outputs[0] == BiasOf(node))) return false;
      plan.gone.push_back(bias);
      plan.uses.push_back({bias, {filter, 1}});
    }
    return true;
  }

  // The gradient of the bias that belongs to this gradient of a filter.
  static TensorSpec BiasOf(const Node& filter) {
    return {filter.outputs[0].dtype, {filter.outputs[0].shape[3]}};
  }

  // Replaces the nodes if there is a kernel for each of them, in a tier from `slowest`.
  bool Apply(Plan& plan, KernelTier slowest) {
    // The gradients read the argmax, so the forward node is put into the module first.
    std::vector<Node> old;
    bool all = true;
    for (Replacement& replacement : plan.nodes) {
      old.push_back(std::exchange(at(replacement.at), std::move(replacement.node)));
      all = all && Accepts(SpecOf(module_, at(replacement.at)), fastest_, slowest);
    }
    for (const Replacement& replacement : plan.nodes)
      all = all && FindKernel(module_, at(replacement.at), fastest_, slowest);
    if (!all) {
      for (size_t i = old.size(); i-- > 0;) at(plan.nodes[i].at) = std::move(old[i]);
      return false;
    }
    for (const int n : plan.gone) At(gone_, n) = true;
    for (const auto& [n, value] : plan.uses) At(to_, n) = {value};
    module_.num_fused_nodes += static_cast<int>(plan.nodes.size() + plan.gone.size());
    return true;
  }

  // Conv2DBackpropFilter(x, sizes, dy) and BiasAddGrad(dy).
  void VisitFilter(int filter) {
    const Node& node = at(filter);
    const Value x = node.inputs[0], dy = node.inputs[2];
    if (!IsPlain(node.attrs)) return;
    for (const int bias : At(readers_, dy.node)) {
      if (bias < 0 || At(gone_, bias) || !IsOp(at(bias), "BiasAddGrad") ||
          at(bias).inputs[0] != dy || !IsPlain(at(bias).attrs) ||
          !(at(bias).outputs[0] == BiasOf(node))) {
        continue;
      }
      // A collective must not wait for both. x must not depend on the gradient of the bias.
      if (At(levels_, bias) != At(levels_, filter) || x.node >= bias) continue;
      Node both;
      both.op = "_FusedConv2DBackpropFilter";
      both.name = node.name;
      both.attrs = node.attrs;
      both.inputs = {x, dy};
      both.outputs = {node.outputs[0], at(bias).outputs[0]};
      Plan plan;
      plan.nodes.push_back({filter, std::move(both)});
      plan.gone = {bias};
      plan.uses = {{bias, {filter, 1}}};
      // Winograd's algorithm has the sums of dy anyway. oneDNN's gradient of a bias is a sum in f32,
      // which is less accurate than BiasAddGrad's.
      Apply(plan, KernelTier::kNative);
      return;
    }
  }

  Module& module_;
  const KernelTier fastest_;
  const std::vector<std::vector<int>> readers_;
  const std::vector<int> levels_;
  std::vector<bool> gone_;  // nodes that are no longer needed
  Replacements to_;
};

}  // namespace

void FuseConvBlock(Module& module, KernelTier fastest) { ConvBlockFuser(module, fastest).Run(); }

}  // namespace estimator::ir
