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
  if (!body.update_ops().empty())
    return "adds to the graph's update_ops; return the new value of the variable, and assign it "
           "outside";
  return "";
}

}  // namespace

Function::Function(Graph& outer, StringArg name)
    : name_(name), graph_(std::make_unique<Graph>(&outer)) {}

std::shared_ptr<Function> Function::Build(Graph& outer, StringArg name,
                                          const std::vector<TensorSpec>& parameters,
                                          const std::function<Tensors(const Tensors&)>& build) {
  if (!outer.status().ok()) return nullptr;
  std::shared_ptr<Function> function(new Function(outer, name));
  Graph& body = *function->graph_;
  const GraphScope scope(body);
  for (const TensorSpec& spec : parameters) {
    function->parameters_.push_back(
        body.AddOp("Placeholder", {}, {{"dtype", spec.dtype}, {"shape", spec.shape}}, "arg"));
  }
  function->results_ = build(function->parameters_);
  for (Tensor& result : function->results_) {
    if (!body.status().ok()) break;
    if (!result.valid()) {
      // The handle's own graph has the reason, unless the handle was default-constructed.
      if (result.graph() == nullptr || result.graph()->status().ok())
        body.Fail(InvalidArgument("a result is not a tensor (a default-constructed handle)"));
    } else if (result.graph() != &body) {
      result = body.Inside(result);
    }
  }
  if (body.status().ok()) {
    if (const std::string refused = Refused(body); !refused.empty())
      body.Fail(Unimplemented("it ", refused));
  }
  if (!body.status().ok())
    outer.Fail(absl::Status(body.status().code(),
                            absl::StrCat("in '", name, "': ", body.status().message())));
  return outer.status().ok() ? function : nullptr;
}

Tensors Function::inputs() const {
  Tensors all = parameters_;
  all.insert(all.end(), captured().begin(), captured().end());
  return all;
}

}  // namespace estimator
