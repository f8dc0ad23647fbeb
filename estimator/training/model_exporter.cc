#include "estimator/training/model_exporter.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "estimator/array/compare.h"
#include "estimator/base/file.h"
#include "estimator/base/status.h"
#include "estimator/checkpoint/latest_checkpoint.h"
#include "estimator/checkpoint/load.h"
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

absl::StatusOr<std::shared_ptr<VariableStore>> ModelExporter::LoadFrom(
    const std::optional<std::string>& prefix, const std::vector<ExportedMode>& modes) const {
  auto variables = std::make_shared<VariableStore>();
  std::map<std::string, std::string> loaded_by;
  for (const ExportedMode& mode : modes) {
    ModelState state;
    EST_RETURN_IF_ERROR(Annotate(prefix.has_value()
                                     ? state.Restore(mode.graph, *prefix, mode.scaffold)
                                     : state.CopyFrom(mode.graph, trained_, mode.scaffold),
                                 absl::StrCat("exporting mode ", mode.name)));
    for (const Variable& variable : mode.graph.variables()) {
      if (variable.local()) continue;  // a metric's total: its initializer is in the graph
      const std::string& name = variable.name();
      const Array& value = *state.store().Peek(name);
      const auto [first, is_new] = loaded_by.emplace(name, mode.name);
      if (is_new) {
        EST_RETURN_IF_ERROR(variables->Set(name, value));
      } else if (!SameBits(value, *variables->Peek(name))) {
        return absl::InvalidArgumentError(absl::StrCat(
            "variable '", name, "' has one value in mode ", first->second, " and another in mode ",
            mode.name,
            " (Scaffold::restore_names or partial_restore of the one is not that of the "
            "other), and a SavedModel holds one: export ",
            mode.name, " alone"));
      }
    }
  }
  return variables;
}

// Once for all modes, so that they are of one step, whatever a trainer saves in the meantime.
absl::StatusOr<std::shared_ptr<VariableStore>> ModelExporter::LoadVariables(
    const std::optional<std::string>& checkpoint_path,
    const std::vector<ExportedMode>& modes) const {
  if (checkpoint_path.has_value()) {
    EST_RETURN_IF_ERROR(Annotate(CheckCheckpoint(*checkpoint_path), "checkpoint_path"));
    return LoadFrom(checkpoint_path, modes);
  }
  NewestCheckpoint newest(*config_.model_dir);
  while (true) {
    EST_ASSIGN_OR_RETURN(const std::optional<std::string> prefix, newest.Find());
    if (trained_.AheadOf(prefix.value_or(""))) return LoadFrom(std::nullopt, modes);
    if (!prefix.has_value()) break;
    auto variables = LoadFrom(prefix, modes);
    if (!newest.PassOver(*prefix, variables.status())) return variables;
  }
  if (!warm_start_.has_value()) {
    return absl::NotFoundError(absl::StrCat("Couldn't find trained model at ", *config_.model_dir,
                                            "; train first, or give a checkpoint_path"));
  }
  const absl::StatusOr<std::string> start = CheckpointPrefix(warm_start_->ckpt_to_initialize_from);
  EST_RETURN_IF_ERROR(Annotate(start.status(), "warm_start_from"));
  auto variables = LoadFrom(*start, modes);
  if (!variables.ok()) {
    return Annotate(variables.status(),
                    "before the first training, all variables are exported from the checkpoint of "
                    "warm_start_from, by their own names; if it has not all of them, train first");
  }
  return variables;
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
                                 .assets = options.assets,
                                 .assets_extra = options.assets_extra,
                                 .as_text = options.as_text};
  std::vector<std::pair<Mode, const ExportPass*>> exported;
  std::vector<BuiltExport> built;
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
      LogSignatureReport(one->graph.signatures, one->excluded);
      exported.emplace_back(mode, &pass);
      built.push_back(*std::move(one));
    }
  }
  if (built.empty()) {
    return absl::InvalidArgumentError(
        "nothing to export: one of export_to_cpu and export_to_tpu must be true, and a TPU graph "
        "is written for the mode infer alone");
  }
  std::vector<ExportedMode> modes;
  for (size_t i = 0; i < built.size(); ++i) {
    modes.push_back({.graph = *built[i].graph.graph,
                     .scaffold = built[i].scaffold,
                     .name = std::string(ModeName(exported[i].first))});
  }
  EST_ASSIGN_OR_RETURN(const std::shared_ptr<VariableStore> variables,
                       LoadVariables(options.checkpoint_path, modes));
  contents.variables = variables.get();
  for (const auto& [mode, pass] : exported) {
    absl::StatusOr<ExportModel> model =
        MakeModel(*pass->strategy, receivers.at(mode), mode, config_.tf_random_seed);
    if (!model.ok())
      return Annotate(model.status(), absl::StrCat("exporting mode ", ModeName(mode)));
    std::vector<std::string> tags = {ModeTag(mode)};
    tags.insert(tags.end(), pass->extra_tags.begin(), pass->extra_tags.end());
    contents.meta_graphs.push_back(MakeMetaGraph(*model, tags));
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
  EST_ASSIGN_OR_RETURN(
      const std::shared_ptr<VariableStore> variables,
      LoadVariables(options.checkpoint_path,
                    {{.graph = *one.graph.graph, .scaffold = one.scaffold, .name = "infer"}}));
  EST_ASSIGN_OR_RETURN(const ExportModel model,
                       MakeModel(*pass.strategy, receiver, Mode::kPredict, config_.tf_random_seed));
  EST_ASSIGN_OR_RETURN(FrozenGraph frozen, FreezeGraph(model, *variables, options.signature_key));
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
  EST_ASSIGN_OR_RETURN(
      std::shared_ptr<VariableStore> variables,
      LoadVariables(options.checkpoint_path,
                    {{.graph = *one.graph.graph, .scaffold = one.scaffold, .name = "infer"}}));
  return Predictor::Create(build, std::move(variables), options.signature_key, options.predictor);
}

}  // namespace estimator
