#include "estimator/training/import_model_fn.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "estimator/base/status.h"
#include "estimator/nn/replica_scope.h"
#include "glog/logging.h"

namespace estimator {
namespace {

// The tensors of the input in the graph's order. Placeholders are found by name, if a feature or
// label has the name of one; all others in the order of the names.
//   labels_may_be_absent: Mode::kPredict has none.
absl::StatusOr<std::vector<Tensor>> InOrder(const TrainGraphInfo& info, const Features& features,
                                            const Labels& labels, bool labels_may_be_absent) {
  std::vector<std::pair<std::string, Tensor>> given(features.begin(), features.end());
  given.insert(given.end(), labels.begin(), labels.end());
  const auto place_of = [&info](const std::string& name) {
    const auto found = std::find_if(
        info.inputs.begin(), info.inputs.end(),
        [&](const TrainGraphInput& input) { return absl::StripSuffix(input.name, ":0") == name; });
    return static_cast<size_t>(found - info.inputs.begin());
  };
  std::vector<Tensor> ordered(info.inputs.size());
  const bool all_named = std::all_of(given.begin(), given.end(), [&](const auto& pair) {
    return place_of(pair.first) < ordered.size();
  });
  if (all_named) {
    for (const auto& [name, tensor] : given) ordered[place_of(name)] = tensor;
    return ordered;
  }
  const bool fits = given.size() == ordered.size() ||
                    (labels_may_be_absent && labels.empty() && given.size() < ordered.size());
  if (!fits) {
    std::vector<std::string> wanted;
    for (const TrainGraphInput& input : info.inputs) wanted.push_back(input.ToString());
    return absl::InvalidArgumentError(
        absl::StrCat("input_fn returns ", features.size(), " features and ", labels.size(),
                     " labels, but the imported graph takes ", ordered.size(),
                     " tensors: ", absl::StrJoin(wanted, ", ")));
  }
  for (size_t i = 0; i < given.size(); ++i) ordered[i] = given[i].second;
  return ordered;
}

}  // namespace

ImportedSpec ImportedModelFn::operator()(const Features& features, const Labels& labels,
                                         Mode mode) const {
  Graph& graph = Graph::Current();
  ImportedSpec spec{.mode = mode, .loss = {}, .train_op = {}, .predictions = {}};
  const auto fail = [&](absl::Status status) {
    spec.loss = graph.Fail(std::move(status));
    spec.train_op = Operation(&graph, nullptr);
    return spec;
  };
  if (mode == Mode::kPredict && options_.predictions.empty()) {
    return fail(absl::InvalidArgumentError(
        "an imported model predicts the tensors of ImportModelOptions::predictions, which is "
        "empty; name tensors of the graph there"));
  }
  absl::StatusOr<std::vector<Tensor>> inputs =
      InOrder(source_.info(), features, labels, mode == Mode::kPredict);
  if (!inputs.ok()) return fail(inputs.status());
  ImportTrainGraphOptions options{.inputs = *std::move(inputs),
                                  .num_shards = ReplicaScope::Current().num_shards,
                                  .training = mode == Mode::kTrain,
                                  .with_loss = mode != Mode::kPredict,
                                  .fetches = {}};
  if (mode == Mode::kPredict) options.fetches = options_.predictions;
  const absl::StatusOr<ImportedTrainGraph> imported = source_.Import(options, graph);
  if (!imported.ok()) return fail(imported.status());
  for (const std::string& warning : imported->warnings) LOG(WARNING) << warning;
  spec.loss = imported->loss;
  spec.train_op = imported->train_op;
  spec.predictions = imported->fetches;
  return spec;
}

absl::StatusOr<ImportedModelFn> ImportModelFn(StringArg meta_path,
                                              const ImportModelOptions& options) {
  EST_ASSIGN_OR_RETURN(TrainGraph source, TrainGraph::Read(meta_path, options.graph));
  if (!source.info().obstacles.empty()) {
    return absl::UnimplementedError(
        absl::StrCat(meta_path, ": the training graph cannot be imported because of these nodes:\n",
                     ObstacleTable(source.info().obstacles)));
  }
  return ImportedModelFn(std::move(source), options);
}

}  // namespace estimator
