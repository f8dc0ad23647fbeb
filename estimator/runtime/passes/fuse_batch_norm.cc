#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "estimator/runtime/passes/find_kernel.h"
#include "estimator/runtime/passes/fuse.h"

namespace estimator::ir {
namespace {

class BatchNormFuser {
 public:
  BatchNormFuser(Module& module, KernelTier fastest)
      : module_(module), fastest_(fastest), to_(module.nodes.size()) {
    for (size_t n = 0; n < module.nodes.size(); ++n) {
      for (const Value& input : module.nodes[n].inputs)
        readers_[input].push_back(static_cast<int>(n));
    }
    for (const Value& fetch : module.fetches) readers_[fetch].push_back(-1);
    for (const Update& update : module.updates) readers_[update.value].push_back(-1);
  }

  void Run() {
    for (int n = 0; n < static_cast<int>(to_.size()); ++n) {
      if (IsOp(n, "FusedBatchNormV3")) Visit(n);
    }
    ReplaceUses(module_, to_);
    Compact(module_);
  }

 private:
  Node& at(int n) { return module_.node(n); }
  bool IsOp(int n, const char* op) {
    return n >= 0 && at(n).kind == Node::Kind::kOp && at(n).op == op;
  }
  // The only node that reads the value, if its op is `op`; else -1.
  int Next(Value value, const char* op) const {
    const auto it = readers_.find(value);
    if (it == readers_.end() || it->second.size() != 1) return -1;
    const int reader = it->second[0];
    return reader >= 0 && module_.node(reader).op == op ? reader : -1;
  }

  // Whether `value` depends on node n.
  bool DependsOn(Value value, int n) const {
    std::vector<int> stack = {value.node};
    std::vector<char> seen(static_cast<size_t>(value.node) + 1, 0);
    while (!stack.empty()) {
      const int m = stack.back();
      stack.pop_back();
      if (m == n) return true;
      if (m < n || std::exchange(At(seen, m), 1)) continue;
      for (const Value& input : module_.node(m).inputs) stack.push_back(input.node);
    }
    return false;
  }

  void Visit(int n) {
    const Node norm = at(n);
    int add = Next({n, 0}, "AddV2");
    Value side;
    if (add >= 0) {
      side = at(add).inputs[at(add).inputs[0] == Value{n, 0} ? 1 : 0];
      // If the side input depends on another output of the batch norm, fusing would make a cycle.
      if (!(module_.spec(side) == norm.outputs[0]) || DependsOn(side, n)) return;
    }
    const Value sum{add >= 0 ? add : n, 0};
    int relu = -1;  // or relu6
    for (const char* op : {"Relu", "Relu6"}) relu = std::max(relu, Next(sum, op));
    if (relu < 0) return;

    Node fused = norm;
    fused.op = "_FusedBatchNormEx";
    fused.name = at(relu).name;
    fused.attrs.Set("activation_mode", at(relu).op);
    fused.attrs.Set("num_side_inputs", int64_t{add >= 0 ? 1 : 0});
    if (add >= 0) fused.inputs.push_back(side);
    auto origin = std::make_shared<Origin>();
    origin->steps = {StepOf(norm, {{-1, 0}, {-1, 1}, {-1, 2}, {-1, 3}, {-1, 4}})};
    if (add >= 0) origin->steps.push_back(StepOf(at(add), {{0, 0}, {-1, 5}}));
    const int before_relu = static_cast<int>(origin->steps.size()) - 1;
    origin->steps.push_back(StepOf(at(relu), {{before_relu, 0}}));
    origin->outputs = {{before_relu + 1, 0}};
    for (int o = 1; o < static_cast<int>(norm.outputs.size()); ++o)
      origin->outputs.push_back({0, o});
    fused.origin = std::move(origin);
    if (!FindKernel(module_, fused, fastest_)) return;
    at(relu) = std::move(fused);
    module_.num_fused_nodes += add >= 0 ? 3 : 2;
    std::vector<Value>& moved = At(to_, n);
    moved.assign(norm.outputs.size(), Value{});
    for (int o = 1; o < static_cast<int>(norm.outputs.size()); ++o) At(moved, o) = {relu, o};
    FuseGradient(n, relu, add >= 0);
  }

  // Fuses the gradient of batch norm n, which was fused to node `block`.
  void FuseGradient(int n, int block, bool side) {
    const std::string relu_grad = at(block).attrs.s("activation_mode") + "Grad";
    for (const int d : readers_[{block, 0}]) {
      if (!IsOp(d, relu_grad.c_str()) || at(d).inputs[1] != Value{block, 0}) continue;
      for (const int g : readers_[{d, 0}]) {
        if (!IsOp(g, "FusedBatchNormGradV3") || at(g).inputs[0] != Value{d, 0} ||
            at(g).inputs[1] != at(block).inputs[0] || at(g).inputs[3] != Value{n, 3})
          continue;
        // Without a side input the fused node does not output the gradient before the activation,
        // so no other node may need it.
        if (side || readers_[{d, 0}].size() == 1) FuseGradient(n, block, side, d, g);
        return;
      }
    }
  }

  void FuseGradient(int n, int block, bool side, int relu_grad, int norm_grad) {
    const Node& plain = at(norm_grad);
    Node fused = plain;
    fused.op = "_FusedBatchNormGradEx";
    fused.attrs.Set("activation_mode", at(block).attrs.s("activation_mode"));
    fused.attrs.Set("num_side_inputs", int64_t{side ? 1 : 0});
    fused.inputs[0] = at(relu_grad).inputs[0];
    fused.inputs.push_back(at(block).inputs[2]);
    fused.inputs.push_back({block, 0});
    if (side) fused.outputs.push_back(at(relu_grad).outputs[0]);
    auto origin = std::make_shared<Origin>();
    origin->steps = {StepOf(at(relu_grad), {{-1, 0}, {-1, 7}}),
                     StepOf(plain, {{0, 0}, {-1, 1}, {-1, 2}, {-1, 3}, {-1, 4}, {-1, 5}})};
    for (int o = 0; o < static_cast<int>(plain.outputs.size()); ++o)
      origin->outputs.push_back({1, o});
    if (side) origin->outputs.push_back({0, 0});
    fused.origin = std::move(origin);
    // `block` replaces batch norm n only when ReplaceUses runs. FindKernel needs the specs now, so
    // inputs {n, 3} and later are replaced here.
    for (Value& input : fused.inputs) {
      if (input.node == n && input.output > 0) input.node = block;
    }
    if (!FindKernel(module_, fused, fastest_)) return;
    const int dside = static_cast<int>(plain.outputs.size());
    at(norm_grad) = std::move(fused);
    module_.num_fused_nodes += 2;
    if (side) At(to_, relu_grad) = {{norm_grad, dside}};
  }

  Module& module_;
  const KernelTier fastest_;
  std::map<Value, std::vector<int>> readers_;
  Replacements to_;
};

}  // namespace

void FuseBatchNorm(Module& module, KernelTier fastest) {
  if (fastest != KernelTier::kReference) BatchNormFuser(module, fastest).Run();
}

}  // namespace estimator::ir
