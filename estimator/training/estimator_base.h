// EstimatorBase: the common part of Estimator and TPUEstimator. It has one strategy, one RunConfig,
// the three loops (train, evaluate, predict) that use them, and exports. EstimatorOf<Params> adds
// the calls that take an input_fn.
#ifndef ESTIMATOR_TRAINING_ESTIMATOR_BASE_H_
#define ESTIMATOR_TRAINING_ESTIMATOR_BASE_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/array/array.h"
#include "estimator/base/status_or_range.h"
#include "estimator/base/string_arg.h"
#include "estimator/training/epochs/epoch_options.h"
#include "estimator/training/epochs/history.h"
#include "estimator/training/hooks/period.h"
#include "estimator/training/loop/eval_result.h"
#include "estimator/training/loop/evaluator.h"
#include "estimator/training/loop/model_exporter.h"
#include "estimator/training/loop/predictions.h"
#include "estimator/training/loop/run_config.h"
#include "estimator/training/loop/tf_config.h"
#include "estimator/training/loop/train_length.h"
#include "estimator/training/loop/trainer.h"
#include "estimator/training/model/strategy.h"
#include "estimator/training/peers/peers.h"
#include "estimator/training/warm_start/warm_start_settings.h"

namespace estimator {

// The parts of EstimatorBase that differ between Estimator and TPUEstimator.
struct EstimatorParts {
  // A trial has a strategy of its own, whose memory ends with it.
  //   group: the processes among which the work is divided; null: this one.
  std::function<std::shared_ptr<Strategy>(const std::shared_ptr<ProcessGroup>& group)>
      make_strategy;
  RunConfig config = {};
  // First values of variables while model_dir has no checkpoint.
  WarmStartFrom warm_start_from = {};
  // An error of the options. Every call returns it.
  absl::Status status = absl::OkStatus();
  // How model_fn is called for the graphs of a SavedModel; none: once, by `strategy`.
  std::optional<std::vector<ExportPass>> export_passes = std::nullopt;
  // The same for WriteFrozenGraph and MakePredictor; without a strategy: by the one above.
  ExportPass serving_pass = {};
};

// A wrong configuration is reported by every call. Not thread-safe.
class EstimatorBase {
 public:
  // If several processes train together, all of them make the calls of this class, except those
  // that only read model_dir. The chief writes what a call writes, and all return its result.

  // Writes a SavedModel of the newest checkpoint into a new folder EXPORT_DIR_BASE/SECONDS and
  // returns the folder. TensorFlow and its servers load it. It takes any batch size, unless the
  // model is tied to one; a warning then names the cause.
  // Errors: NOT_FOUND without a checkpoint; INVALID_ARGUMENT for a variable that the checkpoint
  // lacks, or without a receiver. Source: TF 2.15 Estimator.export_saved_model.
  absl::StatusOr<std::string> ExportSavedModel(StringArg export_dir_base,
                                               const ServingInputReceiverFn& input_receiver_fn,
                                               const ExportSavedModelOptions& options = {});
  // Writes the graphs of several modes into one SavedModel: tags `train`, `eval`, `serve`.
  absl::StatusOr<std::string> ExperimentalExportAllSavedModels(
      StringArg export_dir_base, const InputReceiverFnMap& input_receiver_fn_map,
      const ExportSavedModelOptions& options = {});
  // Writes the graph of inference, with variables as constants, as a GraphDef at `path`.
  absl::StatusOr<FrozenGraph> WriteFrozenGraph(StringArg path,
                                               const ServingInputReceiverFn& input_receiver_fn,
                                               const WriteFrozenGraphOptions& options = {});
  // Loads the newest checkpoint once, to serve predictions from any number of threads.
  absl::StatusOr<std::unique_ptr<Predictor>> MakePredictor(
      const ServingInputReceiverFn& input_receiver_fn, const MakePredictorOptions& options = {});

  const RunConfig& config() const { return config_; }
  // This process's task in TF_CONFIG.
  const TaskConfig& task() const { return task_; }
  // The processes that train with this one (RunConfig.process_group).
  Peers& peers() const { return *peers_; }
  const std::string& model_dir() const { return *config_.model_dir; }
  // Returns the prefix of the newest complete checkpoint, or nullopt before training.
  absl::StatusOr<std::optional<std::string>> LatestCheckpoint() const;
  // Returns the sorted names of the newest checkpoint's variables. Errors: NOT_FOUND before
  // training.
  StatusOrRange<std::vector<std::string>> GetVariableNames() const;
  // Returns a variable's value in the newest checkpoint. Errors: NOT_FOUND before training;
  // NOT_FOUND naming the nearest variable for an unknown name.
  absl::StatusOr<Array> GetVariableValue(StringArg name) const;
  // The sizes of the training's input, for a Period in epochs or examples. Nothing is known before
  // Train has opened the input; hooks and listeners may read them in Begin.
  InputSizes training_input_sizes() const;
  // The folder of the summaries of Evaluate(..., {.name = name}).
  std::string EvalDir(StringArg name = "") const;
  // For TrainAndEvaluate and TrainEpochs: a hook of the training that evaluates
  // RunConfig.num_sanity_val_steps batches of `input` before the first step, if the training then
  // makes kLongTraining steps or more before it evaluates.
  //   steps: up to its first evaluation. Called when the input is open; negative: not known.
  HookPtr MakeSanityHook(const InputFn& input, std::function<int64_t(int64_t global_step)> steps);

 protected:
  // Reads TF_CONFIG. The first error of `parts`, the RunConfig or TF_CONFIG is kept, and every call
  // returns it.
  explicit EstimatorBase(EstimatorParts parts);
  ~EstimatorBase();
  EstimatorBase(EstimatorBase&&) noexcept;  // so that a function may return an estimator

  absl::Status Train(const InputFn& input, const TrainLength& length, const TrainOptions& options);
  //   validation: not valid: none.
  absl::StatusOr<History> TrainEpochs(const InputFn& input, const InputFn& validation,
                                      const EpochSettings& settings);
  absl::StatusOr<EvalResult> Evaluate(const InputFn& input, const EvaluateOptions& options);
  Predictions Predict(const InputFn& input, PredictOptions options);

 private:
  friend class InMemoryEvaluatorHook;
  friend class Trial;  // trial.h
  // Evaluates the variables of the training that `session` belongs to. It must be this estimator's.
  absl::StatusOr<EvalResult> EvaluateInMemory(const InputFn& input, const EvaluateOptions& options,
                                              Session& session);
  // What every call begins with: errors, checks, and the finders of the RunConfig.
  absl::Status MayBegin(const Strategy::Call& call);
  // Makes a temporary folder the model_dir.
  absl::Status PrepareDryRun();
  ModelExporter Exporter();
  // The chief does it, and its peers get its result.
  absl::StatusOr<std::string> AsChief(const std::function<absl::StatusOr<std::string>()>& work);
  Evaluator& CurrentEvaluator();
  PredictLoop& CurrentPredictLoop();
  bool PeersDoOtherwise() const;
  ExportPass ServingPass() const;

  RunConfig config_;
  std::optional<WarmStartSettings> warm_start_;
  TaskConfig task_;
  absl::Status status_;
  std::function<std::shared_ptr<Strategy>(const std::shared_ptr<ProcessGroup>&)> make_strategy_;
  std::unique_ptr<Peers> peers_;        // the processes that train together
  std::shared_ptr<Strategy> strategy_;  // shared with predictors
  std::optional<std::vector<ExportPass>> export_passes_;
  ExportPass serving_pass_;
  std::shared_ptr<const void> dry_run_folder_;  // removes it after the loops
  // Of the input that TrainEpochs opened last: the steps of a pass; -1: not known.
  std::shared_ptr<int64_t> pass_steps_ = std::make_shared<int64_t>(-1);
  std::unique_ptr<Trainer> trainer_;
  std::unique_ptr<Evaluator> evaluator_;
  std::unique_ptr<PredictLoop> predict_loop_;
  // For what this process evaluates and predicts during a training, or while its peers wait. Null
  // without peers.
  std::shared_ptr<Strategy> lone_strategy_;
  std::unique_ptr<Evaluator> lone_evaluator_;
  std::unique_ptr<PredictLoop> lone_predict_loop_;
};

// The calls with an input_fn. Params: the user's own struct, any copyable type.
template <typename Params>
class EstimatorOf : public EstimatorBase {
 public:
  // Dataset converts to StatusOr<Dataset>, so a function may return either.
  using InputFnType = InputFnOf<Params>;

  // Trains until `length` is reached: Steps(n), MaxSteps(n), or none: until the input ends.
  // Source: TF 2.15 Estimator.train.
  absl::Status Train(const InputFnType& input_fn, TrainLength length = {},
                     const TrainOptions& options = {}) {
    return EstimatorBase::Train(Input(input_fn), length, options);
  }
  // The same with an input that keeps its position between calls.
  absl::Status Train(const InputFn& input, TrainLength length = {},
                     const TrainOptions& options = {}) {
    return EstimatorBase::Train(input, length, options);
  }
  // Trains by epochs, with a validation and the callbacks of options.hooks after each:
  //   estimator.TrainEpochs(TrainInput, {.epochs = 20, .validation_input_fn = EvalInput});
  // Returns the history: by epoch the means of the loss and of the spec's metrics over the training
  // batches, the validation's, the learning rate and the time. It is in model_dir too (history.h).
  // The metrics are those that model_fn gives to the spec's Train: `eval_metrics` of a
  // TPUEstimatorSpec, `eval_metric_ops` of an EstimatorSpec. They cost no second pass.
  // A call in a model_dir with trained epochs continues with the next one, also in the middle of an
  // epoch, and ends with the bits, the history and the callbacks of a training without a pause.
  // Errors: those of Train; INVALID_ARGUMENT for options that are out of range, and for
  // eval_metric_ops on replicas; FAILED_PRECONDITION if the steps of an epoch are not known; those
  // of the validation and of the callbacks. Source: TF 2.15 tf.keras.Model.fit.
  absl::StatusOr<History> TrainEpochs(const InputFnType& input_fn,
                                      const EpochOptions<Params>& options) {
    return TrainEpochs(Input(input_fn), options);
  }
  absl::StatusOr<History> TrainEpochs(const InputFn& input, const EpochOptions<Params>& options) {
    return EstimatorBase::TrainEpochs(
        input, options.validation_input_fn ? Input(options.validation_input_fn) : InputFn(),
        options.settings());
  }
  // Scores every example of the input once; see EvaluateOptions.
  absl::StatusOr<EvalResult> Evaluate(const InputFnType& input_fn,
                                      const EvaluateOptions& options = {}) {
    return EstimatorBase::Evaluate(Input(input_fn), options);
  }
  // Lazy: nothing runs before the first Next().
  Predictions Predict(const InputFnType& input_fn, PredictOptions options = {}) {
    return EstimatorBase::Predict(Input(input_fn), std::move(options));
  }

  // An input that keeps its position: a second Train with it continues with the next example. A
  // plain function does so without this; a lambda does not.
  InputFn Input(const InputFnType& input_fn) const {
    return InputFn(
        [input_fn, params = params_, fill_params = fill_params_](const InputFn::Call& call) {
          if (!fill_params) return input_fn(*params);
          Params filled = *params;
          fill_params(call, filled);
          return input_fn(filled);
        },
        input_fn.identity());
  }

  const Params& params() const { return *params_; }

 protected:
  // Sets what a call of input_fn sees in its copy of the params.
  using FillParams = std::function<void(const InputFn::Call& call, Params& params)>;

  // `fill_params`: null if params need nothing filled in.
  EstimatorOf(EstimatorParts parts, std::shared_ptr<const Params> params, FillParams fill_params)
      : EstimatorBase(std::move(parts)),
        params_(std::move(params)),
        fill_params_(std::move(fill_params)) {}

 private:
  std::shared_ptr<const Params> params_;
  FillParams fill_params_;
};

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_ESTIMATOR_BASE_H_
