#include "estimator/runtime/passes/sink_transposes.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "estimator/op_def/op_def.h"
#include "estimator/runtime/passes/pattern.h"

namespace estimator::ir {
namespace {

using Axes = std::vector<int64_t>;

// Axis i of the result of a Transpose is axis perm[i] of its input.
const Axes& ToChannelsFirst() {
  static const auto& perm = *new Axes{0, 3, 1, 2};
  return perm;
}
const Axes& ToChannelsLast() {
  static const auto& perm = *new Axes{0, 2, 3, 1};
  return perm;
}

constexpr int64_t kSmall = 4;  // a small operand has at most 1 / kSmall of the result's elements

class Sinker {
 public:
  explicit Sinker(Module& module) : module_(module), readers_(Readers(module)) {}

  bool Run() {
    // Without an inverse, nothing would be cancelled.
    if (std::none_of(module_.nodes.begin(), module_.nodes.end(),
                     [this](const Node& node) { return IsTranspose(node, ToChannelsLast()); }))
      return false;
    bool changed = false;
    for (int n = 0, size = module_.num_nodes(); n < size; ++n) changed = Visit(n) || changed;
    if (changed) Compact(module_);
    return changed;
  }

 private:
  const TensorSpec& spec(Value value) const { return module_.spec(value); }
  bool IsTranspose(const Node& node, const Axes& perm) const {
    return IsOp(node, "Transpose") && ConstantInts(module_, node.inputs[1]) == perm;
  }
  bool IsSunk(Value value) const { return IsTranspose(module_.node(value), ToChannelsFirst()); }

  bool Visit(int n) {
    const Node node = module_.node(n);  // adding nodes moves the others
    if (node.kind != Node::Kind::kOp || node.outputs.size() != 1 || node.inputs.empty())
      return false;
    const OpTraits& traits = TraitsOf(node.op);
    if (traits.elementwise) return SinkElementwise(n, node);
    if (node.op == "ConcatV2") return SinkConcat(n, node);
    if (!IsSunk(node.inputs[0])) return false;
    if (traits.reduction) return SinkReduction(n, node);
    if (node.op == "Pad" || node.op == "PadV2" || node.op == "Slice") return SinkMargins(n, node);
    if (node.op == "L2Loss") module_.node(n).inputs[0] = module_.node(node.inputs[0]).inputs[0];
    return node.op == "L2Loss";
  }

  bool SinkElementwise(int n, const Node& node) {
    bool any = false, pays = true;
    for (const Value& input : node.inputs) {
      any = any || IsSunk(input);
      pays = pays &&
             (IsSunk(input) ||
              spec(input).shape.num_elements() * kSmall <= node.outputs[0].shape.num_elements() ||
              spec(input).shape.num_elements() == 1);
    }
    if (!any || node.outputs[0].shape.rank() != 4) return false;
    for (const int reader : At(readers_, n)) pays = pays || ReadsLast(reader);
    if (!pays) return false;
    std::vector<Value> inputs;
    for (const Value& input : node.inputs) inputs.push_back(ChannelsLast(input));
    Sink(n, node, std::move(inputs));
    return true;
  }

  bool SinkConcat(int n, const Node& node) {
    std::vector<Value> inputs = node.inputs;
    const Axes axis = ConstantInts(module_, inputs.back());
    inputs.pop_back();
    if (axis.size() != 1 ||
        !std::all_of(inputs.begin(), inputs.end(), [this](Value input) { return IsSunk(input); }))
      return false;
    for (Value& input : inputs) input = ChannelsLast(input);
    const Axes& perm = ToChannelsFirst();
    inputs.push_back(Ints({At(perm, axis[0] < 0 ? axis[0] + 4 : axis[0])}, {}, node.name));
    Sink(n, node, std::move(inputs));
    return true;
  }

  // The operands after the first have one number, or with paddings two, for each axis.
  bool SinkMargins(int n, const Node& node) {
    std::vector<Value> inputs = {ChannelsLast(node.inputs[0])};
    for (size_t i = 1; i < node.inputs.size(); ++i) {
      const Value input = node.inputs[i];
      if (node.op == "PadV2" && i == 2) {
        inputs.push_back(input);
        continue;
      }
      const Axes numbers = ConstantInts(module_, input);
      if (numbers.empty()) return false;
      const auto each = static_cast<int64_t>(numbers.size() / 4);
      Axes last;
      for (const int64_t axis : ToChannelsLast())
        for (int64_t k = 0; k < each; ++k) last.push_back(At(numbers, axis * each + k));
      inputs.push_back(Ints(last, spec(input).shape, node.name));
    }
    Sink(n, node, std::move(inputs));
    return true;
  }

  bool SinkReduction(int n, const Node& node) {
    const Axes axes = ConstantInts(module_, node.inputs[1]);
    Axes last;
    std::vector<bool> reduced(4, false);
    for (const int64_t axis : axes) {
      At(reduced, axis < 0 ? axis + 4 : axis) = true;
      last.push_back(At(ToChannelsFirst(), axis < 0 ? axis + 4 : axis));
    }
    if (axes.empty()) return false;
    const std::vector<Value> inputs = {module_.node(node.inputs[0]).inputs[0],
                                       Ints(last, {static_cast<int64_t>(last.size())}, node.name)};
    if (node.outputs[0].shape.rank() == 4) {
      Sink(n, node, inputs);
      return true;
    }
    // Without the reduced axes, the channels must still be last.
    if (!reduced[1] && !(reduced[2] && reduced[3])) return false;
    module_.node(n).inputs = inputs;
    return true;
  }

  bool ReadsLast(int reader) const {
    return reader >= 0 && IsTranspose(module_.node(reader), ToChannelsLast());
  }

  Value Ints(const Axes& values, const Shape& shape, const std::string& name) {
    return module_.Add(
        MakeConstant(Array::FromSpan<int64_t>(shape, values).Cast(DType::kInt32), name));
  }

  static Shape LastShape(const Shape& shape) { return {shape[0], shape[2], shape[3], shape[1]}; }

  // An operand [N,C,H,W] as [N,H,W,C]. One with fewer axes is aligned with the last ones.
  Value ChannelsLast(Value input) {
    if (IsSunk(input)) return module_.node(input).inputs[0];
    const TensorSpec given = spec(input);
    if (given.shape.num_elements() == 1 || given.shape.rank() > 4) return input;
    const std::string name = module_.node(input).name;
    Axes dims(static_cast<size_t>(4 - given.shape.rank()), 1);
    dims.insert(dims.end(), given.shape.dims().begin(), given.shape.dims().end());
    const Shape first(dims);
    if (given.shape.rank() < 4) input = module_.Add(MakeReshape(input, {given.dtype, first}, name));
    return Transpose(input, ToChannelsLast(), {given.dtype, LastShape(first)}, name);
  }

  Value Transpose(Value x, const Axes& perm, const TensorSpec& spec, const std::string& name) {
    const Value axes = Ints(perm, {4}, name);
    return module_.Add({.op = "Transpose", .name = name, .inputs = {x, axes}, .outputs = {spec}});
  }

  // Computes node n in [N,H,W,C] and makes it the Transpose of that.
  void Sink(int n, const Node& node, std::vector<Value> inputs) {
    Node last = node;
    last.inputs = std::move(inputs);
    last.outputs[0].shape = LastShape(node.outputs[0].shape);
    const Value value = module_.Add(std::move(last));
    const Value axes = Ints(ToChannelsFirst(), {4}, node.name);
    module_.node(n) = {
        .op = "Transpose", .name = node.name, .inputs = {value, axes}, .outputs = node.outputs};
  }

  Module& module_;
  const std::vector<std::vector<int>> readers_;
};

}  // namespace

bool SinkTransposes(Module& module) { return Sinker(module).Run(); }

}  // namespace estimator::ir
