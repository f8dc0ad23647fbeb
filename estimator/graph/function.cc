#include "estimator/graph/function.h"

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"

namespace estimator {
namespace {

// What a body asks for and a loop or a branch does not have; empty: nothing.
std::string Refused(Graph& body) {
  if (!body.losses().empty() || !body.regularization_losses().empty())
    return "adds a loss to the graph; return it, and add it outside";
  if (!body.summaries().empty()) return "writes a summary; return the value, and write it outside";
  return "";
}

}  // namespace

Function::Function(StringArg name, std::unique_ptr<Graph> graph)
    : name_(name), graph_(std::move(graph)) {}

std::shared_ptr<Function> Function::Build(Graph& outer, StringArg name,
                                          const std::vector<TensorSpec>& parameters,
                                          const std::function<Tensors(const Tensors&)>& build) {
  std::shared_ptr<Function> function(new Function(name, std::make_unique<Graph>(&outer)));
  return Finish(std::move(function), parameters, build);
}

std::shared_ptr<Function> Function::BuildGradient(
    Graph& outer, Function& forward, const std::vector<TensorSpec>& parameters,
    const Resolver& resolve, const std::function<Tensors(const Tensors&)>& build) {
  // The graph is made before the function that owns it.
  const auto self = std::make_shared<Function*>(nullptr);
  auto graph = std::make_unique<Graph>(
      &outer, forward.graph_.get(),
      [self, resolve](const Tensor& tensor) { return resolve(**self, tensor); });
  std::shared_ptr<Function> function(
      new Function(absl::StrCat(forward.name_, "_grad"), std::move(graph)));
  *self = function.get();
  return Finish(std::move(function), parameters, build);
}

std::shared_ptr<Function> Function::Finish(std::shared_ptr<Function> function,
                                           const std::vector<TensorSpec>& parameters,
                                           const std::function<Tensors(const Tensors&)>& build) {
  Graph& body = *function->graph_;
  Graph& outer = *body.outer();
  if (!outer.status().ok()) return nullptr;
  const GraphScope scope(body);
  for (const TensorSpec& spec : parameters) function->AddParameter(spec);
  function->results_ = build(Tensors(function->parameters_));
  for (Tensor& result : function->results_) {
    if (!body.status().ok()) break;
    if (result.valid()) {
      result = body.Inside(result);
    } else {
      // The handle's own graph has the reason, unless the handle was default-constructed.
      body.Fail(result.graph() != nullptr && !result.graph()->status().ok()
                    ? result.graph()->status()
                    : InvalidArgument("a result is not a tensor (a default-constructed handle)"));
    }
  }
  if (body.status().ok()) {
    if (const std::string refused = Refused(body); !refused.empty())
      body.Fail(Unimplemented("it ", refused));
  }
  if (!body.status().ok()) {
    outer.Fail(Annotate(body.status(), absl::StrCat("in '", function->name_, "'")));
    return nullptr;
  }
  return function;
}

Tensor Function::AddParameter(const TensorSpec& spec) {
  parameters_.push_back(
      graph_->AddOp("Placeholder", {}, {{"dtype", spec.dtype}, {"shape", spec.shape}}, "arg"));
  return parameters_.back();
}

Tensors Function::inputs() const {
  Tensors all = parameters_;
  all.insert(all.end(), captured().begin(), captured().end());
  return all;
}

}  // namespace estimator
