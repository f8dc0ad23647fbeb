#include "estimator/training/estimator_base.h"

#include <cstdlib>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "estimator/base/file_system.h"
#include "estimator/base/path.h"
#include "estimator/base/status.h"
#include "estimator/checkpoint/bundle_reader.h"
#include "estimator/checkpoint/checkpoint_state.h"
#include "estimator/checkpoint/latest_checkpoint.h"
#include "estimator/checkpoint/load.h"
#include "estimator/data/pipeline/iterator_state.h"
#include "estimator/training/finders.h"
#include "glog/logging.h"

namespace estimator {
namespace {

absl::StatusOr<std::string> MakeTemporaryFolder() {
  const char* parent = getenv("TMPDIR");
  std::string pattern = absl::StrCat(parent != nullptr ? parent : "/tmp", "/estimator-XXXXXX");
  if (mkdtemp(pattern.data()) == nullptr) {
    return absl::UnavailableError(
        absl::StrCat("cannot create a temporary model_dir ", pattern, "; set RunConfig.model_dir"));
  }
  return pattern;
}

absl::StatusOr<std::string> MakeTemporaryModelDir() {
  EST_ASSIGN_OR_RETURN(const std::string pattern, MakeTemporaryFolder());
  LOG(WARNING)
      << "Using temporary folder as model directory: " << pattern
      << "; it is not removed at the end. Set model_dir (in a program: --model_dir) to choose "
         "the folder and to continue the run later";
  return pattern;
}

// model_dir may be set in the program or in TF_CONFIG. If both set it, the values must be equal.
absl::Status TakeModelDir(const TaskConfig& task, RunConfig& config) {
  if (!task.model_dir.has_value()) return absl::OkStatus();
  if (config.model_dir.has_value() && *config.model_dir != *task.model_dir) {
    return InvalidArgument("RunConfig.model_dir is ", *config.model_dir, ", but TF_CONFIG says ",
                           *task.model_dir, "; set one of them, or the same in both");
  }
  config.model_dir = task.model_dir;
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<BundleReader>> OpenLatest(const std::string& model_dir) {
  absl::StatusOr<std::unique_ptr<BundleReader>> reader = LoadCheckpoint(model_dir);
  if (absl::IsNotFound(reader.status()))
    return NotFound("no checkpoint in ", model_dir, "; train first");
  return reader;
}

// What the chief's peers get of its frozen graph.
std::string FrozenGraphToBytes(const FrozenGraph& frozen) {
  StateWriter writer;
  writer.Bytes(frozen.graph_def);
  for (const auto* nodes : {&frozen.inputs, &frozen.outputs}) {
    writer.Int(nodes->size());
    for (const auto& [name, node] : *nodes) {
      writer.Bytes(name);
      writer.Bytes(node);
    }
  }
  return writer.bytes();
}

absl::StatusOr<FrozenGraph> FrozenGraphFromBytes(absl::string_view bytes) {
  StateReader reader(bytes);
  FrozenGraph frozen;
  EST_ASSIGN_OR_RETURN(const absl::string_view graph_def, reader.Bytes());
  frozen.graph_def = std::string(graph_def);
  for (auto* nodes : {&frozen.inputs, &frozen.outputs}) {
    EST_ASSIGN_OR_RETURN(int64_t count, reader.Int());
    for (; count > 0; --count) {
      EST_ASSIGN_OR_RETURN(const absl::string_view name, reader.Bytes());
      EST_ASSIGN_OR_RETURN(const absl::string_view node, reader.Bytes());
      nodes->emplace(name, node);
    }
  }
  return frozen;
}

}  // namespace

EstimatorBase::EstimatorBase(EstimatorParts parts)
    : config_(std::move(parts.config)),
      warm_start_(parts.warm_start_from.settings()),
      status_(std::move(parts.status)),
      make_strategy_(std::move(parts.make_strategy)),
      peers_(std::make_unique<Peers>(config_.process_group)),
      strategy_(make_strategy_(config_.process_group)),
      export_passes_(std::move(parts.export_passes)),
      serving_pass_(std::move(parts.serving_pass)) {
  absl::StatusOr<TaskConfig> task = TaskConfigFromEnvironment();
  status_.Update(task.status());
  if (task.ok()) task_ = *std::move(task);
  status_.Update(config_.Validate());
  if (warm_start_.has_value()) status_.Update(ValidateWarmStart(*warm_start_));
  status_.Update(TakeModelDir(task_, config_));
  if (config_.model_dir.has_value())
    status_.Update(Annotate(CheckModelDir(*config_.model_dir), "model_dir"));
  if (status_.ok() && (config_.dry_run || (config_.HasFinder() && !config_.model_dir.has_value())))
    status_.Update(PrepareDryRun());
  if (!config_.model_dir.has_value()) {
    // After an error nothing will run, so no folder is left behind. All processes have the chief's.
    absl::StatusOr<std::string> temporary = std::string();
    if (status_.ok()) {
      if (peers_->is_chief()) temporary = MakeTemporaryModelDir();
      temporary = peers_->FromChief("the temporary model_dir", temporary);
    }
    status_.Update(temporary.status());
    config_.model_dir = temporary.ok() ? *temporary : "";
  }
  // Every call returns the error, so none of them needs the loops.
  if (!status_.ok()) return;
  trainer_ = std::make_unique<Trainer>(*strategy_, config_, *peers_, warm_start_);
  evaluator_ = std::make_unique<Evaluator>(*strategy_, config_, *peers_, warm_start_);
  predict_loop_ = std::make_unique<PredictLoop>(*strategy_, config_, *peers_, warm_start_);
  if (peers_->alone()) return;
  lone_strategy_ = make_strategy_(nullptr);
  lone_evaluator_ = std::make_unique<Evaluator>(*lone_strategy_, config_, *peers_, warm_start_);
  lone_predict_loop_ =
      std::make_unique<PredictLoop>(*lone_strategy_, config_, *peers_, warm_start_);
}

Evaluator& EstimatorBase::CurrentEvaluator() {
  return peers_->alone() || !PeersDoOtherwise() ? *evaluator_ : *lone_evaluator_;
}

PredictLoop& EstimatorBase::CurrentPredictLoop() {
  return peers_->alone() || !PeersDoOtherwise() ? *predict_loop_ : *lone_predict_loop_;
}

// Within a training, its hooks and listeners make calls, which the peers do not make.
bool EstimatorBase::PeersDoOtherwise() const {
  return trainer_->in_call() || peers_->chief_is_alone();
}

absl::StatusOr<std::string> EstimatorBase::AsChief(
    const std::function<absl::StatusOr<std::string>()>& work) {
  if (peers_->alone()) return work();
  if (PeersDoOtherwise()) return peers_->is_chief() ? work() : std::string();
  peers_->Begin();
  return peers_->FromChief("an export",
                           peers_->is_chief() ? work() : absl::StatusOr<std::string>(""));
}

// The state file of the new folder names the newest checkpoint of the old one.
absl::Status EstimatorBase::PrepareDryRun() {
  const std::string real = config_.model_dir.value_or("");
  std::optional<std::string> latest;
  if (!real.empty()) {
    EST_ASSIGN_OR_RETURN(latest, estimator::LatestCheckpoint(real));
  }
  EST_ASSIGN_OR_RETURN(const std::string folder, MakeTemporaryFolder());
  dry_run_folder_ = std::shared_ptr<const void>(this, [folder](const void*) {
    const absl::Status removed = RemoveDirectoryRecursively(folder);
    LOG_IF(WARNING, !removed.ok()) << "the folder of the dry run is left: " << removed;
  });
  if (latest.has_value()) {
    const std::string path =
        IsAbsolutePath(*latest) ? *latest : std::filesystem::absolute(*latest).string();
    EST_RETURN_IF_ERROR(WriteCheckpointState(folder, {.model_checkpoint_path = path}));
  }
  config_.model_dir = folder;
  config_.keep_checkpoint_max = std::nullopt;
  config_.profile_steps = std::nullopt;
  config_.plot_learning_rate = "";
  LOG_IF(INFO, config_.dry_run) << "Dry run: a step of training, a batch of each evaluation and "
                                << "prediction, all in " << folder << ", which is removed";
  return absl::OkStatus();
}

absl::Status EstimatorBase::MayBegin(const Strategy::Call& call) {
  EST_RETURN_IF_ERROR(status_);
  if (call.mode == Mode::kTrain) EST_RETURN_IF_ERROR(CheckMayTrain(task_, peers_->size()));
  EST_RETURN_IF_ERROR(strategy_->MayBegin(call));
  return RunFinderOfConfig(*this, call.input, call.mode);
}

HookPtr EstimatorBase::MakeSanityHook(const InputFn& input,
                                      std::function<int64_t(int64_t global_step)> steps) {
  struct Hook : SessionRunHook {
    std::function<absl::Status(Session&)> evaluate;
    bool IsForChief() const override { return true; }
    absl::Status AfterCreateSession(Session& session) override { return evaluate(session); }
  };
  const auto hook = std::make_shared<Hook>();
  hook->evaluate = [this, input, steps](Session& session) {
    const int64_t batches = config_.num_sanity_val_steps;
    if (batches == 0 || config_.dry_run || steps(session.global_step()) < RunConfig::kLongTraining)
      return absl::OkStatus();
    LOG(INFO)
        << "Evaluating " << batches
        << " batches before the training, to see whether that works; the results are discarded";
    EvaluateOptions options;
    options.steps = batches;
    options.discard = true;
    return Annotate(EvaluateInMemory(input, options, session).status(),
                    "the evaluation before the training (RunConfig.num_sanity_val_steps)");
  };
  return hook;
}

EstimatorBase::~EstimatorBase() = default;
EstimatorBase::EstimatorBase(EstimatorBase&&) noexcept = default;

absl::Status EstimatorBase::Train(const InputFn& input, const TrainLength& length,
                                  const TrainOptions& options) {
  EST_RETURN_IF_ERROR(
      MayBegin({.mode = Mode::kTrain, .input = input, .num_steps_given = !length.until_end()}));
  if (!config_.dry_run) return trainer_->Train(input, length, options);
  return trainer_->Train(input, Steps(1), {.saving_listeners = options.saving_listeners});
}

absl::StatusOr<EvalResult> EstimatorBase::Evaluate(const InputFn& input,
                                                   const EvaluateOptions& given) {
  EST_RETURN_IF_ERROR(
      MayBegin({.mode = Mode::kEval, .input = input, .num_steps_given = given.steps.has_value()}));
  // A thread may still be writing the newest checkpoint.
  trainer_->WaitForCheckpoint();
  EvaluateOptions options = given;
  if (config_.dry_run) {
    options.steps = 1;
    options.hooks = {};
  }
  return CurrentEvaluator().Evaluate(input, options, trainer_->state());
}

absl::StatusOr<EvalResult> EstimatorBase::EvaluateInMemory(const InputFn& input,
                                                           const EvaluateOptions& options,
                                                           Session& session) {
  EST_RETURN_IF_ERROR(status_);
  if (&session.variables() != &trainer_->state().store()) {
    return InvalidArgument(
        "InMemoryEvaluatorHook: the hook was made for another Estimator than the one that trains");
  }
  return CurrentEvaluator().EvaluateInMemory(input, options, trainer_->state());
}

Predictions EstimatorBase::Predict(const InputFn& input, PredictOptions options) {
  // Predict returns no status, so the first Next returns this one. The caller of Next decides how
  // many steps a prediction makes.
  if (const absl::Status status =
          MayBegin({.mode = Mode::kPredict, .input = input, .num_steps_given = true});
      !status.ok())
    return PredictLoop::Failed(status);
  trainer_->WaitForCheckpoint();
  PredictLoop& loop = CurrentPredictLoop();
  if (!config_.dry_run) return loop.Predict(input, std::move(options), trainer_->state());
  options.hooks = {};
  const auto first = [input](const InputFn::Call& call) -> absl::StatusOr<Dataset> {
    EST_ASSIGN_OR_RETURN(const Dataset dataset, input(call));
    return dataset.Take(1);
  };
  return loop.Predict(InputFn(first), std::move(options), trainer_->state());
}

ModelExporter EstimatorBase::Exporter() {
  trainer_->WaitForCheckpoint();
  return ModelExporter(config_, warm_start_, trainer_->state());
}

ExportPass EstimatorBase::ServingPass() const {
  ExportPass pass = serving_pass_;
  if (pass.strategy == nullptr) pass.strategy = strategy_;
  return pass;
}

absl::StatusOr<std::string> EstimatorBase::ExportSavedModel(
    StringArg export_dir_base, const ServingInputReceiverFn& input_receiver_fn,
    const ExportSavedModelOptions& options) {
  return ExperimentalExportAllSavedModels(export_dir_base, {{options.mode, input_receiver_fn}},
                                          options);
}

absl::StatusOr<std::string> EstimatorBase::ExperimentalExportAllSavedModels(
    StringArg export_dir_base, const InputReceiverFnMap& input_receiver_fn_map,
    const ExportSavedModelOptions& options) {
  EST_RETURN_IF_ERROR(status_);
  return AsChief([&] {
    return Exporter().ExportAllSavedModels(
        config_.dry_run ? JoinPath(model_dir(), "export") : std::string(export_dir_base),
        input_receiver_fn_map,
        export_passes_.value_or(std::vector<ExportPass>{{.strategy = strategy_}}), options);
  });
}

absl::StatusOr<FrozenGraph> EstimatorBase::WriteFrozenGraph(
    StringArg path, const ServingInputReceiverFn& input_receiver_fn,
    const WriteFrozenGraphOptions& options) {
  EST_RETURN_IF_ERROR(status_);
  FrozenGraph frozen;
  const auto write = [&]() -> absl::StatusOr<std::string> {
    EST_ASSIGN_OR_RETURN(
        frozen, Exporter().WriteFrozenGraph(
                    config_.dry_run ? JoinPath(model_dir(), Basename(path)) : std::string(path),
                    input_receiver_fn, ServingPass(), options));
    return peers_->alone() ? std::string() : FrozenGraphToBytes(frozen);
  };
  EST_ASSIGN_OR_RETURN(const std::string of_chief, AsChief(write));
  if (peers_->is_chief() || of_chief.empty()) return frozen;
  return FrozenGraphFromBytes(of_chief);
}

absl::StatusOr<std::unique_ptr<Predictor>> EstimatorBase::MakePredictor(
    const ServingInputReceiverFn& input_receiver_fn, const MakePredictorOptions& options) {
  EST_RETURN_IF_ERROR(status_);
  return Exporter().MakePredictor(input_receiver_fn, ServingPass(), options);
}

absl::StatusOr<std::optional<std::string>> EstimatorBase::LatestCheckpoint() const {
  // After an error in the constructor there is no trainer, but model_dir can still be read.
  if (trainer_ != nullptr) trainer_->WaitForCheckpoint();
  return estimator::LatestCheckpoint(model_dir());
}

StatusOrRange<std::vector<std::string>> EstimatorBase::GetVariableNames() const {
  if (trainer_ != nullptr) trainer_->WaitForCheckpoint();
  EST_ASSIGN_OR_RETURN(const std::unique_ptr<BundleReader> reader, OpenLatest(model_dir()));
  return reader->names();
}

absl::StatusOr<Array> EstimatorBase::GetVariableValue(StringArg name) const {
  if (trainer_ != nullptr) trainer_->WaitForCheckpoint();
  EST_ASSIGN_OR_RETURN(const std::unique_ptr<BundleReader> reader, OpenLatest(model_dir()));
  return reader->Read(name);
}

InputSizes EstimatorBase::training_input_sizes() const {
  return trainer_ == nullptr ? InputSizes() : trainer_->sizes();
}

std::string EstimatorBase::EvalDir(StringArg name) const {
  return estimator::EvalDir(model_dir(), std::string(name));
}

}  // namespace estimator
