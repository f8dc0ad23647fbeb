#include "estimator/training/estimator_core.h"

#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/checkpoint/bundle_reader.h"
#include "estimator/checkpoint/latest_checkpoint.h"
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
  LOG(WARNING) << "Using temporary folder as model directory: " << pattern;
  return pattern;
}

// model_dir may be set in the program or in TF_CONFIG. If both set it, the values must be equal.
absl::Status TakeModelDir(const TaskConfig& task, RunConfig& config) {
  if (!task.model_dir.has_value()) return absl::OkStatus();
  if (config.model_dir.has_value() && *config.model_dir != *task.model_dir) {
    return absl::InvalidArgumentError(absl::StrCat("RunConfig.model_dir is ", *config.model_dir,
                                                   ", but TF_CONFIG says ", *task.model_dir,
                                                   "; set one of them, or the same in both"));
  }
  config.model_dir = task.model_dir;
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<BundleReader>> OpenLatest(const std::string& model_dir) {
  EST_ASSIGN_OR_RETURN(const std::optional<std::string> latest, LatestCheckpoint(model_dir));
  if (!latest.has_value()) {
    return absl::NotFoundError(absl::StrCat("no checkpoint in ", model_dir, "; train first"));
  }
  return BundleReader::Open(*latest);
}

}  // namespace

EstimatorCore::EstimatorCore(std::unique_ptr<Strategy> strategy, RunConfig config,
                             const WarmStartFrom& warm_start_from, absl::Status construction)
    : config_(std::move(config)),
      warm_start_(warm_start_from.settings()),
      status_(std::move(construction)),
      strategy_(std::move(strategy)) {
  absl::StatusOr<TaskConfig> task = TaskConfigFromEnvironment();
  status_.Update(task.status());
  if (task.ok()) task_ = *std::move(task);
  status_.Update(config_.Validate());
  if (warm_start_.has_value()) status_.Update(ValidateWarmStart(*warm_start_));
  status_.Update(TakeModelDir(task_, config_));
  if (!config_.model_dir.has_value()) {
    absl::StatusOr<std::string> temporary = status_.ok() ? MakeTemporaryModelDir() : std::string();
    status_.Update(temporary.status());
    config_.model_dir = temporary.ok() ? *temporary : "";
  }
  if (!status_.ok()) return;
  trainer_ = std::make_unique<Trainer>(*strategy_, config_, warm_start_);
  evaluator_ = std::make_unique<Evaluator>(*strategy_, config_, warm_start_);
  predict_loop_ = std::make_unique<PredictLoop>(*strategy_, config_, warm_start_);
}

EstimatorCore::~EstimatorCore() = default;
EstimatorCore::EstimatorCore(EstimatorCore&&) noexcept = default;

absl::Status EstimatorCore::Train(const InputFn& input_fn, const TrainLength& length,
                                  const TrainOptions& options) {
  EST_RETURN_IF_ERROR(status_);
  EST_RETURN_IF_ERROR(CheckMayTrain(task_));
  return trainer_->Train(input_fn, length, options);
}

absl::StatusOr<EvalResult> EstimatorCore::Evaluate(const InputFn& input_fn,
                                                   const EvaluateOptions& options) {
  EST_RETURN_IF_ERROR(status_);
  return evaluator_->Evaluate(input_fn, options, trainer_->state());
}

Predictions EstimatorCore::Predict(const InputFn& input_fn, PredictOptions options) {
  if (!status_.ok()) return PredictLoop::Failed(status_);
  return predict_loop_->Predict(input_fn, std::move(options), trainer_->state());
}

absl::StatusOr<std::string> EstimatorCore::ExportAllSavedModels(
    const std::string& export_dir_base, const InputReceiverFnMap& receivers,
    const ExportSavedModelOptions& options, std::optional<std::vector<ExportPass>> passes) {
  EST_RETURN_IF_ERROR(status_);
  if (!passes.has_value()) passes = {{.strategy = strategy_}};
  return ModelExporter(config_, warm_start_, trainer_->state())
      .ExportAllSavedModels(export_dir_base, receivers, *passes, options);
}

absl::StatusOr<FrozenGraph> EstimatorCore::WriteFrozenGraph(const std::string& path,
                                                            const ServingInputReceiverFn& receiver,
                                                            const WriteFrozenGraphOptions& options,
                                                            ExportPass pass) {
  EST_RETURN_IF_ERROR(status_);
  if (pass.strategy == nullptr) pass.strategy = strategy_;
  return ModelExporter(config_, warm_start_, trainer_->state())
      .WriteFrozenGraph(path, receiver, pass, options);
}

absl::StatusOr<std::unique_ptr<Predictor>> EstimatorCore::MakePredictor(
    const ServingInputReceiverFn& receiver, const MakePredictorOptions& options, ExportPass pass) {
  EST_RETURN_IF_ERROR(status_);
  if (pass.strategy == nullptr) pass.strategy = strategy_;
  return ModelExporter(config_, warm_start_, trainer_->state())
      .MakePredictor(receiver, pass, options);
}

absl::StatusOr<std::optional<std::string>> EstimatorCore::LatestCheckpoint() const {
  return estimator::LatestCheckpoint(model_dir());
}

absl::StatusOr<std::vector<std::string>> EstimatorCore::GetVariableNames() const {
  EST_ASSIGN_OR_RETURN(const std::unique_ptr<BundleReader> reader, OpenLatest(model_dir()));
  return reader->names();
}

absl::StatusOr<Array> EstimatorCore::GetVariableValue(const std::string& name) const {
  EST_ASSIGN_OR_RETURN(const std::unique_ptr<BundleReader> reader, OpenLatest(model_dir()));
  return reader->Read(name);
}

}  // namespace estimator
