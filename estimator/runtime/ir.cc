#include "estimator/runtime/ir.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "estimator/kernels/op_traits.h"
#include "glog/logging.h"

namespace estimator::ir {

const Array* Module::constant(Value value) const {
  const Node& n = node(value);
  return n.kind == Node::Kind::kConstant ? &n.constant : nullptr;
}

bool IsView(const Node& node) { return node.kind == Node::Kind::kOp && TraitsOf(node.op).view; }

Value Root(const Module& module, Value value) {
  while (IsView(module.node(value))) value = module.node(value).inputs[0];
  return value;
}

Node MakeConstant(Array value, std::string name) {
  Node node;
  node.kind = Node::Kind::kConstant;
  node.op = "Const";
  node.name = std::move(name);
  node.outputs = {{value.dtype(), value.shape()}};
  node.constant = std::move(value);
  return node;
}

Node MakeReshape(Value input, const TensorSpec& spec, std::string name) {
  Node node;
  node.op = "Reshape";
  node.name = std::move(name);
  node.inputs = {input};
  node.outputs = {spec};
  return node;
}

Origin::Step StepOf(const Node& node, std::vector<Value> inputs) {
  return {.op = node.op,
          .name = node.name,
          .attrs = node.attrs,
          .inputs = std::move(inputs),
          .outputs = node.outputs};
}

KernelSpec SpecOf(const Module& module, const Node& node) {
  KernelSpec spec;
  spec.op = node.op;
  spec.name = node.name;
  spec.attrs = node.attrs;
  spec.outputs = node.outputs;
  spec.conv_algorithm = module.conv_algorithm;
  spec.compute_dtype = module.compute_dtype;
  for (const Value& input : node.inputs) {
    spec.inputs.push_back(module.spec(input));
    const Array* constant = module.constant(Root(module, input));
    spec.constants.push_back(
        constant == nullptr ? std::nullopt
                            : std::optional<Array>(constant->Reshaped(module.spec(input).shape)));
  }
  return spec;
}

std::vector<std::vector<int>> Readers(const Module& module) {
  std::vector<std::vector<int>> readers(module.nodes.size());
  for (size_t n = 0; n < module.nodes.size(); ++n) {
    for (const Value& input : module.nodes[n].inputs) {
      At(readers, input.node).push_back(static_cast<int>(n));
    }
  }
  for (const Value& fetch : module.fetches) At(readers, fetch.node).push_back(-1);
  for (const Update& update : module.updates) {
    At(readers, update.value.node).push_back(-1);
  }
  return readers;
}

int OnlyReader(const std::vector<std::vector<int>>& readers, int n) {
  const std::vector<int>& all = At(readers, n);
  return all.size() == 1 ? all[0] : -1;
}

void ReplaceUses(Module& module, const Replacements& to) {
  const auto resolve = [&to](Value& value) {
    while (static_cast<size_t>(value.node) < to.size()) {
      const std::vector<Value>& outputs = At(to, value.node);
      const size_t output = static_cast<size_t>(value.output);
      if (output >= outputs.size() || outputs[output].node < 0) return;
      value = outputs[output];
    }
  };
  for (Node& node : module.nodes) {
    for (Value& input : node.inputs) resolve(input);
  }
  for (Value& fetch : module.fetches) resolve(fetch);
  for (Update& update : module.updates) resolve(update.value);
}

void Compact(Module& module) {
  const size_t size = module.nodes.size();
  std::vector<char> live(size, 0);
  std::vector<int> stack;
  const auto visit = [&](Value value) {
    if (At(live, value.node)) return;
    At(live, value.node) = 1;
    stack.push_back(value.node);
  };
  for (const Value& fetch : module.fetches) visit(fetch);
  for (const Update& update : module.updates) visit(update.value);
  while (!stack.empty()) {
    const int n = stack.back();
    stack.pop_back();
    for (const Value& input : module.node(n).inputs) visit(input);
  }

  // Renumbers the live nodes in topological order. Of the nodes that are ready, the one with the
  // smallest old number is next, so that passes keep the order of nodes where they can.
  std::vector<int> missing(size, 0);
  std::vector<std::vector<int>> readers(size);
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  size_t num_live = 0;
  for (size_t n = 0; n < size; ++n) {
    if (!live[n]) continue;
    ++num_live;
    missing[n] = static_cast<int>(module.nodes[n].inputs.size());
    for (const Value& input : module.nodes[n].inputs) {
      At(readers, input.node).push_back(static_cast<int>(n));
    }
    if (missing[n] == 0) ready.push(static_cast<int>(n));
  }
  std::vector<int> new_index(size, -1);
  std::vector<Node> nodes;
  nodes.reserve(num_live);
  while (!ready.empty()) {
    const size_t n = static_cast<size_t>(ready.top());
    ready.pop();
    new_index[n] = static_cast<int>(nodes.size());
    nodes.push_back(std::move(module.nodes[n]));
    for (const int reader : readers[n]) {
      if (--At(missing, reader) == 0) ready.push(reader);
    }
  }
  CHECK_EQ(nodes.size(), num_live) << "a pass made a cycle";
  const auto renumber = [&new_index](Value& value) { value.node = At(new_index, value.node); };
  for (Node& node : nodes) {
    for (Value& input : node.inputs) renumber(input);
  }
  for (Value& fetch : module.fetches) renumber(fetch);
  for (Update& update : module.updates) renumber(update.value);
  module.nodes = std::move(nodes);
}

std::string ToString(const Module& module) {
  std::string text;
  const auto value = [](std::string* out, const Value& v) {
    absl::StrAppend(out, "%", v.node);
    if (v.output != 0) absl::StrAppend(out, ":", v.output);
  };
  const auto spec = [](std::string* out, const TensorSpec& s) { out->append(s.ToString()); };
  for (size_t n = 0; n < module.nodes.size(); ++n) {
    const Node& node = module.nodes[n];
    absl::StrAppend(&text, "%", n, " = ", node.op, "(", absl::StrJoin(node.inputs, ", ", value),
                    ") : ", absl::StrJoin(node.outputs, ", ", spec), "  # ", node.name, "\n");
  }
  absl::StrAppend(&text, "fetch ", absl::StrJoin(module.fetches, ", ", value), "\n");
  for (const Update& update : module.updates) {
    absl::StrAppend(&text, At(module.variables, update.variable).name, " := ");
    value(&text, update.value);
    text += "\n";
  }
  return text;
}

}  // namespace estimator::ir
