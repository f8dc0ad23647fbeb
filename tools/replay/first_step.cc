#include "tools/replay/first_step.h"

#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/base/strings.h"
#include "estimator/graph/gradients.h"
#include "tools/replay/report.h"

namespace estimator::replay {
namespace {

// Returns "conv2d/Relu:0" for "conv2d/Relu/0".
std::string TensorName(const std::string& recorded) {
  const size_t slash = recorded.rfind('/');
  if (slash == std::string::npos) return recorded;
  return absl::StrCat(recorded.substr(0, slash), ":", recorded.substr(slash + 1));
}

// Maps each forward tensor that the graph has to its name in the reference.
absl::StatusOr<std::map<Tensor, std::string>> ForwardTensors(Graph& graph,
                                                             const Reference& reference,
                                                             std::vector<std::string>& notes) {
  std::map<Tensor, std::string> tensors;
  std::vector<std::string> unknown;
  for (const std::string& name : reference.Names("forward/")) {
    const Tensor tensor = graph.FindTensor(TensorName(name));
    if (tensor.valid()) {
      tensors[tensor] = name;
    } else {
      unknown.push_back(TensorName(name));
    }
  }
  if (!unknown.empty() && tensors.empty()) {
    return InvalidArgument(
        "this model's graph has none of the forward tensors of ", reference.folder(), ": ",
        JoinSome(unknown, kNamesInReport),
        "; use the names of layers and ops of the model that made the reference, or record the "
        "reference without forward/");
  }
  if (!unknown.empty()) {
    notes.push_back(absl::StrCat("forward tensors that this model's graph does not have: ",
                                 JoinSome(unknown, kNamesInReport)));
  }
  return tensors;
}

absl::Status CheckGradients(const Graph& graph, const Reference& reference) {
  std::set<std::string> trainable;
  for (const Variable& variable : graph.TrainableVariables()) trainable.insert(variable.name());
  std::vector<std::string> frozen;
  for (const std::string& name : reference.Names("gradient/")) {
    if (trainable.count(name) == 0) frozen.push_back(absl::StrCat("'", name, "'"));
  }
  if (frozen.empty()) return absl::OkStatus();
  return InvalidArgument(
      reference.folder(), " has gradients of ", JoinSome(frozen, kNamesInReport),
      ", which are not trainable variables of this model; make them trainable, or record the "
      "reference with frozen variables");
}

absl::StatusOr<std::vector<std::pair<std::string, Tensor>>> GradientTensors(
    BuiltModel& model, const Reference& reference) {
  EST_RETURN_IF_ERROR(CheckGradients(*model.graph, reference));
  std::vector<std::pair<std::string, Tensor>> gradients;
  std::vector<Variable> variables;
  for (const Variable& variable : model.graph->TrainableVariables()) {
    if (reference.Has(absl::StrCat("gradient/", variable.name()))) variables.push_back(variable);
  }
  if (variables.empty()) return gradients;
  // Variables are in the order of the layers, and gradients are computed from the last layer on.
  std::reverse(variables.begin(), variables.end());
  const GraphScope scope(*model.graph);
  const std::vector<Tensor> tensors = Gradients(model.spec.loss, variables);
  EST_RETURN_IF_ERROR(model.graph->status());
  for (size_t i = 0; i < variables.size(); ++i) {
    if (!tensors[i].valid()) {
      return InvalidArgument("the reference has a gradient of variable '", variables[i].name(),
                             "', but this model's loss does not depend on "
                             "it");
    }
    gradients.emplace_back(variables[i].name(), tensors[i]);
  }
  return gradients;
}

// Returns the mean over replicas. For gradients, it is the gradient of the mean of the losses.
Array Mean(const std::vector<Array>& values) {
  if (values.size() == 1) return values[0].Clone();
  Array mean(DType::kFloat64, values[0].shape());
  for (int64_t i = 0; i < mean.num_elements(); ++i) {
    double sum = 0;
    for (const Array& value : values) sum += value.AsDouble(i);
    mean.data<double>()[i] = sum / static_cast<double>(values.size());
  }
  return mean.Cast(values[0].dtype());
}

// Whether axis 0 of a replica's tensor is its part of the batch.
//   recorded: the shape of the tensor in a run without replicas. If its axis 0 is as long as the
//   replica's, it is another axis, such as the time of a recurrent network.
bool IsSplitByExamples(const Tensor& tensor, int64_t batch_size, const Shape& recorded) {
  if (tensor.rank() == 0 || tensor.dim(0) == 0 || tensor.dim(0) % batch_size != 0) return false;
  return recorded.rank() == 0 || recorded.dim(0) != tensor.dim(0);
}

}  // namespace

absl::StatusOr<FirstStep> RunFirstStep(BuiltModel& model, Backend& backend, const StepInput& input,
                                       const Reference& reference) {
  using NamedTensors = std::vector<std::pair<std::string, Tensor>>;
  FirstStep result;
  EST_ASSIGN_OR_RETURN(const auto forward, ForwardTensors(*model.graph, reference, result.notes));
  NamedTensors gradients;
  if (model.spec.mode == Mode::kTrain) {
    EST_ASSIGN_OR_RETURN(gradients, GradientTensors(model, reference));
  }
  if (forward.empty() && gradients.empty()) return result;

  CompiledStep step(model, backend, {});
  for (const auto& [tensor, name] : forward) step.Fetch(tensor);
  for (const auto& [name, tensor] : gradients) step.Fetch(tensor);
  EST_ASSIGN_OR_RETURN(Executable* const executable, step.executable());
  EST_ASSIGN_OR_RETURN(const StepFeeds feeds, step.Feeds(input));
  const Infeed infeed = [&feeds]() -> absl::StatusOr<std::optional<StepFeeds>> { return feeds; };
  std::vector<std::string> whole;
  const Outfeed outfeed = [&](int64_t, const StepFetches& fetches) {
    for (const auto& [tensor, name] : forward) {
      const std::vector<Array> values = FetchOfReplicas(fetches, step.Fetch(tensor));
      EST_ASSIGN_OR_RETURN(const Array recorded,
                           reference.Expected(absl::StrCat("forward/", name)));
      if (values.size() > 1 && !IsSplitByExamples(tensor, model.batch_size, recorded.shape())) {
        whole.push_back(tensor.name());
        continue;
      }
      result.forward.push_back(
          {tensor.name(), absl::StrCat("forward/", name), ReduceReplicasToCopy(values)});
    }
    for (const auto& [name, tensor] : gradients) {
      result.gradients.push_back({name, absl::StrCat("gradient/", name),
                                  Mean(FetchOfReplicas(fetches, step.Fetch(tensor)))});
    }
    return absl::OkStatus();
  };
  EST_RETURN_IF_ERROR(executable->RunLoop(1, infeed, outfeed).status());
  if (!whole.empty()) {
    result.notes.push_back(
        absl::StrCat("forward tensors that are not split by examples, which are not compared on "
                     "replicas: ",
                     JoinSome(whole, kNamesInReport)));
  }
  return result;
}

}  // namespace estimator::replay
