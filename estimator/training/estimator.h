// Estimator: trains, evaluates and predicts with a model_fn and an input_fn, on this machine's CPU.
//
//   Estimator<Params> estimator({.model_fn = ModelFn, .config = {.model_dir = "/tmp/m"}, .params =
//   {...}}); absl::Status trained = estimator.Train(TrainInput, MaxSteps(1000));
//   absl::StatusOr<EvalResult> result = estimator.Evaluate(EvalInput);
#ifndef ESTIMATOR_TRAINING_ESTIMATOR_H_
#define ESTIMATOR_TRAINING_ESTIMATOR_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "estimator/training/estimator_core.h"
#include "estimator/training/estimator_spec.h"
#include "estimator/training/model/local_strategy.h"
#include "estimator/training/warm_start/warm_start_settings.h"

namespace estimator {

// What params structs of a model inherit.
struct EstimatorParams {
  int64_t batch_size = 0;  // a plain Estimator leaves it as the user sets it
};

// Params: the user's own struct, any copyable type.
template <typename Params = EstimatorParams>
class Estimator {
 public:
  using ModelFn = std::function<EstimatorSpec(const Features&, const Labels&, Mode, const Params&)>;
  // Dataset converts to StatusOr<Dataset>, so either may be returned.
  using InputFnType = std::function<absl::StatusOr<Dataset>(const Params&)>;

  struct Options {
    ModelFn model_fn = nullptr;
    RunConfig config = {};
    Params params = {};
    // A path, or WarmStartSettings: where variables begin while model_dir has no checkpoint.
    WarmStartFrom warm_start_from = {};
  };

  explicit Estimator(Options options)
      : params_(std::make_shared<const Params>(options.params)),
        core_(MakeLocalStrategy(
                  [model_fn = options.model_fn, params = params_](
                      const Features& features, const Labels& labels, Mode mode,
                      int64_t) -> absl::StatusOr<ModelSpec> {
                    return model_fn(features, labels, mode, *params).spec();
                  },
                  {}, {.check_kernels = options.config.check_kernels}),
              options.config, options.warm_start_from,
              options.model_fn ? absl::OkStatus()
                               : absl::InvalidArgumentError("model_fn must be given")) {}

  absl::Status Train(const InputFnType& input_fn, TrainLength length = {},
                     const TrainOptions& options = {}) {
    return core_.Train(Input(input_fn), length, options);
  }
  absl::StatusOr<EvalResult> Evaluate(const InputFnType& input_fn,
                                      const EvaluateOptions& options = {}) {
    return core_.Evaluate(Input(input_fn), options);
  }
  Predictions Predict(const InputFnType& input_fn, PredictOptions options = {}) {
    return core_.Predict(Input(input_fn), std::move(options));
  }

  // An input that keeps its place: passed to Train again, it goes on where it stood. A plain
  // function does so by itself; a lambda only through this.
  InputFn Input(const InputFnType& input_fn) const {
    return InputFn([input_fn, params = params_](const InputFn::Call&) { return input_fn(*params); },
                   FunctionIdentity<Params>(input_fn));
  }
  absl::Status Train(const InputFn& input, TrainLength length = {},
                     const TrainOptions& options = {}) {
    return core_.Train(input, length, options);
  }

  // Writes a SavedModel of the newest checkpoint into a new folder EXPORT_DIR_BASE/SECONDS, which
  // TensorFlow and its servers load, and returns the folder. It takes any batch size, unless the
  // model is tied to one; a warning then says what ties it.
  // Errors: NOT_FOUND without a checkpoint; INVALID_ARGUMENT for a variable that it lacks, or
  // without a receiver. Source: TF 2.15 Estimator.export_saved_model.
  absl::StatusOr<std::string> ExportSavedModel(const std::string& export_dir_base,
                                               const ServingInputReceiverFn& input_receiver_fn,
                                               const ExportSavedModelOptions& options = {}) {
    return core_.ExportAllSavedModels(export_dir_base, {{options.mode, input_receiver_fn}},
                                      options);
  }
  // The graphs of several modes in one SavedModel: tags `train`, `eval`, `serve`.
  absl::StatusOr<std::string> ExperimentalExportAllSavedModels(
      const std::string& export_dir_base, const InputReceiverFnMap& input_receiver_fn_map,
      const ExportSavedModelOptions& options = {}) {
    return core_.ExportAllSavedModels(export_dir_base, input_receiver_fn_map, options);
  }
  // Writes inference alone, variables as constants, as a GraphDef at `path`.
  absl::StatusOr<FrozenGraph> WriteFrozenGraph(const std::string& path,
                                               const ServingInputReceiverFn& input_receiver_fn,
                                               const WriteFrozenGraphOptions& options = {}) {
    return core_.WriteFrozenGraph(path, input_receiver_fn, options);
  }
  // Loads the newest checkpoint once, to serve predictions from any number of threads.
  absl::StatusOr<std::unique_ptr<Predictor>> MakePredictor(
      const ServingInputReceiverFn& input_receiver_fn, const MakePredictorOptions& options = {}) {
    return core_.MakePredictor(input_receiver_fn, options);
  }

  const RunConfig& config() const { return core_.config(); }
  // What TF_CONFIG says of this process.
  const TaskConfig& task() const { return core_.task(); }
  const std::string& model_dir() const { return core_.model_dir(); }
  const Params& params() const { return *params_; }
  absl::StatusOr<std::optional<std::string>> LatestCheckpoint() const {
    return core_.LatestCheckpoint();
  }
  absl::StatusOr<std::vector<std::string>> GetVariableNames() const {
    return core_.GetVariableNames();
  }
  absl::StatusOr<Array> GetVariableValue(const std::string& name) const {
    return core_.GetVariableValue(name);
  }
  std::string EvalDir(const std::string& name = "") const { return core_.EvalDir(name); }

 private:
  const std::shared_ptr<const Params> params_;
  EstimatorCore core_;
};

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_ESTIMATOR_H_
