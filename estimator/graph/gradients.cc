#include "estimator/graph/gradients.h"

#include <map>
#include <set>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/op_registry.h"

namespace estimator {
namespace {

// The nodes on a path from some x to some y.
std::set<const Node*> NodesBetween(const std::vector<Tensor>& xs, const std::vector<Tensor>& ys) {
  std::set<const Node*> ancestors;  // of ys
  std::vector<const Node*> pending;
  for (const Tensor& y : ys) {
    if (y.valid()) pending.push_back(y.node());
  }
  while (!pending.empty()) {
    const Node* node = pending.back();
    pending.pop_back();
    if (!ancestors.insert(node).second) continue;
    for (const Tensor& input : node->inputs()) pending.push_back(input.node());
  }
  std::set<const Node*> sources;
  for (const Tensor& x : xs) sources.insert(x.node());
  // Inputs have smaller ids than the nodes that use them, so one pass in id order finds all
  // descendants.
  std::map<int, const Node*> by_id;
  for (const Node* node : ancestors) by_id[node->id()] = node;
  std::set<const Node*> between;
  for (const auto& [id, node] : by_id) {
    bool on_path = sources.count(node) > 0;
    for (const Tensor& input : node->inputs()) on_path |= between.count(input.node()) > 0;
    if (on_path) between.insert(node);
  }
  return between;
}

Tensor SumOf(Graph& graph, const std::vector<Tensor>& parts) {
  if (parts.size() == 1) return parts[0];
  const Tensor sum = graph.AddOp("AddN", parts);
  KeepSlicesOfSum(sum, parts);
  return sum;
}

Tensor OnesFor(Graph& graph, const Tensor& y) {
  if (y.rank() > 0) return graph.AddOp("OnesLike", {y}, {}, "grad_ys");
  return graph.AddConst(Array::Scalar(1.0).Cast(y.dtype()), "grad_ys");
}

// The nodes that the innermost Gradients() of this thread differentiates through; null outside
// Gradients().
thread_local const std::set<const Node*>* wanted_nodes = nullptr;

// Collects the gradient of every tensor as a list of parts, and sums the parts when a node needs
// the gradient of its output.
class Differentiator {
 public:
  //   forward: has xs and ys.  graph: gets the gradients; it is `forward`, or inside it.
  Differentiator(Graph& forward, Graph& graph, const std::vector<Tensor>& xs,
                 const std::vector<Tensor>& ys)
      : forward_(forward), graph_(graph), between_(NodesBetween(xs, ys)) {}

  void Seed(const Tensor& y, const Tensor& grad) { parts_[y].push_back(grad); }

  // Visits the nodes from the last to the first, so that all parts of an output's gradient are
  // known when its node is visited.
  bool Run() {
    std::map<int, const Node*, std::greater<int>> order;
    for (const Node* node : between_) order[node->id()] = node;
    for (const auto& [id, node] : order) {
      if (!Visit(*node)) return false;
    }
    return true;
  }

  Tensor GradientOf(const Tensor& x) {
    const auto found = parts_.find(x);
    if (found == parts_.end()) return Tensor(&graph_, nullptr, 0);
    const Tensor sum = SumOf(graph_, found->second);
    found->second = {sum};
    return sum;
  }

 private:
  bool Visit(const Node& node) {
    std::vector<Tensor> grads;
    bool any = false;
    for (int i = 0; i < node.num_outputs(); ++i) {
      const Tensor output(&forward_, const_cast<Node*>(&node), i);
      grads.push_back(GradientOf(output));
      any |= grads.back().valid();
    }
    // No gradient is needed below a node whose inputs are all outside the path, such as an x.
    bool has_inner = false;
    for (const Tensor& input : node.inputs()) has_inner |= between_.count(input.node()) > 0;
    if (!any || !has_inner) return true;
    const auto override = forward_.gradient_overrides().find(&node);
    const bool overridden = override != forward_.gradient_overrides().end();
    if (!overridden && node.rules().not_differentiable) return true;
    const GradientFn& gradient = overridden ? override->second : node.rules().gradient;
    if (gradient == nullptr) {
      graph_.Fail(
          Unimplemented("no gradient is defined for op ", node.op(), " ('", node.name(),
                        "'), which is on the path from the loss to a variable; pass its result "
                        "through StopGradient if no gradient should flow through it"));
      return false;
    }
    const NameScope scope(absl::StrCat(node.name(), "_grad"), graph_);
    const std::vector<Tensor> input_grads = [&] {
      const absl::Cleanup restore = [outer = std::exchange(wanted_nodes, &between_)] {
        wanted_nodes = outer;
      };
      return gradient(node, grads);
    }();
    if (!graph_.status().ok()) return false;
    for (size_t i = 0; i < node.inputs().size() && i < input_grads.size(); ++i) {
      const Tensor& input = node.inputs()[i];
      const Tensor& grad = input_grads[i];
      if (!grad.valid() || between_.count(input.node()) == 0) continue;
      if (!(grad.spec() == input.spec())) {
        graph_.Fail(absl::InternalError(absl::StrCat("the gradient of ", node.op(), " for input ",
                                                     i, " is ", grad.spec().ToString(), ", not ",
                                                     input.spec().ToString())));
        return false;
      }
      parts_[input].push_back(grad);
    }
    return true;
  }

  Graph& forward_;
  Graph& graph_;
  const std::set<const Node*> between_;
  std::map<Tensor, std::vector<Tensor>> parts_;
};

}  // namespace

std::vector<Tensor> Gradients(const std::vector<Tensor>& all_ys, const std::vector<Tensor>& all_xs,
                              const std::vector<Tensor>& grad_ys) {
  Graph& graph = GraphFor(all_ys);
  const std::vector<Tensor> none(all_xs.size(), Tensor(&graph, nullptr, 0));
  const NameScope scope("gradients", graph);
  if (!grad_ys.empty() && grad_ys.size() != all_ys.size()) {
    graph.Fail(
        InvalidArgument("Gradients: ", grad_ys.size(), " grad_ys for ", all_ys.size(), " ys"));
    return none;
  }
  Graph* forward = nullptr;
  for (const Tensor& tensor : all_ys) {
    if (!tensor.valid()) return none;
    if (forward == nullptr || tensor.graph()->IsInside(*forward)) forward = tensor.graph();
  }
  if (forward == nullptr) return none;
  // In a body, what stands in it for a variable or another outer tensor is differentiated.
  const auto inside = [forward](std::vector<Tensor> tensors) {
    for (Tensor& tensor : tensors) tensor = forward->Inside(tensor);
    return tensors;
  };
  const std::vector<Tensor> ys = inside(all_ys), xs = inside(all_xs);
  for (const Tensor& tensor : ys) {
    if (!tensor.valid()) return none;
    if (!IsFloating(tensor.dtype())) {
      graph.Fail(InvalidArgument("Gradients: y '", tensor.name(), "' is ", tensor.spec().ToString(),
                                 "; it must be floating"));
      return none;
    }
  }
  for (const Tensor& tensor : xs) {
    if (!tensor.valid()) return none;
  }
  const size_t num_nodes_before = graph.nodes().size();
  Differentiator differentiator(*forward, graph, xs, ys);
  for (size_t i = 0; i < ys.size(); ++i) {
    const bool given = !grad_ys.empty() && grad_ys[i].valid();
    if (given && !(grad_ys[i].spec() == ys[i].spec())) {
      graph.Fail(InvalidArgument("Gradients: grad_ys[", i, "] is ", grad_ys[i].spec().ToString(),
                                 ", y is ", ys[i].spec().ToString()));
      return none;
    }
    differentiator.Seed(ys[i], given ? grad_ys[i] : OnesFor(graph, ys[i]));
  }
  if (!differentiator.Run()) return none;
  std::vector<Tensor> grads;
  for (const Tensor& x : xs) {
    Tensor grad = differentiator.GradientOf(x);
    // A grad_ys can be returned unchanged. Its node existed before and is not a gradient's, so the
    // result gets a node of its own.
    if (grad.valid() &&
        (grad.graph() != &graph || static_cast<size_t>(grad.node()->id()) < num_nodes_before)) {
      const Tensor own = graph.AddOp("AddN", {grad});
      KeepSlicesOfSum(own, {grad});
      grad = own;
    }
    grads.push_back(grad);
  }
  for (size_t i = num_nodes_before; i < graph.nodes().size(); ++i)
    graph.gradient_nodes().insert(graph.nodes()[i].get());
  return grads;
}

bool GradientWanted(const Tensor& input) {
  return wanted_nodes == nullptr || wanted_nodes->count(input.node()) > 0;
}

std::vector<Tensor> Gradients(const Tensor& y, const std::vector<Variable>& variables) {
  std::vector<Tensor> xs;
  for (const Variable& variable : variables) xs.push_back(variable.read());
  return Gradients(std::vector<Tensor>{y}, xs);
}

}  // namespace estimator
