#include "estimator/runtime/passes/rewriter.h"

#include <algorithm>
#include <memory>

namespace estimator::ir {

Rewriter::Rewriter(Module& module, KernelTier fastest) : module_(module), fastest_(fastest) {
  for (int n = 0; n < module.num_nodes(); ++n) {
    if (IsView(module.node(n))) continue;  // its readers are listed in its place
    for (const Value& input : module.node(n).inputs) readers_[Root(module, input)].push_back(n);
  }
  // Fetches and updates are readers too, so that no pass fuses away what they need.
  for (const Value& fetch : module.fetches) readers_[Root(module, fetch)].push_back(-1);
  for (const Update& update : module.updates) readers_[Root(module, update.value)].push_back(-1);
}

void Rewriter::ForEach(const Pattern& pattern, const std::function<void(Match&)>& visit) {
  for (int n = 0, size = module_.num_nodes(); n < size; ++n) {
    // A view of an op matches too, but would be a second match of the same op.
    if (IsView(module_.node(n)) && !pattern.direct) continue;
    Match match;
    if (Matches(pattern, {n, 0}, &match)) visit(match);
  }
}

bool Rewriter::Matches(const Pattern& pattern, Value value, Match* match) const {
  Match trial = *match;
  if (!MatchPattern(module_, pattern, value, &trial)) return false;
  for (const int n : trial.nodes) {
    if (is_replaced(n)) return false;
  }
  *match = std::move(trial);
  return true;
}

const std::vector<int>& Rewriter::readers(Value value) const {
  static const auto* const none = new std::vector<int>();
  const auto it = readers_.find(Root(module_, value));
  return it == readers_.end() ? *none : it->second;
}

int Rewriter::OnlyReader(Value value) const {
  const std::vector<int>& all = readers(value);
  return all.size() == 1 ? all[0] : -1;
}

bool Rewriter::MatchesOnlyReader(const Pattern& pattern, Value value, Match* match) const {
  const int reader = OnlyReader(value);
  return reader >= 0 && Matches(pattern, {reader, 0}, match);
}

bool Rewriter::FindAbove(const Pattern& pattern, Value value, Match* match, int steps) const {
  for (const int n : readers(value)) {
    if (n < 0 || match->nodes.count(n) > 0) continue;
    if (Matches(pattern, {n, 0}, match)) return true;
    if (steps > 1 && FindAbove(pattern, {n, 0}, match, steps - 1)) return true;
  }
  return false;
}

bool Rewriter::OnlyReadInside(const std::set<int>& nodes, const std::vector<Value>& outputs,
                              int also) const {
  for (const int n : nodes) {
    if (IsView(module_.node(n))) continue;  // its readers are those of what it is a view of
    for (int o = 0; o < static_cast<int>(module_.node(n).outputs.size()); ++o) {
      if (std::count(outputs.begin(), outputs.end(), Value{n, o}) > 0) continue;
      for (const int reader : readers({n, o})) {
        if (reader < 0 || (reader != also && nodes.count(reader) == 0)) return false;
      }
    }
  }
  return true;
}

bool Rewriter::Accepts(Node& node, KernelTier slowest, bool widened) const {
  if (fastest_ == KernelTier::kReference) return false;
  node.slowest = slowest;
  const KernelSpec spec = SpecOf(module_, node);
  return widened ? estimator::Accepts(spec, fastest_, slowest)
                 : AcceptsUnwidened(spec, fastest_, slowest);
}

bool Rewriter::Fuse(const std::set<int>& nodes, std::vector<Fusion> fusions, int rewritten) {
  std::vector<Value> outputs;
  for (const Fusion& fusion : fusions)
    outputs.insert(outputs.end(), fusion.outputs.begin(), fusion.outputs.end());
  // This is cheaper than to ask kernels, and refuses most matches that do not fit.
  if (!OnlyReadInside(nodes, outputs, rewritten)) return false;
  for (Fusion& fusion : fusions) {
    // A value in between is gone afterwards, unless a new node has its number.
    for (const Value& input : fusion.node.inputs) {
      const bool is_new = std::any_of(fusions.begin(), fusions.end(),
                                      [&](const Fusion& f) { return f.place == input.node; });
      if (nodes.count(input.node) > 0 && !IsView(module_.node(input)) && !is_new &&
          std::count(outputs.begin(), outputs.end(), input) == 0)
        return false;
    }
    if (!Complete(nodes, fusion)) return false;
  }
  // A new node may read another new one, so all are in the module before a kernel is asked.
  const auto size = static_cast<std::ptrdiff_t>(module_.nodes.size());
  std::vector<int> places;
  for (Fusion& fusion : fusions) {
    places.push_back(fusion.place >= 0 ? fusion.place : Add({}).node);
    std::swap(module_.node(places.back()), fusion.node);
  }
  bool accepted = true;
  for (size_t i = 0; i < fusions.size() && accepted; ++i)
    accepted = Accepts(module_.node(places[i]), fusions[i].slowest);
  if (!accepted) {
    for (size_t i = fusions.size(); i-- > 0;) std::swap(module_.node(places[i]), fusions[i].node);
    module_.nodes.erase(module_.nodes.begin() + size, module_.nodes.end());
    return false;
  }
  for (const int n : nodes) {
    if (IsView(module_.node(n))) continue;
    ++module_.num_fused_nodes;
    // What is at a place now is a new node, which may be rewritten again.
    if (std::count(places.begin(), places.end(), n) == 0) replaced_.insert(n);
  }
  for (size_t i = 0; i < fusions.size(); ++i) {
    for (int o = 0; o < static_cast<int>(fusions[i].outputs.size()); ++o) {
      const Value from = At(fusions[i].outputs, o), to{places[i], o};
      if (from != to) Replace(from, to);
    }
  }
  return true;
}

// Fills in what a fusion leaves to Fuse. Returns false if the nodes cannot be replaced by it.
bool Rewriter::Complete(const std::set<int>& nodes, Fusion& fusion) const {
  Node& node = fusion.node;
  if (node.name.empty()) node.name = module_.node(fusion.outputs[0]).name;
  if (node.outputs.empty()) {
    for (const Value& output : fusion.outputs) node.outputs.push_back(module_.spec(output));
  }
  return fusion.has_reference || node.origin != nullptr || SetOrigin(nodes, fusion);
}

// Makes the nodes that the outputs depend on the origin. Constants that only the origin needs are
// added to the inputs. Returns false if the nodes need a value that is neither an input nor a
// constant.
bool Rewriter::SetOrigin(const std::set<int>& nodes, Fusion& fusion) const {
  std::vector<Value>& given = fusion.node.inputs;
  // The other nodes only belong to the other pass, forward or backward, of the same layer.
  const std::set<int> needed = NodesBelow(module_, fusion.outputs, [&](Value value) {
    return nodes.count(value.node) > 0 && std::count(given.begin(), given.end(), value) == 0;
  });
  auto origin = std::make_shared<Origin>();
  std::map<int, std::vector<Value>> results;  // of each node, among the steps of the origin
  for (const int n : needed) {
    std::vector<Value> inputs;
    for (const Value& input : module_.node(n).inputs) {
      auto it = std::find(given.begin(), given.end(), input);
      if (it == given.end() && needed.count(input.node) > 0) {
        inputs.push_back(At(results.at(input.node), input.output));
        continue;
      }
      if (it == given.end()) {
        if (module_.constant(Root(module_, input)) == nullptr) return false;
        it = given.insert(given.end(), input);
      }
      inputs.push_back({-1, static_cast<int>(it - given.begin())});
    }
    results[n] = AppendSteps(module_.node(n), inputs, *origin);
  }
  for (const Value& output : fusion.outputs)
    origin->outputs.push_back(At(results.at(output.node), output.output));
  fusion.node.origin = std::move(origin);
  return true;
}

Value Rewriter::AddOp(const std::string& op, std::vector<Value> inputs, const TensorSpec& output,
                      const std::string& name, Attrs attrs) {
  return Add({.op = op,
              .name = name,
              .attrs = std::move(attrs),
              .inputs = std::move(inputs),
              .outputs = {output}});
}

Value Rewriter::AddCast(Value value, DType to, const std::string& name) {
  const TensorSpec from = module_.spec(value);
  return AddOp("Cast", {value}, {to, from.shape}, name, CastAttrs(from.dtype, to));
}

void Rewriter::Replace(Value from, Value to) {
  if (to_.size() < module_.nodes.size()) to_.resize(module_.nodes.size());
  std::vector<Value>& replaced = At(to_, from.node);
  replaced.resize(std::max(replaced.size(), static_cast<size_t>(from.output) + 1));
  At(replaced, from.output) = to;
  // A node with several outputs may still be needed for the others.
  if (module_.node(from).outputs.size() == 1) replaced_.insert(from.node);
}

void Rewriter::Finish() {
  ReplaceUses(module_, to_);
  Compact(module_);
}

}  // namespace estimator::ir
