#include "estimator/ops/branches.h"

#include <map>
#include <memory>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "estimator/base/status.h"
#include "estimator/graph/function.h"
#include "estimator/graph/gradients.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/op_registry.h"
#include "estimator/graph/variable.h"
#include "estimator/ops/building/function_gradient.h"
#include "estimator/ops/constant.h"

namespace estimator {
namespace {

using Functions = std::vector<std::shared_ptr<Function>>;

std::vector<TensorSpec> SpecsOf(const Tensors& tensors) {
  std::vector<TensorSpec> specs;
  for (const Tensor& tensor : tensors) specs.push_back(tensor.spec());
  return specs;
}

std::string Types(const std::vector<TensorSpec>& specs) {
  return absl::StrCat(
      "(",
      absl::StrJoin(specs, ", ",
                    [](std::string* out, const TensorSpec& s) { out->append(s.ToString()); }),
      ")");
}

OutputSpecs BranchRule(const ShapeContext& context, DType selector, absl::string_view what) {
  if (!(context.input(0) == TensorSpec{selector, {}})) {
    return InvalidArgument("the ", what, " must be ", TensorSpec{selector, {}}.ToString(), ", not ",
                           context.input(0).ToString());
  }
  const std::vector<TensorSpec> first = SpecsOf(context.functions[0]->results());
  for (size_t i = 1; i < context.functions.size(); ++i) {
    const std::vector<TensorSpec> other = SpecsOf(context.functions[i]->results());
    if (other == first) continue;
    return InvalidArgument("the branches return different types: '", context.functions[0]->name(),
                           "' ", Types(first), ", '", context.functions[i]->name(), "' ",
                           Types(other));
  }
  return first;
}

OutputSpecs IfRule(const ShapeContext& context) {
  return BranchRule(context, DType::kBool, "predicate");
}
OutputSpecs CaseRule(const ShapeContext& context) {
  return BranchRule(context, DType::kInt32, "index");
}

// The node that runs one of `functions`. Empty after an error.
Tensors AddBranches(Graph& graph, StringArg op, const Tensor& selector, Functions functions,
                    StringArg name) {
  Tensors inputs = {selector};
  for (const std::shared_ptr<Function>& function : functions) {
    if (function == nullptr) return {};
    inputs.insert(inputs.end(), function->captures().begin(), function->captures().end());
  }
  const size_t num_results = functions[0]->results().size();
  Node* const node = graph.AddNode(op, std::move(inputs), {}, name, {}, std::move(functions));
  Tensors results;
  for (size_t i = 0; i < num_results; ++i) results.emplace_back(&graph, node, static_cast<int>(i));
  return results;
}

// The branch that runs gives the gradients of what it captures; the others give zeros. A branch
// computes again what its gradient needs, so that a branch that does not run costs no memory.
Tensors BranchGradient(const Node& node, const Tensors& grads) {
  Graph& graph = GraphFor(grads);
  Tensors result(static_cast<size_t>(node.num_inputs()));
  // Of a tensor that several branches capture, the first input gets the gradient.
  std::vector<size_t> wanted;
  std::map<Tensor, size_t> position;
  for (size_t i = 1; i < result.size(); ++i) {
    const Tensor& input = node.inputs()[i];
    if (!IsFloating(input.dtype()) || !GradientWanted(input)) continue;
    if (position.emplace(input, wanted.size()).second) wanted.push_back(i);
  }
  if (wanted.empty()) return result;
  Functions functions;
  for (const std::shared_ptr<Function>& forward : node.functions()) {
    const auto build = [&](const Tensors&) {
      Tensors ys, grad_ys, xs;
      for (size_t k = 0; k < grads.size(); ++k) {
        if (!grads[k].valid()) continue;
        ys.push_back(forward->results()[k]);
        grad_ys.push_back(Graph::Current().Inside(grads[k]));
      }
      std::vector<size_t> positions;
      for (size_t j = 0; j < forward->captures().size(); ++j) {
        const auto found = position.find(forward->captures()[j]);
        if (found == position.end()) continue;
        xs.push_back(forward->captured()[j]);
        positions.push_back(found->second);
      }
      Tensors all(wanted.size());
      const Tensors of_xs = Gradients(ys, xs, grad_ys);
      for (size_t j = 0; j < of_xs.size(); ++j) all[positions[j]] = of_xs[j];
      for (size_t k = 0; k < all.size(); ++k) {
        const TensorSpec& spec = node.inputs()[wanted[k]].spec();
        if (!all[k].valid()) all[k] = Zeros(spec.shape, spec.dtype);
      }
      return all;
    };
    const auto resolve = [&forward](Function&, const Tensor& tensor) {
      return ForwardTensor(*forward, tensor, [](const Tensor&) { return Tensor(); });
    };
    functions.push_back(Function::BuildGradient(graph, *forward, {}, resolve, build));
  }
  const Tensors all = AddBranches(graph, node.op(), node.input(0), std::move(functions), node.op());
  for (size_t k = 0; k < all.size(); ++k) result[wanted[k]] = all[k];
  return result;
}

EST_REGISTER_OP("If", IfRule, BranchGradient);
EST_REGISTER_OP("Case", CaseRule, BranchGradient);

// A branch while it is built.
struct Branch {
  std::shared_ptr<Function> function;
  std::vector<Operation> returned;
};

Branch Build(Graph& graph, StringArg name, const std::function<Tensors()>& fn) {
  return {Function::Build(graph, name, {}, [&fn](const Tensors&) { return fn(); }), {}};
}

// Calls `build` in the name scope of the node, which TensorFlow's names of the variables that an
// optimizer makes in a branch begin with. Returns the name for AddNode.
std::string InScopeOfNode(Graph& graph, StringArg name, const std::function<void()>& build) {
  const NameScope scope(name, graph);
  build();
  return scope.prefix();
}

// The updates of a branch that `operations` run, by the name of the variable.
std::map<std::string, Graph::BodyUpdate> UpdatesOf(Graph& body,
                                                   const std::vector<Operation>& operations) {
  std::set<const Node*> seen;
  std::vector<Operation> pending = operations;
  while (!pending.empty()) {
    const Operation operation = pending.back();
    pending.pop_back();
    if (!operation.valid() || !seen.insert(operation.node()).second) continue;
    const std::vector<Operation>& inner = operation.node()->control_inputs();
    pending.insert(pending.end(), inner.begin(), inner.end());
  }
  std::map<std::string, Graph::BodyUpdate> updates;
  for (const Graph::BodyUpdate& update : body.body_updates()) {
    if (seen.count(update.operation.node()) > 0)
      updates.insert_or_assign(update.variable.name(), update);
  }
  return updates;
}

// Gives each branch one more result for each variable that one of them updates: the new value, or
// the old one. Returns these variables.
std::vector<Variable> CarryOut(std::vector<Branch>& branches, bool returned) {
  std::vector<std::map<std::string, Graph::BodyUpdate>> updates;
  std::map<std::string, Variable> variables;
  for (Branch& branch : branches) {
    Graph& body = branch.function->graph();
    updates.push_back(UpdatesOf(body, returned ? branch.returned : body.update_ops()));
    for (const auto& [name, update] : updates.back()) variables.emplace(name, update.variable);
  }
  std::vector<Variable> ordered;
  for (const auto& [name, variable] : variables) {
    ordered.push_back(variable);
    for (size_t b = 0; b < branches.size(); ++b) {
      const auto found = updates[b].find(name);
      branches[b].function->AddResult(found == updates[b].end() ? variable.read()
                                                                : found->second.value);
    }
  }
  return ordered;
}

struct Chosen {
  Tensors results;
  std::vector<Operation> updates;  // those of Branch::returned
};

Chosen Choose(Graph& graph, StringArg op, const Tensor& selector, std::vector<Branch> branches,
              StringArg name) {
  Functions functions;
  for (const Branch& branch : branches) {
    if (branch.function == nullptr) return {};
    functions.push_back(branch.function);
  }
  const size_t num_results = functions[0]->results().size();
  const std::vector<Variable> with_step = CarryOut(branches, false);
  const std::vector<Variable> returned = CarryOut(branches, true);
  Chosen chosen{AddBranches(graph, op, selector, std::move(functions), name), {}};
  if (chosen.results.size() < num_results + with_step.size() + returned.size()) return {};
  size_t next = num_results;
  for (const Variable& variable : with_step) {
    const Operation update = Assign(variable, chosen.results[next++]);
    graph.update_ops().push_back(update);
  }
  for (const Variable& variable : returned)
    chosen.updates.push_back(Assign(variable, chosen.results[next++]));
  chosen.results.resize(num_results);
  return chosen;
}

}  // namespace

Tensors Cond(const Tensor& predicate, const std::function<Tensors()>& true_fn,
             const std::function<Tensors()>& false_fn, StringArg name) {
  Graph& graph = GraphFor({predicate});
  std::vector<Branch> branches;
  const std::string node = InScopeOfNode(graph, name, [&] {
    branches = {Build(graph, "true_fn", true_fn), Build(graph, "false_fn", false_fn)};
  });
  return Choose(graph, "If", predicate, std::move(branches), node).results;
}

Tensor Cond(const Tensor& predicate, const std::function<Tensor()>& true_fn,
            const std::function<Tensor()>& false_fn, StringArg name) {
  const Tensors results = Cond(
      predicate, [&] { return Tensors{true_fn()}; }, [&] { return Tensors{false_fn()}; }, name);
  return results.empty() ? Tensor(&GraphFor({predicate}), nullptr, 0) : results[0];
}

Operation Cond(const Tensor& predicate, const std::function<Operation()>& true_fn,
               const std::function<Operation()>& false_fn, StringArg name) {
  Graph& graph = GraphFor({predicate});
  std::vector<Branch> branches;
  const auto build = [&](StringArg branch_name, const std::function<Operation()>& fn) {
    Operation operation;
    branches.push_back(Build(graph, branch_name, [&] {
      operation = fn();
      return Tensors();
    }));
    branches.back().returned = {operation};
  };
  const std::string node = InScopeOfNode(graph, name, [&] {
    build("true_fn", true_fn);
    build("false_fn", false_fn);
  });
  return Group(Choose(graph, "If", predicate, std::move(branches), node).updates, name);
}

Tensor Case(const std::vector<std::pair<Tensor, std::function<Tensor()>>>& predicates,
            const std::function<Tensor()>& default_fn, StringArg name) {
  std::function<Tensor()> fn = default_fn;
  for (auto pair = predicates.rbegin(); pair != predicates.rend(); ++pair)
    fn = [pair, rest = std::move(fn), name] { return Cond(pair->first, pair->second, rest, name); };
  return fn();
}

Tensors SwitchCase(const Tensor& index, const std::vector<std::function<Tensors()>>& branches,
                   StringArg name) {
  Graph& graph = GraphFor({index});
  if (branches.empty()) {
    graph.Fail(InvalidArgument("SwitchCase needs at least one branch"));
    return {};
  }
  std::vector<Branch> built;
  const std::string node = InScopeOfNode(graph, name, [&] {
    for (size_t i = 0; i < branches.size(); ++i)
      built.push_back(Build(graph, absl::StrCat("branch", i), branches[i]));
  });
  return Choose(graph, "Case", index, std::move(built), node).results;
}

}  // namespace estimator
