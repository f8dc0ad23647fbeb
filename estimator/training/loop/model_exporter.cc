#include "estimator/training/loop/model_exporter.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "estimator/array/compare.h"
#include "estimator/base/file.h"
#include "estimator/base/status.h"
#include "estimator/checkpoint/load.h"
#include "estimator/export/any_batch/batch_search.h"
#include "estimator/export/saved_model/saved_model_writer.h"
#include "estimator/export/serving/model_fn_signature.h"
#include "estimator/training/model/built_model.h"
#include "estimator/training/model/start_checkpoint.h"
#include "glog/logging.h"

namespace estimator {
namespace {

const char* ModeTag(Mode mode) {
  return mode == Mode::kTrain ? kTrainingTag : mode == Mode::kEval ? kEvalTag : kServingTag;
}

// "predictions/NAME" or "metrics/NAME"; for a bare tensor, `prefix` alone.
std::string PrefixKey(const std::string& key, const std::string& prefix) {
  if (key.empty()) return prefix;
  return absl::StartsWith(key, prefix) ? key : absl::StrCat(prefix, "/", key);
}

// The only signature of train and eval: the loss, the predictions and the metrics.
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
  // A file has no function of the host, so the metrics' ops become part of the graph.
  if (spec.mode == Mode::kEval && spec.eval_metrics.has_value())
    metrics.merge(spec.eval_metrics->fn(spec.eval_metrics->tensors));
  for (const auto& [name, metric] : metrics) {
    if (metric.host != nullptr) continue;  // nor a function that computes a metric
    const std::string key = PrefixKey(name, "metrics");
    signature.outputs[absl::StrCat(key, "/value")] = metric.value;
    // A signature has tensors only. The update runs if the empty constant after it is fetched.
    Node* wrapper = graph.AddNode(
        "Const", {}, {{"value", Array(DType::kFloat32, {0})}, {"dtype", DType::kFloat32}},
        "metric_op_wrapper", {metric.update});
    signature.outputs[absl::StrCat(key, "/update_op")] = Tensor(&graph, wrapper, 0);
  }
  return {{spec.mode == Mode::kTrain ? "train" : "eval", std::move(signature)}};
}

// The model behind its receiver.
struct BuiltExport {
  ExportGraph graph;
  Scaffold scaffold;
  std::map<std::string, std::string> excluded;  // signature -> why it is not exported
};

absl::StatusOr<BuiltExport> Build(const Strategy& strategy, const ServingInputReceiverFn& fn,
                                  Mode mode, std::optional<int64_t> seed, int64_t batch_size) {
  InputReceiver receiver;
  const auto make_inputs = [&]() -> absl::StatusOr<ModelInputs> {
    // A default-constructed function would end the process.
    if (!fn) return InvalidArgument("an input receiver must be given");
    receiver = fn(batch_size);
    EST_RETURN_IF_ERROR(Graph::Current().status());
    EST_RETURN_IF_ERROR(Annotate(receiver.status, "input receiver"));
    if (mode != Mode::kPredict && receiver.labels.empty()) {
      return InvalidArgument("exporting mode ", ModeName(mode),
                             " needs labels: give a SupervisedInputReceiver "
                             "(BuildRawSupervisedInputReceiverFn)");
    }
    return ModelInputs{.features = receiver.features,
                       .labels = mode == Mode::kPredict ? NamedTensors() : receiver.labels,
                       .batch_size = receiver.batch_size.value_or(batch_size)};
  };
  // The graph has a seed even if none is set. Ops with a seed of their own keep it, and the others
  // take their number among the random ops. Without a graph seed that number would count all nodes,
  // of which a larger batch may have more.
  EST_ASSIGN_OR_RETURN(
      std::unique_ptr<BuiltModel> model,
      BuildModelFrom(strategy, mode, seed.value_or(kDefaultGraphSeed), {}, make_inputs));
  Graph& graph = *model->graph;
  const GraphScope scope(graph);
  BuiltExport built;
  built.graph.signatures =
      mode == Mode::kPredict
          ? BuildServingSignatures(model->spec.export_outputs, receiver, built.excluded)
          : SupervisedSignatures(graph, model->spec, receiver);
  EST_RETURN_IF_ERROR(graph.status());
  built.graph.parsing = receiver.parsing;
  built.graph.train_op = model->spec.train_op;
  built.graph.graph = std::move(model->graph);
  built.scaffold = std::move(model->scaffold);
  return built;
}

// Builds the model for each batch size that the export asks for, and keeps what an ExportGraph does
// not have.
class ModelBuilder {
 public:
  ModelBuilder(const ExportPass& pass, ServingInputReceiverFn receiver, Mode mode,
               std::optional<int64_t> seed)
      : strategy_(*pass.strategy), receiver_(std::move(receiver)), mode_(mode), seed_(seed) {}

  ExportGraphFn fn() {
    return [this](int64_t batch_size) -> absl::StatusOr<ExportGraph> {
      EST_ASSIGN_OR_RETURN(BuiltExport built,
                           Build(strategy_, receiver_, mode_, seed_, batch_size));
      const Graph* const graph = built.graph.graph.get();
      ExportGraph made = std::move(built.graph);
      built_[graph] = std::move(built);
      return made;
    };
  }
  // What belongs to a graph that fn() has made.
  const BuiltExport& Of(const ExportGraph& made) const { return built_.at(made.graph.get()); }

  BatchSearchOptions options() const {
    // A serving graph has only what its signatures need, so only that is compared.
    return {.static_batch_size = std::max<int64_t>(1, strategy_.batch_size(mode_)),
            .prune = mode_ == Mode::kPredict};
  }

 private:
  const Strategy& strategy_;
  const ServingInputReceiverFn receiver_;
  const Mode mode_;
  const std::optional<int64_t> seed_;
  std::map<const Graph*, BuiltExport> built_;  // without their graphs
};

// Warns the users of the exported graph if it does not take every batch size that model_fn takes,
// or takes more.
void WarnOfBatch(Mode mode, const std::vector<std::string>& obstacles,
                 const std::vector<RefusedBatch>& refused, int64_t batch_size) {
  if (!obstacles.empty()) {
    LOG(WARNING) << "The graph of mode " << ModeName(mode) << " takes batches of " << batch_size
                 << " only: " << absl::StrJoin(obstacles, "; ");
  } else if (!refused.empty()) {
    LOG(WARNING) << "The graph of mode " << ModeName(mode)
                 << " takes every batch size, but model_fn refuses some: of "
                 << absl::StrJoin(refused, ", ", [](std::string* out, const RefusedBatch& one) {
                      absl::StrAppend(out, one.batch_size, " (", one.error, ")");
                    });
  }
}

absl::StatusOr<ExportGraphDef> MakeModel(ModelBuilder& builder, Mode mode) {
  EST_ASSIGN_OR_RETURN(ExportGraphDef model, MakeExportGraphDef(builder.fn(), builder.options()));
  WarnOfBatch(mode, model.obstacles, model.refused, builder.options().static_batch_size);
  return model;
}

}  // namespace

absl::StatusOr<std::shared_ptr<VariableStore>> ModelExporter::LoadFrom(
    const std::optional<std::string>& prefix, const std::vector<ExportedMode>& modes) const {
  auto variables = std::make_shared<VariableStore>();
  std::map<std::string, std::string> loaded_by;
  for (const ExportedMode& mode : modes) {
    // The modes may restore a variable by different names, so each has a store of its own.
    ModelState state;
    EST_RETURN_IF_ERROR(Annotate(prefix.has_value()
                                     ? state.Restore(mode.graph, *prefix, mode.scaffold)
                                     : state.CopyFrom(mode.graph, trained_, mode.scaffold),
                                 absl::StrCat("exporting mode ", mode.name)));
    for (const Variable& variable : mode.graph.variables()) {
      // A SavedModel has one value for each name, whatever the number of its graphs.
      if (variable.local()) continue;  // a metric's total; the graph has its initializer
      const std::string& name = variable.name();
      const Array& value = *state.store().Peek(name);
      const auto [first, is_new] = loaded_by.emplace(name, mode.name);
      if (is_new) {
        EST_RETURN_IF_ERROR(variables->Set(name, value));
      } else if (!SameBits(value, *variables->Peek(name))) {
        return InvalidArgument(
            "variable '", name, "' has one value in mode ", first->second, " and another in mode ",
            mode.name,
            " (their Scaffold::restore_names or partial_restore differ), and a SavedModel has "
            "only one: export ",
            mode.name, " alone");
      }
    }
  }
  return variables;
}

absl::StatusOr<std::shared_ptr<VariableStore>> ModelExporter::LoadFromWarmStart(
    const std::vector<ExportedMode>& modes) const {
  if (!warm_start_.has_value()) {
    return NotFound("Couldn't find trained model at ", *config_.model_dir,
                    "; train first, or give a checkpoint_path");
  }
  const absl::StatusOr<std::string> start = CheckpointPrefix(warm_start_->ckpt_to_initialize_from);
  EST_RETURN_IF_ERROR(Annotate(start.status(), "warm_start_from"));
  auto variables = LoadFrom(*start, modes);
  if (!variables.ok()) {
    return Annotate(variables.status(),
                    "before the first training, all variables are exported from the checkpoint of "
                    "warm_start_from, by their own names; if some are missing there, train first");
  }
  return variables;
}

// The checkpoint is chosen once for all modes. All of them then have the variables of one step,
// even if a trainer saves during the export.
absl::StatusOr<std::shared_ptr<VariableStore>> ModelExporter::LoadVariables(
    const std::optional<std::string>& checkpoint_path,
    const std::vector<ExportedMode>& modes) const {
  StartCheckpoint start(*config_.model_dir);
  EST_ASSIGN_OR_RETURN(const CheckpointChoice choice, start.Choose(checkpoint_path));
  const bool by_caller = choice.by == CheckpointChoice::By::kCaller;
  absl::StatusOr<std::shared_ptr<VariableStore>> variables;
  const auto load = [&](CheckpointAttempt& attempt) {
    const std::string& prefix = attempt.prefix();
    // Without checkpoints, only the memory has what training learned.
    if (!by_caller && trained_.RelativeTo(prefix) == MemoryState::kAhead) {
      variables = LoadFrom(std::nullopt, modes);
    } else if (prefix.empty()) {
      variables = LoadFromWarmStart(modes);
    } else {
      variables = LoadFrom(prefix, modes);
      return attempt.Reading(variables.status());
    }
    return variables.status();
  };
  EST_RETURN_IF_ERROR(start.Start(choice, load).status());
  return variables;
}

absl::StatusOr<std::string> ModelExporter::ExportAllSavedModels(
    const std::string& export_dir_base, const InputReceiverFnMap& receivers,
    const std::vector<ExportPass>& passes, const ExportSavedModelOptions& options) {
  if (receivers.empty()) {
    return InvalidArgument(
        "No valid modes for exporting found: give an input receiver for train, eval or predict");
  }
  SavedModelContents contents = {.meta_graphs = {},
                                 .variables = nullptr,
                                 .assets = options.assets,
                                 .assets_extra = options.assets_extra,
                                 .as_text = options.as_text};
  struct Exported {
    Mode mode;
    const ExportPass* pass;
    ExportGraphDef model;
    Scaffold scaffold;
  };
  std::vector<Exported> exported;
  for (const auto& [mode, receiver] : receivers) {
    if (!receiver) {
      return InvalidArgument("the input receiver of mode ", ModeName(mode), " must be given");
    }
    for (const ExportPass& pass : passes) {
      if (pass.predict_only && mode != Mode::kPredict) continue;
      // Each pass builds its own graphs: model_fn may look at the mode and at params.use_tpu.
      ModelBuilder builder(pass, receiver, mode, config_.tf_random_seed);
      absl::StatusOr<ExportGraphDef> model = MakeModel(builder, mode);
      if (!model.ok())
        return Annotate(model.status(), absl::StrCat("exporting mode ", ModeName(mode)));
      const BuiltExport& built = builder.Of(model->built);
      LogSignatureReport(model->built.signatures, built.excluded);
      exported.push_back({mode, &pass, *std::move(model), built.scaffold});
    }
  }
  if (exported.empty()) {
    return InvalidArgument(
        "nothing to export: one of export_to_cpu and export_to_tpu must be true, and a TPU graph "
        "is written for the mode predict only");
  }
  std::vector<ExportedMode> modes;
  for (const Exported& one : exported) {
    modes.push_back({.graph = *one.model.built.graph,
                     .scaffold = one.scaffold,
                     .name = std::string(ModeName(one.mode))});
  }
  EST_ASSIGN_OR_RETURN(const std::shared_ptr<VariableStore> variables,
                       LoadVariables(options.checkpoint_path, modes));
  contents.variables = variables.get();
  for (const Exported& one : exported) {
    std::vector<std::string> tags = {ModeTag(one.mode)};
    tags.insert(tags.end(), one.pass->extra_tags.begin(), one.pass->extra_tags.end());
    contents.meta_graphs.push_back(MakeMetaGraph(one.model, tags));
  }
  // The folder gets its name when it is complete, so a server never loads a part of a model.
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
  ModelBuilder builder(pass, receiver, Mode::kPredict, config_.tf_random_seed);
  EST_ASSIGN_OR_RETURN(const ExportGraphDef model, MakeModel(builder, Mode::kPredict));
  EST_ASSIGN_OR_RETURN(
      const std::shared_ptr<VariableStore> variables,
      LoadVariables(options.checkpoint_path, {{.graph = *model.built.graph,
                                               .scaffold = builder.Of(model.built).scaffold,
                                               .name = "predict"}}));
  EST_ASSIGN_OR_RETURN(FrozenGraph frozen, FreezeGraph(model, *variables, options.signature_key));
  EST_RETURN_IF_ERROR(WriteFileAtomically(path, frozen.graph_def));
  return frozen;
}

absl::StatusOr<std::unique_ptr<Predictor>> ModelExporter::MakePredictor(
    const ServingInputReceiverFn& receiver, const ExportPass& pass,
    const MakePredictorOptions& options) {
  ModelBuilder builder(pass, receiver, Mode::kPredict, config_.tf_random_seed);
  EST_ASSIGN_OR_RETURN(BatchModel model, FindBatchModel(builder.fn(), builder.options()));
  // A caller that gives batch_sizes knows about the obstacles.
  WarnOfBatch(Mode::kPredict,
              options.batch_sizes.empty() ? model.obstacles : std::vector<std::string>(),
              model.refused, model.batch_size);
  EST_ASSIGN_OR_RETURN(
      std::shared_ptr<VariableStore> variables,
      LoadVariables(options.checkpoint_path, {{.graph = *model.built.graph,
                                               .scaffold = builder.Of(model.built).scaffold,
                                               .name = "predict"}}));
  EST_ASSIGN_OR_RETURN(std::unique_ptr<const ServableSignature> signature,
                       MakeModelFnSignature(std::move(model), options.signature_key, builder.fn(),
                                            options.batch_sizes));
  return Predictor::Create(std::move(signature), std::move(variables), options.predictor);
}

}  // namespace estimator
