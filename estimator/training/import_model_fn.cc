#include "estimator/training/import_model_fn.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "estimator/base/file.h"
#include "estimator/base/status.h"
#include "estimator/nn/replica_scope.h"
#include "glog/logging.h"

namespace estimator {
namespace {

// The tensors of the input in the graph's order. Placeholders are found by name, if each feature
// and label has the name of one, or its key in the signature; else they are in the order of names.
//   labels_may_be_absent: Mode::kPredict has none.
absl::StatusOr<std::vector<Tensor>> InOrder(const TrainGraphInfo& info, const Features& features,
                                            const Labels& labels, bool labels_may_be_absent) {
  // A single tensor has no name; TensorFlow's signatures call it `feature` or `label`.
  std::vector<std::pair<std::string, Tensor>> given;
  for (const auto& [name, tensor] : features)
    given.emplace_back(name.empty() ? "feature" : name, tensor);
  for (const auto& [name, tensor] : labels)
    given.emplace_back(name.empty() ? "label" : name, tensor);
  const auto place_of = [&info](const std::string& name) {
    const auto found =
        std::find_if(info.inputs.begin(), info.inputs.end(), [&](const TrainGraphInput& input) {
          return input.key == name || absl::StripSuffix(input.name, ":0") == name;
        });
    return static_cast<size_t>(found - info.inputs.begin());
  };
  std::vector<Tensor> ordered(info.inputs.size());
  // The input only counts the steps of a graph that takes none.
  if (ordered.empty()) return ordered;
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
    return InvalidArgument("input_fn returns ", features.size(), " features and ", labels.size(),
                           " labels, but the imported graph takes ", ordered.size(),
                           " tensors: ", absl::StrJoin(wanted, ", "));
  }
  for (size_t i = 0; i < given.size(); ++i) ordered[i] = given[i].second;
  return ordered;
}

}  // namespace

ImportedModelFn::ImportedModelFn(TrainGraph source, ImportModelOptions options)
    : options_(std::move(options)) {
  graphs_.train = std::move(source);
}

ImportedModelFn::ImportedModelFn(SavedModelGraphs graphs, StringArg where,
                                 ImportModelOptions options)
    : graphs_(std::move(graphs)), where_(where), options_(std::move(options)) {}

const TrainGraph& ImportedModelFn::Of(Mode mode) const {
  if (mode == Mode::kPredict && graphs_.serve) return *graphs_.serve;
  // Without a graph to serve, that of evaluation predicts: it has nothing that only training needs,
  // such as dropout.
  if (mode != Mode::kTrain && graphs_.eval) return *graphs_.eval;
  return graphs_.train ? *graphs_.train : *graphs_.eval;
}

absl::Status ImportedModelFn::Check(Mode mode) const {
  if (mode == Mode::kTrain && !graphs_.train) {
    return NotFound(
        where_,
        " has no graph with the tag `train`, so it can be evaluated only; the tags of its "
        "graphs are ",
        graphs_.tags,
        ". Export it again with ModeKeys.TRAIN, or train from the .meta file of its model_dir");
  }
  if (mode == Mode::kPredict && options_.predictions.empty() && Of(mode).info().outputs.empty()) {
    return InvalidArgument(
        "an imported model predicts the tensors of ImportModelOptions::predictions, which is "
        "empty; name tensors of the graph there");
  }
  // The training graph's table is for training: the other modes need only a part of it.
  const TrainGraphInfo& info = Of(mode).info();
  const bool own = mode == Mode::kTrain || info.role != TrainGraphRole::kTrain;
  if (!own || info.obstacles.empty()) return absl::OkStatus();
  return ObstaclesError(mode, info.obstacles);
}

absl::Status ImportedModelFn::ObstaclesError(
    Mode mode, const std::vector<TrainGraphObstacle>& obstacles) const {
  if (obstacles.empty()) return absl::OkStatus();
  return Unimplemented(where_.empty() ? "" : absl::StrCat(where_, ": "), "the graph of mode ",
                       ModeName(mode), " cannot be imported because of these nodes:\n",
                       ObstacleTable(obstacles));
}

absl::Status ImportedModelFn::Check(Mode mode, const std::vector<TensorSpec>& inputs,
                                    int num_shards) const {
  EST_RETURN_IF_ERROR(Check(mode));
  EST_ASSIGN_OR_RETURN(const std::vector<TrainGraphObstacle> obstacles,
                       Of(mode).TryImport(OptionsOf(mode, num_shards), inputs));
  return ObstaclesError(mode, obstacles);
}

ImportTrainGraphOptions ImportedModelFn::OptionsOf(Mode mode, int num_shards) const {
  const bool predicts = mode == Mode::kPredict;
  ImportTrainGraphOptions options{.num_shards = num_shards,
                                  .training = mode == Mode::kTrain,
                                  .with_loss = !predicts,
                                  .with_metrics = mode == Mode::kEval && graphs_.eval};
  if (predicts)
    options.fetches = options_.predictions.empty() ? Of(mode).info().outputs : options_.predictions;
  return options;
}

ImportedSpec ImportedModelFn::operator()(const Features& features, const Labels& labels,
                                         Mode mode) const {
  Graph& graph = Graph::Current();
  ImportedSpec spec{.mode = mode, .loss = {}, .train_op = {}, .predictions = {}, .metrics = {}};
  // A model_fn cannot return an error, so the graph keeps it and Train returns it.
  const auto fail = [&](absl::Status status) {
    spec.loss = graph.Fail(std::move(status));
    spec.train_op = Operation(&graph, nullptr);
    return spec;
  };
  if (absl::Status status = Check(mode); !status.ok()) return fail(std::move(status));
  const TrainGraph& source = Of(mode);
  absl::StatusOr<std::vector<Tensor>> inputs =
      InOrder(source.info(), features, labels, mode == Mode::kPredict);
  if (!inputs.ok()) return fail(inputs.status());
  ImportTrainGraphOptions options = OptionsOf(mode, ReplicaScope::Current().num_replicas);
  options.inputs = *std::move(inputs);
  const absl::StatusOr<ImportedTrainGraph> imported = source.Import(options, graph);
  if (!imported.ok()) return fail(imported.status());
  for (const std::string& warning : imported->warnings) LOG(WARNING) << warning;
  spec.loss = imported->loss;
  spec.train_op = imported->train_op;
  spec.predictions = imported->fetches;
  for (const auto& [name, metric] : imported->metrics)
    spec.metrics[name] = {.value = metric.value, .update = metric.update};
  return spec;
}

absl::StatusOr<ImportedModelFn> ImportModelFn(StringArg path, const ImportModelOptions& options) {
  if (IsDirectory(path)) {
    EST_ASSIGN_OR_RETURN(SavedModelGraphs graphs,
                         ReadSavedModelGraphs(path, options.graph, options.serving_signature));
    ImportedModelFn model_fn(std::move(graphs), path, options);
    // What prevents training is reported here, before a call of Train.
    if (model_fn.info().role == TrainGraphRole::kTrain)
      EST_RETURN_IF_ERROR(model_fn.Check(Mode::kTrain));
    return model_fn;
  }
  EST_ASSIGN_OR_RETURN(TrainGraph source, TrainGraph::Read(path, options.graph));
  if (!source.info().obstacles.empty()) {
    return Unimplemented(path, ": the training graph cannot be imported because of these nodes:\n",
                         ObstacleTable(source.info().obstacles));
  }
  return ImportedModelFn(std::move(source), options);
}

}  // namespace estimator
