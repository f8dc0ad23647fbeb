#include "estimator/ops/branches.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "estimator/base/status.h"
#include "estimator/graph/function.h"
#include "estimator/graph/gradients.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/op_registry.h"
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

std::shared_ptr<Function> Branch(Graph& graph, StringArg name,
                                 const std::function<Tensors()>& build) {
  return Function::Build(graph, name, {}, [&build](const Tensors&) { return build(); });
}

}  // namespace

Tensors Cond(const Tensor& predicate, const std::function<Tensors()>& true_fn,
             const std::function<Tensors()>& false_fn, StringArg name) {
  Graph& graph = GraphFor({predicate});
  Functions functions = {Branch(graph, "true_fn", true_fn), Branch(graph, "false_fn", false_fn)};
  return AddBranches(graph, "If", predicate, std::move(functions), name);
}

Tensor Cond(const Tensor& predicate, const std::function<Tensor()>& true_fn,
            const std::function<Tensor()>& false_fn, StringArg name) {
  const Tensors results = Cond(
      predicate, [&] { return Tensors{true_fn()}; }, [&] { return Tensors{false_fn()}; }, name);
  return results.empty() ? Tensor(&GraphFor({predicate}), nullptr, 0) : results[0];
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
  Functions functions;
  for (size_t i = 0; i < branches.size(); ++i)
    functions.push_back(Branch(graph, absl::StrCat("branch", i), branches[i]));
  return AddBranches(graph, "Case", index, std::move(functions), name);
}

}  // namespace estimator
