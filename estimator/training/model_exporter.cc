#include "estimator/training/model_exporter.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "estimator/base/file.h"
#include "estimator/base/status.h"
#include "estimator/checkpoint/latest_checkpoint.h"
#include "estimator/export/saved_model_writer.h"
#include "estimator/training/built_model.h"
#include "glog/logging.h"

namespace estimator {
namespace {

const char* ModeTag(Mode mode) {
  return mode == Mode::kTrain ? kTrainingTag : mode == Mode::kEval ? kEvalTag : kServingTag;
}

// "predictions/NAME", "metrics/NAME", and the bare word for a bare tensor.
std::string PrefixKey(const std::string& key, const std::string& prefix) {
  if (key.empty()) return prefix;
  return absl::StartsWith(key, prefix) ? key : absl::StrCat(prefix, "/", key);
}

// Loss, predictions and metrics, as a signature that is the mode's only one.
// Source: TF 2.15 export_output._SupervisedOutput.
Signatures SupervisedSignatures(Graph& graph, const ModelSpec& spec,
                                const InputReceiver& receiver) {
  Signature signature;
  signature.method_name =
      spec.mode == Mode::kTrain ? kSupervisedTrainMethodName : kSupervisedEvalMethodName;
  signature.inputs = receiver.receiver_tensors;
  signature.outputs["loss"] = spec.loss;
  for (const auto& [name, tensor] : spec.predictions)
    signature.outputs[PrefixKey(name, "predictions")] = tensor;
  MetricMap metrics = spec.eval_metric_ops;
  if (spec.mode == Mode::kEval && spec.eval_metrics.has_value())
    metrics.merge(spec.eval_metrics->fn(spec.eval_metrics->tensors));
  for (const auto& [name, metric] : metrics) {
    const std::string key = PrefixKey(name, "metrics");
    signature.outputs[absl::StrCat(key, "/value")] = metric.value;
    // A signature names tensors; an operation is run by fetching an empty constant after it.
    Node* wrapper = graph.AddNode(
        "Const", {}, {{"value", Array(DType::kFloat32, {0})}, {"dtype", DType::kFloat32}},
        "metric_op_wrapper", {metric.update});
    signature.outputs[absl::StrCat(key, "/update_op")] = Tensor(&graph, wrapper, 0);
  }
  return {{spec.mode == Mode::kTrain ? "train" : "eval", std::move(signature)}};
}

// The model behind its receiver, and what else the callers want of it.
struct BuiltExport {
  ExportGraph graph;
  ModelSpec spec;
  Scaffold scaffold;
  std::map<std::string, std::string> excluded;  // signatures, and why
};

absl::StatusOr<BuiltExport> Build(const Strategy& strategy, const ServingInputReceiverFn& fn,
                                  Mode mode, std::optional<int64_t> seed, int64_t batch_size) {
  BuiltExport built;
  built.graph.graph = std::make_unique<Graph>();
  Graph& graph = *built.graph.graph;
  graph.set_seed(seed);
  const GraphScope scope(graph);
  GetOrCreateGlobalStep();
  const InputReceiver receiver = fn(batch_size);
  EST_RETURN_IF_ERROR(graph.status());
  EST_RETURN_IF_ERROR(Annotate(receiver.status, "input receiver"));
  if (mode != Mode::kPredict && receiver.labels.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("exporting mode ", ModeName(mode),
                                                   " needs labels: give a SupervisedInputReceiver "
                                                   "(BuildRawSupervisedInputReceiverFn)"));
  }
  EST_ASSIGN_OR_RETURN(
      built.spec, CallModelFn(strategy, graph, Features(&graph, "features", receiver.features),
                              Labels(&graph, "labels",
                                     mode == Mode::kPredict ? NamedTensors() : receiver.labels),
                              mode, batch_size));
  if (built.spec.scaffold_fn) built.scaffold = built.spec.scaffold_fn();
  built.graph.signatures =
      mode == Mode::kPredict
          ? BuildServingSignatures(built.spec.export_outputs, receiver, built.excluded)
          : SupervisedSignatures(graph, built.spec, receiver);
  EST_RETURN_IF_ERROR(graph.status());
  built.graph.parsing = receiver.parsing;
  built.graph.train_op = built.spec.train_op;
  return built;
}

absl::StatusOr<ExportModel> MakeModel(const Strategy& strategy, const ServingInputReceiverFn& fn,
                                      Mode mode, std::optional<int64_t> seed) {
  const ExportGraphFn build = [&](int64_t batch_size) -> absl::StatusOr<ExportGraph> {
    EST_ASSIGN_OR_RETURN(BuiltExport built, Build(strategy, fn, mode, seed, batch_size));
    return std::move(built.graph);
  };
  const int64_t rows = std::max<int64_t>(1, strategy.batch_size(mode));
  EST_ASSIGN_OR_RETURN(
      ExportModel model,
      MakeExportModel(build, {.static_batch_size = rows, .prune = mode == Mode::kPredict}));
  if (!model.obstacles.empty()) {
    LOG(WARNING) << "The exported graph of mode " << ModeName(mode) << " takes batches of " << rows
                 << " only: " << absl::StrJoin(model.obstacles, "; ");
  }
  return model;
}

}  // namespace

absl::Status ModelExporter::LoadNewest(const Graph& graph, const Scaffold& scaffold,
                                       ModelState& state) const {
  NewestCheckpoint newest(*config_.model_dir);
  while (true) {
    EST_ASSIGN_OR_RETURN(const std::optional<std::string> prefix, newest.Find());
    if (trained_.AheadOf(prefix.value_or(""))) return state.CopyFrom(graph, trained_, scaffold);
    if (!prefix.has_value() && warm_start_.has_value())
      return state.InitializeFresh(graph, scaffold, warm_start_);
    if (!prefix.has_value()) {
      return absl::NotFoundError(absl::StrCat("Couldn't find trained model at ", *config_.model_dir,
                                              "; train first, or give a checkpoint_path"));
    }
    const absl::Status status = state.Restore(graph, *prefix, scaffold);
    if (!newest.PassOver(*prefix, status)) return status;
  }
}

absl::Status ModelExporter::LoadVariables(const Graph& graph,
                                          const std::optional<std::string>& checkpoint_path,
                                          const Scaffold& scaffold, VariableStore& store) const {
  ModelState state;
  if (checkpoint_path.has_value()) {
    EST_RETURN_IF_ERROR(Annotate(CheckCheckpoint(*checkpoint_path), "checkpoint_path"));
    EST_RETURN_IF_ERROR(state.Restore(graph, *checkpoint_path, scaffold));
  } else {
    EST_RETURN_IF_ERROR(LoadNewest(graph, scaffold, state));
  }
  for (const std::string& name : state.store().Names()) {
    if (!store.Has(name)) EST_RETURN_IF_ERROR(store.Set(name, *state.store().Peek(name)));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> ModelExporter::ExportAllSavedModels(
    const std::string& export_dir_base, const InputReceiverFnMap& receivers,
    const std::vector<ExportPass>& passes, const ExportSavedModelOptions& options) {
  if (receivers.empty()) {
    return absl::InvalidArgumentError(
        "No valid modes for exporting found: give an input receiver for train, eval or infer");
  }
  SavedModelContents contents = {.meta_graphs = {},
                                 .variables = nullptr,
                                 .assets_extra = options.assets_extra,
                                 .as_text = options.as_text};
  VariableStore variables;
  contents.variables = &variables;
  for (const auto& [mode, receiver] : receivers) {
    if (!receiver) {
      return absl::InvalidArgumentError(
          absl::StrCat("the input receiver of mode ", ModeName(mode), " must be given"));
    }
    const std::string where = absl::StrCat("exporting mode ", ModeName(mode));
    for (const ExportPass& pass : passes) {
      if (pass.predict_only && mode != Mode::kPredict) continue;
      absl::StatusOr<BuiltExport> one =
          Build(*pass.strategy, receiver, mode, config_.tf_random_seed, 2);
      if (!one.ok()) return Annotate(one.status(), where);
      EST_RETURN_IF_ERROR(Annotate(
          LoadVariables(*one->graph.graph, options.checkpoint_path, one->scaffold, variables),
          where));
      LogSignatureReport(one->graph.signatures, one->excluded);
      absl::StatusOr<ExportModel> model =
          MakeModel(*pass.strategy, receiver, mode, config_.tf_random_seed);
      if (!model.ok()) return Annotate(model.status(), where);
      std::vector<std::string> tags = {ModeTag(mode)};
      tags.insert(tags.end(), pass.extra_tags.begin(), pass.extra_tags.end());
      contents.meta_graphs.push_back(MakeMetaGraph(*model, tags));
    }
  }
  if (contents.meta_graphs.empty()) {
    return absl::InvalidArgumentError(
        "nothing to export: one of export_to_cpu and export_to_tpu must be true, and a TPU graph "
        "is written for the mode infer alone");
  }
  EST_ASSIGN_OR_RETURN(std::string dir,
                       WriteTimestampedExport(export_dir_base, [&](const std::string& temporary) {
                         return WriteSavedModel(temporary, contents);
                       }));
  LOG(INFO) << "SavedModel written to: " << dir;
  return dir;
}

absl::StatusOr<FrozenGraph> ModelExporter::WriteFrozenGraph(
    const std::string& path, const ServingInputReceiverFn& receiver, const ExportPass& pass,
    const WriteFrozenGraphOptions& options) {
  EST_ASSIGN_OR_RETURN(BuiltExport one,
                       Build(*pass.strategy, receiver, Mode::kPredict, config_.tf_random_seed, 2));
  VariableStore variables;
  EST_RETURN_IF_ERROR(
      LoadVariables(*one.graph.graph, options.checkpoint_path, one.scaffold, variables));
  EST_ASSIGN_OR_RETURN(const ExportModel model,
                       MakeModel(*pass.strategy, receiver, Mode::kPredict, config_.tf_random_seed));
  EST_ASSIGN_OR_RETURN(FrozenGraph frozen, FreezeGraph(model, variables, options.signature_key));
  EST_RETURN_IF_ERROR(WriteFileAtomically(path, frozen.graph_def));
  return frozen;
}

absl::StatusOr<std::unique_ptr<Predictor>> ModelExporter::MakePredictor(
    const ServingInputReceiverFn& receiver, const ExportPass& pass,
    const MakePredictorOptions& options) {
  const auto build = [strategy = pass.strategy, receiver, seed = config_.tf_random_seed](
                         int64_t batch_size) -> absl::StatusOr<ExportGraph> {
    EST_ASSIGN_OR_RETURN(BuiltExport built,
                         Build(*strategy, receiver, Mode::kPredict, seed, batch_size));
    return std::move(built.graph);
  };
  EST_ASSIGN_OR_RETURN(BuiltExport one,
                       Build(*pass.strategy, receiver, Mode::kPredict, config_.tf_random_seed, 2));
  auto variables = std::make_shared<VariableStore>();
  EST_RETURN_IF_ERROR(
      LoadVariables(*one.graph.graph, options.checkpoint_path, one.scaffold, *variables));
  return Predictor::Create(build, std::move(variables), options.signature_key, options.predictor);
}

}  // namespace estimator
