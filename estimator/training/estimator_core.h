// EstimatorCore: the common part of Estimator and TPUEstimator. It has one strategy, one RunConfig,
// and the three loops (train, evaluate, predict) that use them.
#ifndef ESTIMATOR_TRAINING_ESTIMATOR_CORE_H_
#define ESTIMATOR_TRAINING_ESTIMATOR_CORE_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/array/array.h"
#include "estimator/training/loop/eval_result.h"
#include "estimator/training/loop/evaluator.h"
#include "estimator/training/loop/model_exporter.h"
#include "estimator/training/loop/predictions.h"
#include "estimator/training/loop/run_config.h"
#include "estimator/training/loop/tf_config.h"
#include "estimator/training/loop/train_length.h"
#include "estimator/training/loop/trainer.h"
#include "estimator/training/model/strategy.h"
#include "estimator/training/warm_start/warm_start_settings.h"

namespace estimator {

// Not thread-safe.
class EstimatorCore {
 public:
  // Reads TF_CONFIG. An error of `config`, of TF_CONFIG, or in `construction` is kept, and every
  // call returns it.
  //   warm_start_from: first values of the variables if model_dir has no checkpoint.
  //   construction: an error that the caller found already.
  EstimatorCore(std::unique_ptr<Strategy> strategy, RunConfig config,
                const WarmStartFrom& warm_start_from, absl::Status construction = absl::OkStatus());
  ~EstimatorCore();
  EstimatorCore(EstimatorCore&&) noexcept;  // so that a function may return an estimator

  absl::Status Train(const InputFn& input_fn, const TrainLength& length,
                     const TrainOptions& options);
  absl::StatusOr<EvalResult> Evaluate(const InputFn& input_fn, const EvaluateOptions& options);
  Predictions Predict(const InputFn& input_fn, PredictOptions options);

  // These three are as in ModelExporter. If `passes` is not given, there is one pass: the
  // estimator's usual call of model_fn.
  absl::StatusOr<std::string> ExportAllSavedModels(
      const std::string& export_dir_base, const InputReceiverFnMap& receivers,
      const ExportSavedModelOptions& options,
      std::optional<std::vector<ExportPass>> passes = std::nullopt);
  absl::StatusOr<FrozenGraph> WriteFrozenGraph(const std::string& path,
                                               const ServingInputReceiverFn& receiver,
                                               const WriteFrozenGraphOptions& options,
                                               ExportPass pass = {});
  absl::StatusOr<std::unique_ptr<Predictor>> MakePredictor(const ServingInputReceiverFn& receiver,
                                                           const MakePredictorOptions& options,
                                                           ExportPass pass = {});

  const absl::Status& status() const { return status_; }
  const RunConfig& config() const { return config_; }
  const TaskConfig& task() const { return task_; }
  const std::string& model_dir() const { return *config_.model_dir; }
  // Returns the prefix of the newest complete checkpoint, or nullopt before training.
  absl::StatusOr<std::optional<std::string>> LatestCheckpoint() const;
  // Returns the sorted names of the newest checkpoint's variables. Errors: NOT_FOUND before
  // training.
  absl::StatusOr<std::vector<std::string>> GetVariableNames() const;
  // Returns a variable's value in the newest checkpoint. Errors: NOT_FOUND before training;
  // NOT_FOUND naming the nearest variable for an unknown name.
  absl::StatusOr<Array> GetVariableValue(const std::string& name) const;
  std::string EvalDir(const std::string& name = "") const {
    return estimator::EvalDir(model_dir(), name);
  }

 private:
  RunConfig config_;
  std::optional<WarmStartSettings> warm_start_;
  TaskConfig task_;
  absl::Status status_;
  std::shared_ptr<Strategy> strategy_;  // shared with predictors
  std::unique_ptr<Trainer> trainer_;
  std::unique_ptr<Evaluator> evaluator_;
  std::unique_ptr<PredictLoop> predict_loop_;
};

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_ESTIMATOR_CORE_H_
