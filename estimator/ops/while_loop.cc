#include "estimator/ops/while_loop.h"

#include <limits>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/graph/function.h"
#include "estimator/graph/gradients.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/indexed_slices.h"
#include "estimator/graph/op_registry.h"
#include "estimator/op_def/op_def.h"
#include "estimator/ops/building/function_gradient.h"
#include "estimator/ops/building/loop.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/gather.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/shape_ops.h"

namespace estimator {
namespace {

// The operands and functions of a While node by their meaning.
struct Parts {
  explicit Parts(const Node& node)
      : num_carried(static_cast<size_t>(node.attrs().i("num_carried"))),
        num_scanned(static_cast<size_t>(node.attrs().i("num_scanned"))),
        num_stacked(static_cast<size_t>(node.num_outputs()) - num_carried - 1),
        body(*node.functions()[1]) {
    first_capture = 1 + num_carried + num_scanned;
    if (node.functions()[0] != nullptr) first_capture += node.functions()[0]->captures().size();
  }
  size_t carried(size_t k) const { return 1 + k; }  // the number of the input
  size_t scanned(size_t k) const { return 1 + num_carried + k; }
  size_t captured(size_t k) const { return first_capture + k; }

  const size_t num_carried, num_scanned, num_stacked;
  size_t first_capture;
  Function& body;
};

OutputSpecs WhileRule(const ShapeContext& context) {
  const auto num_carried = static_cast<size_t>(context.attrs.i("num_carried"));
  const Function* const cond = context.functions[0].get();
  const Tensors& results = context.functions[1]->results();
  if (cond != nullptr && !(cond->results()[0].spec() == TensorSpec{DType::kBool, {}})) {
    return InvalidArgument("the condition of a loop must be bool [], not ",
                           cond->results()[0].spec().ToString());
  }
  if (results.size() < num_carried) {
    return InvalidArgument("the body returns ", results.size(), " tensors for ", num_carried,
                           " loop variables");
  }
  std::vector<TensorSpec> outputs;
  for (size_t k = 0; k < num_carried; ++k) {
    const Tensor& initial = context.inputs[1 + k];
    if (!(results[k].spec() == initial.spec())) {
      return InvalidArgument("loop variable ", k, " ('", initial.name(), "') is ",
                             initial.spec().ToString(), " before the loop, and the body returns ",
                             results[k].spec().ToString(),
                             "; types and shapes must stay the same from trip to trip");
    }
    outputs.push_back(initial.spec());
  }
  outputs.push_back({DType::kInt64, {}});
  for (size_t k = num_carried; k < results.size(); ++k)
    outputs.push_back(
        {results[k].dtype(), results[k].shape().Stacked(context.attrs.i("capacity"))});
  return outputs;
}

Node* AddWhile(Graph& graph, const LoopSpec& loop, std::shared_ptr<Function> cond,
               std::shared_ptr<Function> body, bool backward) {
  if (body == nullptr) return nullptr;
  Tensors inputs = {loop.trips.valid() ? loop.trips
                                       : Constant(std::numeric_limits<int64_t>::max())};
  for (const Tensors* list : {&loop.carried, &loop.scanned})
    inputs.insert(inputs.end(), list->begin(), list->end());
  for (const Function* function : {cond.get(), body.get()}) {
    if (function == nullptr) continue;
    inputs.insert(inputs.end(), function->captures().begin(), function->captures().end());
  }
  Attrs attrs = {{"num_carried", static_cast<int64_t>(loop.carried.size())},
                 {"num_scanned", static_cast<int64_t>(loop.scanned.size())},
                 {"capacity", loop.capacity},
                 {"reverse", loop.reverse},
                 {"backward", backward}};
  if (loop.draws_in_order) attrs.Set("draws_in_order", true);
  return graph.AddNode("While", std::move(inputs), std::move(attrs), loop.name, {},
                       {std::move(cond), std::move(body)});
}

// The loop variables and captures of a loop through which a gradient flows.
class Paths {
 public:
  //   grads: of the outputs of the node; invalid where none comes in.
  Paths(const Parts& parts, const Tensors& grads) : parts_(parts) {
    const Tensors& results = parts.body.results();
    carried_.resize(parts.num_carried);
    for (size_t k = 0; k < parts.num_carried; ++k) {
      if (grads[k].valid()) Reach(results[k]);
    }
    for (size_t k = 0; k < parts.num_stacked; ++k) {
      if (grads[parts.num_carried + 1 + k].valid()) Reach(results[parts.num_carried + k]);
    }
    // What reaches a loop variable at the start of a trip reaches the result before it.
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t k = 0; k < parts.num_carried; ++k) {
        const bool reached = IsFloating(results[k].dtype()) &&
                             (grads[k].valid() || Reached(parts.body.parameters()[k]));
        if (!reached || carried_[k]) continue;
        carried_[k] = changed = true;
        Reach(results[k]);
      }
    }
  }
  bool carried(size_t k) const { return carried_[k]; }
  bool scanned(size_t k) const { return Reached(parts_.body.parameters()[parts_.num_carried + k]); }
  bool captured(size_t k) const { return Reached(parts_.body.captured()[k]); }

 private:
  bool Reached(const Tensor& input) const {
    return IsFloating(input.dtype()) && reached_.count(input.node()) > 0;
  }
  void Reach(const Tensor& result) {
    std::vector<const Node*> pending = {result.node()};
    while (!pending.empty()) {
      const Node* const node = pending.back();
      pending.pop_back();
      if (!reached_.insert(node).second || node->rules().not_differentiable) continue;
      for (const Tensor& input : node->inputs()) pending.push_back(input.node());
    }
  }

  const Parts& parts_;
  std::set<const Node*> reached_;  // nodes of the body
  std::vector<char> carried_;
};

// sum + gradient. The rows of an embedding are added one by one.
Tensor Accumulate(const Tensor& sum, const Tensor& gradient) {
  if (const std::optional<IndexedSlices> slices = SlicesOf(gradient))
    return TensorScatterAdd(sum, ExpandDims(slices->indices, 1), slices->values);
  return Add(sum, gradient);
}

// Whether computing the value again costs less than to keep it from trip to trip: it moves or
// converts what is kept already.
bool CheaperAgain(const Tensor& tensor) {
  const std::string& op = tensor.node()->op();
  return TraitsOf(op).view || op == "Cast" || op == "ZerosLike" || op == "OnesLike" ||
         op == "Fill" || op == "BroadcastTo" || !tensor.shape().fully_known();
}

// The backward loop runs the trips of the loop in the other direction. It carries the gradients of
// the loop variables and the sums of those of the captured tensors. What the gradient of a trip
// needs of the forward trip is a row of a stacked result that the forward loop gets for it.
Tensors WhileGradient(const Node& node, const Tensors& grads) {
  Graph& graph = GraphFor(grads);
  Graph& forward_graph = *node.input(0).graph();
  Tensors result(static_cast<size_t>(node.num_inputs()));
  if (node.attrs().b("backward")) {
    graph.Fail(Unimplemented("the gradient of the gradient of loop '", node.name(),
                             "' is not defined; pass the first gradient through StopGradient"));
    return result;
  }
  const Parts parts(node);
  Function& body = parts.body;
  const Paths paths(parts, grads);

  LoopSpec loop{.name = node.name(),
                .trips = ResultOf(node, static_cast<int>(parts.num_carried)),
                .capacity = node.attrs().i("capacity"),
                .reverse = !node.attrs().b("reverse")};
  // The operands of the body, of which Gradients() is asked, and where their gradients go.
  Tensors ys, xs;
  std::vector<size_t> carried, scanned, captured;
  for (size_t k = 0; k < parts.num_carried; ++k) {
    if (!paths.carried(k)) continue;
    carried.push_back(k);
    ys.push_back(body.results()[k]);
    xs.push_back(body.parameters()[k]);
    const TensorSpec& spec = node.outputs()[k];
    loop.carried.push_back(grads[k].valid() ? grads[k] : Zeros(spec.shape, spec.dtype));
  }
  for (size_t k = 0; k < body.captures().size(); ++k) {
    if (!paths.captured(k) || !GradientWanted(node.inputs()[parts.captured(k)])) continue;
    captured.push_back(k);
    xs.push_back(body.captured()[k]);
    const TensorSpec& spec = body.captures()[k].spec();
    loop.carried.push_back(Zeros(spec.shape, spec.dtype));
  }
  for (size_t k = 0; k < parts.num_scanned; ++k) {
    if (!paths.scanned(k) || !GradientWanted(node.inputs()[parts.scanned(k)])) continue;
    scanned.push_back(k);
    xs.push_back(body.parameters()[parts.num_carried + k]);
  }
  for (size_t k = 0; k < parts.num_stacked; ++k) {
    const Tensor& grad = grads[parts.num_carried + 1 + k];
    if (!grad.valid()) continue;
    ys.push_back(body.results()[parts.num_carried + k]);
    loop.scanned.push_back(grad);
  }
  if (ys.empty() || xs.empty()) return result;

  const std::vector<TensorSpec> specs = BodyParameters(loop);
  const auto save = [&](Function& function, const Tensor& tensor) -> Tensor {
    const bool is_parameter = tensor.node()->op() == "Placeholder";
    if (!is_parameter && CheaperAgain(tensor)) return Tensor();
    // An element of a scanned input is a row of that input.
    for (size_t k = 0; k < parts.num_scanned; ++k) {
      if (!(body.parameters()[parts.num_carried + k] == tensor)) continue;
      loop.scanned.push_back(node.inputs()[parts.scanned(k)]);
      return function.AddParameter(tensor.spec());
    }
    loop.scanned.push_back(forward_graph.AddStackedResults(const_cast<Node&>(node), {tensor})[0]);
    return function.AddParameter(tensor.spec());
  };
  const auto resolve = [&](Function& function, const Tensor& tensor) {
    return ForwardTensor(body, tensor, [&](const Tensor& t) { return save(function, t); });
  };
  const auto build = [&](const Tensors& parameters) {
    Tensors grad_ys(parameters.begin(), parameters.begin() + static_cast<int64_t>(carried.size()));
    grad_ys.insert(grad_ys.end(),
                   parameters.begin() + static_cast<int64_t>(carried.size() + captured.size()),
                   parameters.end());
    const Tensors of_xs = Gradients(ys, xs, grad_ys);
    Tensors results;
    for (size_t x = 0; x < xs.size(); ++x) {
      const TensorSpec& spec = xs[x].spec();
      const bool is_sum = x >= carried.size() && x < carried.size() + captured.size();
      if (is_sum)
        results.push_back(of_xs[x].valid() ? Accumulate(parameters[x], of_xs[x]) : parameters[x]);
      else
        results.push_back(of_xs[x].valid() ? of_xs[x] : Zeros(spec.shape, spec.dtype));
    }
    return results;
  };
  std::shared_ptr<Function> function = Function::BuildGradient(graph, body, specs, resolve, build);
  Node* const backward = AddWhile(graph, loop, nullptr, std::move(function), true);
  if (backward == nullptr) return result;
  int output = 0;
  for (const size_t k : carried) result[parts.carried(k)] = Tensor(&graph, backward, output++);
  for (const size_t k : captured) result[parts.captured(k)] = Tensor(&graph, backward, output++);
  ++output;  // the number of trips
  for (const size_t k : scanned) result[parts.scanned(k)] = Tensor(&graph, backward, output++);
  return result;
}

EST_REGISTER_OP("While", WhileRule, WhileGradient);

}  // namespace

std::vector<TensorSpec> BodyParameters(const LoopSpec& loop) {
  std::vector<TensorSpec> specs;
  for (const Tensor& tensor : loop.carried) specs.push_back(tensor.spec());
  for (const Tensor& tensor : loop.scanned) specs.push_back({tensor.dtype(), tensor.shape().Row()});
  return specs;
}

Tensors AddLoop(const LoopSpec& loop) {
  Tensors operands = loop.carried;
  operands.insert(operands.end(), loop.scanned.begin(), loop.scanned.end());
  for (const Tensor& operand : operands) {
    if (!operand.valid()) return {};
  }
  Graph& graph = GraphFor(operands);
  const std::vector<TensorSpec> specs = BodyParameters(loop);
  const auto num_carried = static_cast<int64_t>(loop.carried.size());
  std::shared_ptr<Function> cond;
  if (loop.cond != nullptr) {
    cond = Function::Build(graph, "cond", {specs.begin(), specs.begin() + num_carried},
                           [&](const Tensors& p) { return Tensors{loop.cond(p)}; });
    if (cond == nullptr) return {};
  }
  std::shared_ptr<Function> body =
      Function::Build(graph, "body", specs, [&](const Tensors& parameters) {
        const auto elements = parameters.begin() + num_carried;
        return loop.body(Tensors(parameters.begin(), elements),
                         Tensors(elements, parameters.end()));
      });
  if (body != nullptr && !body->graph().body_updates().empty()) {
    graph.Fail(
        Unimplemented("the body of loop '", loop.name, "' updates variable '",
                      body->graph().body_updates()[0].variable.name(),
                      "'; make its value a loop variable, and assign the last value outside"));
    return {};
  }
  Node* const node = AddWhile(graph, loop, std::move(cond), std::move(body), false);
  Tensors results;
  for (int i = 0; node != nullptr && i < node->num_outputs(); ++i) {
    // The number of trips is for the gradient.
    if (i != num_carried) results.emplace_back(&graph, node, i);
  }
  return results;
}

Tensors WhileLoop(const std::function<Tensor(const Tensors&)>& cond,
                  const std::function<Tensors(const Tensors&)>& body, const Tensors& loop_vars,
                  const WhileLoopOptions& options) {
  LoopSpec loop{.name = options.name,
                .cond = cond,
                .body =
                    [&](const Tensors& carried, const Tensors&) {
                      Tensors results = body(carried);
                      if (results.size() != carried.size()) {
                        Graph::Current().Fail(InvalidArgument("the body returns ", results.size(),
                                                              " tensors for ", carried.size(),
                                                              " loop variables"));
                      }
                      return results;
                    },
                .carried = loop_vars};
  if (loop_vars.empty()) {
    Graph::Current().Fail(InvalidArgument("WhileLoop needs at least one loop variable"));
    return {};
  }
  if (options.maximum_iterations.has_value()) {
    Graph& graph = GraphFor(loop_vars);
    if (*options.maximum_iterations < 0) {
      graph.Fail(InvalidArgument("WhileLoop: maximum_iterations is ", *options.maximum_iterations,
                                 "; it must not be negative"));
      return {};
    }
    loop.capacity = *options.maximum_iterations;
    loop.trips = graph.AddConst(Array::Scalar<int64_t>(loop.capacity), "maximum_iterations");
  }
  Tensors results = AddLoop(loop);
  // After an error, model code may index the results.
  results.resize(loop_vars.size(), Tensor(&GraphFor(loop_vars), nullptr, 0));
  return results;
}

}  // namespace estimator
