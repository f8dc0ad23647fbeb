#include "estimator/runtime/ir.h"

#include <queue>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "estimator/op_def/op_def.h"
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
  return {.kind = Node::Kind::kConstant,
          .op = "Const",
          .name = std::move(name),
          .outputs = {{value.dtype(), value.shape()}},
          .constant = value};
}

Node MakeReshape(Value input, const TensorSpec& spec, std::string name) {
  return {.op = "Reshape", .name = std::move(name), .inputs = {input}, .outputs = {spec}};
}

Attrs CastAttrs(DType from, DType to) {
  return {{"SrcT", from}, {"DstT", to}, {"Truncate", false}};
}

std::vector<Value> AppendSteps(const Node& node, const std::vector<Value>& inputs, Origin& origin) {
  const int first = static_cast<int>(origin.steps.size());
  std::vector<Value> outputs;
  if (node.origin == nullptr) {
    origin.steps.push_back({.op = node.op,
                            .name = node.name,
                            .attrs = node.attrs,
                            .inputs = inputs,
                            .outputs = node.outputs});
    for (int o = 0; o < static_cast<int>(node.outputs.size()); ++o) outputs.push_back({first, o});
    return outputs;
  }
  const auto moved = [&](Value value) {
    return value.node < 0 ? At(inputs, value.output) : Value{value.node + first, value.output};
  };
  // A fused op may have no reference kernel, so the ops that it has replaced are appended.
  for (Origin::Step step : node.origin->steps) {
    for (Value& input : step.inputs) input = moved(input);
    origin.steps.push_back(std::move(step));
  }
  for (const Value& output : node.origin->outputs) outputs.push_back(moved(output));
  return outputs;
}

std::vector<Value> OwnInputs(const Node& node, int first) {
  std::vector<Value> inputs;
  for (int i = 0; i < static_cast<int>(node.inputs.size()); ++i) inputs.push_back({-1, first + i});
  return inputs;
}

int FirstCapture(const Node& node, size_t f) {
  int input = 1;  // the number of trips, the predicate or the index
  if (node.op == kWhileOp)
    input += static_cast<int>(node.attrs.i("num_carried") + node.attrs.i("num_scanned"));
  for (size_t before = 0; before < f; ++before) {
    const Module* const module = node.functions[before].get();
    if (module != nullptr) input += static_cast<int>(module->feeds.size()) - module->num_parameters;
  }
  return input;
}

KernelSpec SpecOf(const Module& module, const Node& node) {
  KernelSpec spec;
  spec.op = node.op;
  spec.name = node.name;
  spec.attrs = node.attrs;
  spec.outputs = node.outputs;
  spec.conv_algorithm = module.conv_algorithm;
  spec.compute_dtype = module.compute_dtype;
  // A kernel may read the values of its constants, which may be behind a view.
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
  for (const Update& update : module.updates) At(readers, update.value.node).push_back(-1);
  return readers;
}

std::set<int> NodesBelow(const Module& module, const std::vector<Value>& from,
                         const std::function<bool(Value)>& enter) {
  std::set<int> nodes;
  std::vector<Value> stack = from;
  while (!stack.empty()) {
    const Value value = stack.back();
    stack.pop_back();
    if (!enter(value) || !nodes.insert(value.node).second) continue;
    const std::vector<Value>& inputs = module.node(value).inputs;
    stack.insert(stack.end(), inputs.begin(), inputs.end());
  }
  return nodes;
}

namespace {

void ReplaceUse(Value& value, const Replacements& to) {
  // What replaces a value may have been replaced itself.
  while (static_cast<size_t>(value.node) < to.size()) {
    const std::vector<Value>& outputs = At(to, value.node);
    const size_t output = static_cast<size_t>(value.output);
    if (output >= outputs.size() || outputs[output].node < 0) return;
    value = outputs[output];
  }
}

}  // namespace

void ReplaceInputs(Node& node, const Replacements& to) {
  for (Value& input : node.inputs) ReplaceUse(input, to);
}

void ReplaceUses(Module& module, const Replacements& to) {
  for (Node& node : module.nodes) ReplaceInputs(node, to);
  for (Value& fetch : module.fetches) ReplaceUse(fetch, to);
  for (Update& update : module.updates) ReplaceUse(update.value, to);
}

void Compact(Module& module, const std::map<int, int>& after) {
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
  using Place = std::pair<int, int>;  // the number that decides, and the node's own
  std::priority_queue<Place, std::vector<Place>, std::greater<>> ready;
  const auto push = [&](int n) {
    const auto it = after.find(n);
    ready.emplace(it == after.end() ? n : it->second, n);
  };
  size_t num_live = 0;
  for (size_t n = 0; n < size; ++n) {
    if (!live[n]) continue;
    ++num_live;
    // A node that reads a value twice is twice in its list of readers too.
    missing[n] = static_cast<int>(module.nodes[n].inputs.size());
    for (const Value& input : module.nodes[n].inputs) {
      At(readers, input.node).push_back(static_cast<int>(n));
    }
    if (missing[n] == 0) push(static_cast<int>(n));
  }
  std::vector<int> new_index(size, -1);
  std::vector<Node> nodes;
  nodes.reserve(num_live);
  while (!ready.empty()) {
    const size_t n = static_cast<size_t>(ready.top().second);
    ready.pop();
    new_index[n] = static_cast<int>(nodes.size());
    nodes.push_back(std::move(module.nodes[n]));
    for (const int reader : readers[n]) {
      if (--At(missing, reader) == 0) push(reader);
    }
  }
  // A node of a cycle is never ready.
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
    for (const auto& body : node.functions) {
      if (body == nullptr) continue;
      absl::StrAppend(&text, "  {\n  ",
                      absl::StrReplaceAll(absl::StripTrailingAsciiWhitespace(ToString(*body)),
                                          {{"\n", "\n  "}}),
                      "\n  }\n");
    }
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
