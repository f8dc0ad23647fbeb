#include "estimator/training/estimator_base.h"

#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/checkpoint/bundle_reader.h"
#include "estimator/checkpoint/latest_checkpoint.h"
#include "estimator/checkpoint/load.h"
#include "glog/logging.h"

namespace estimator {
namespace {

absl::StatusOr<std::string> MakeTemporaryModelDir() {
  const char* parent = getenv("TMPDIR");
  std::string pattern = absl::StrCat(parent != nullptr ? parent : "/tmp", "/estimator-XXXXXX");
  if (mkdtemp(pattern.data()) == nullptr) {
    return absl::UnavailableError(
        absl::StrCat("cannot create a temporary model_dir ", pattern, "; set RunConfig.model_dir"));
  }
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

}  // namespace

EstimatorBase::EstimatorBase(EstimatorParts parts)
    : config_(std::move(parts.config)),
      warm_start_(parts.warm_start_from.settings()),
      status_(std::move(parts.status)),
      strategy_(std::move(parts.strategy)),
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
  if (!config_.model_dir.has_value()) {
    // After an error nothing will run, so no folder is left behind.
    absl::StatusOr<std::string> temporary = status_.ok() ? MakeTemporaryModelDir() : std::string();
    status_.Update(temporary.status());
    config_.model_dir = temporary.ok() ? *temporary : "";
  }
  // Every call returns the error, so none of them needs the loops.
  if (!status_.ok()) return;
  trainer_ = std::make_unique<Trainer>(*strategy_, config_, warm_start_);
  evaluator_ = std::make_unique<Evaluator>(*strategy_, config_, warm_start_);
  predict_loop_ = std::make_unique<PredictLoop>(*strategy_, config_, warm_start_);
}

EstimatorBase::~EstimatorBase() = default;
EstimatorBase::EstimatorBase(EstimatorBase&&) noexcept = default;

absl::Status EstimatorBase::Train(const InputFn& input, const TrainLength& length,
                                  const TrainOptions& options) {
  EST_RETURN_IF_ERROR(status_);
  EST_RETURN_IF_ERROR(CheckMayTrain(task_));
  EST_RETURN_IF_ERROR(strategy_->MayBegin(
      {.mode = Mode::kTrain, .input = input, .num_steps_given = !length.until_end()}));
  return trainer_->Train(input, length, options);
}

absl::StatusOr<EvalResult> EstimatorBase::Evaluate(const InputFn& input,
                                                   const EvaluateOptions& options) {
  EST_RETURN_IF_ERROR(status_);
  EST_RETURN_IF_ERROR(strategy_->MayBegin(
      {.mode = Mode::kEval, .input = input, .num_steps_given = options.steps.has_value()}));
  // A thread may still be writing the newest checkpoint.
  trainer_->WaitForCheckpoint();
  return evaluator_->Evaluate(input, options, trainer_->state());
}

absl::StatusOr<EvalResult> EstimatorBase::EvaluateInMemory(const InputFn& input,
                                                           const EvaluateOptions& options,
                                                           Session& session) {
  EST_RETURN_IF_ERROR(status_);
  if (&session.variables() != &trainer_->state().store()) {
    return InvalidArgument(
        "InMemoryEvaluatorHook: the hook was made for another Estimator than the one that trains");
  }
  return evaluator_->EvaluateInMemory(input, options, trainer_->state());
}

Predictions EstimatorBase::Predict(const InputFn& input, PredictOptions options) {
  // Predict returns no status, so the first Next returns this one.
  if (!status_.ok()) return PredictLoop::Failed(status_);
  // The caller of Next decides how many steps a prediction makes.
  if (const absl::Status status =
          strategy_->MayBegin({.mode = Mode::kPredict, .input = input, .num_steps_given = true});
      !status.ok())
    return PredictLoop::Failed(status);
  trainer_->WaitForCheckpoint();
  return predict_loop_->Predict(input, std::move(options), trainer_->state());
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
  return Exporter().ExportAllSavedModels(
      std::string(export_dir_base), input_receiver_fn_map,
      export_passes_.value_or(std::vector<ExportPass>{{.strategy = strategy_}}), options);
}

absl::StatusOr<FrozenGraph> EstimatorBase::WriteFrozenGraph(
    StringArg path, const ServingInputReceiverFn& input_receiver_fn,
    const WriteFrozenGraphOptions& options) {
  EST_RETURN_IF_ERROR(status_);
  return Exporter().WriteFrozenGraph(std::string(path), input_receiver_fn, ServingPass(), options);
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
