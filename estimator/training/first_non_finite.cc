#include "estimator/training/first_non_finite.h"

#include <cmath>
#include <optional>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"

namespace estimator {
namespace {

// The loss and what it is computed from, and the gradients' side of the graph, in creation order:
// inputs come before what uses them.
std::vector<Tensor> FloatingTensors(const BuiltModel& model) {
  std::set<const Node*> needed;
  std::vector<const Node*> pending;
  if (model.spec.loss.valid()) pending.push_back(model.spec.loss.node());
  for (const Node* assign : CollectAssigns({model.spec.train_op}))
    pending.push_back(assign->input(1).node());
  while (!pending.empty()) {
    const Node* node = pending.back();
    pending.pop_back();
    if (!needed.insert(node).second) continue;
    for (const Tensor& input : node->inputs()) pending.push_back(input.node());
  }
  std::vector<Tensor> tensors;
  for (const auto& node : model.graph->nodes()) {
    if (needed.count(node.get()) == 0 || node->op() == "Const") continue;
    for (int i = 0; i < node->num_outputs(); ++i) {
      const Tensor output(model.graph.get(), node.get(), i);
      if (IsFloating(output.dtype()) && output.shape().num_elements() > 0)
        tensors.push_back(output);
    }
  }
  return tensors;
}

std::optional<std::string> DescribeNonFinite(const Tensor& tensor, const Array& value) {
  for (int64_t i = 0; i < value.num_elements(); ++i) {
    const double element = value.AsDouble(i);
    if (std::isfinite(element)) continue;
    std::vector<int64_t> index;
    int64_t rest = i;
    for (const int64_t stride : value.shape().strides()) {
      index.push_back(rest / stride);
      rest %= stride;
    }
    return absl::StrCat(
        tensor.name(), " (", tensor.spec().ToString(), ") is ", std::isnan(element) ? "NaN" : "Inf",
        value.shape().rank() > 0 ? absl::StrCat(" at ", Shape(std::move(index)).ToString()) : "",
        tensor.node()->op() == "VariableV2" ? " since the update of an earlier step" : "");
  }
  return std::nullopt;
}

}  // namespace

std::string FirstNonFiniteTensor(const BuiltModel& model, Backend& backend,
                                 const StepFeeds& feeds) {
  const std::vector<Tensor> tensors = FloatingTensors(model);
  auto executable = backend.Compile(
      *model.graph, {.feeds = model.placeholders, .fetches = tensors, .updates = {}});
  if (!executable.ok()) return absl::StrCat("(not found: ", executable.status().message(), ")");
  std::string found = "(no tensor is, when the step is run again)";
  const absl::StatusOr<int64_t> steps =
      (*executable)
          ->RunLoop(
              1,
              [&]() -> absl::StatusOr<std::optional<StepFeeds>> {
                return std::optional<StepFeeds>(feeds);
              },
              [&](int64_t, const StepFetches& fetches) {
                for (size_t i = 0; i < tensors.size(); ++i) {
                  for (size_t replica = 0; replica < fetches.size(); ++replica) {
                    const std::optional<std::string> text =
                        DescribeNonFinite(tensors[i], fetches[replica][i]);
                    if (!text.has_value()) continue;
                    found =
                        fetches.size() == 1 ? *text : absl::StrCat(*text, " on replica ", replica);
                    return absl::OkStatus();
                  }
                }
                return absl::OkStatus();
              });
  if (!steps.ok()) return absl::StrCat("(not found: ", steps.status().message(), ")");
  return found;
}

}  // namespace estimator
