// TPUEstimator: one model_fn and one input_fn, run locally (use_tpu = false) or on replicas.
//
//   struct MnistParams : tpu::Params { double learning_rate = 0.05; };
//   tpu::TPUEstimator<MnistParams> estimator({.model_fn = ModelFn, .config = config, .use_tpu =
//   FLAGS_use_tpu,
//                                             .train_batch_size = 1024, .eval_batch_size = 1000});
//   absl::Status trained = estimator.Train(TrainInput, MaxSteps(1000));
#ifndef TPU_TPU_ESTIMATOR_H_
#define TPU_TPU_ESTIMATOR_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "estimator/estimator.h"
#include "tpu/cross_shard_optimizer.h"
#include "tpu/sharded_strategy.h"
#include "tpu/tpu_config.h"
#include "tpu/tpu_estimator_spec.h"

namespace estimator::tpu {

// What replicas a call is for. The framework fills it in. The last three are what TensorFlow's
// current_input_fn_deployment() returns.
struct TPUContext {
  int num_replicas = 1;
  int num_hosts = 1;
  int num_of_replicas_per_host = 1;
  int current_host = 0;         // input_fn only
  int64_t invocation = 0;       // input_fn only: which of num_invocations calls this is
  int64_t num_invocations = 1;  // input_fn only
  int64_t replicas_fed = 1;     // input_fn only: how many replicas this call's batches are for
};

// What a model's params struct inherits. The framework fills these in before every call of model_fn
// and input_fn; the user leaves them alone.
struct Params {
  int64_t batch_size = 0;  // rows that this call is for; 0 where no batch size was given
  bool use_tpu = false;
  TPUContext context;
};

// What the template below has to say, for any Params.
struct TPUEstimatorSettings {
  RunConfig config = {};
  bool use_tpu = true;
  BatchSizes batch_sizes = {};
  std::vector<int64_t> batch_axis = {};
  bool eval_on_tpu = true;
  CompileOptions compile_options = {};
};

// Errors: INVALID_ARGUMENT listing everything that is missing or out of range.
absl::Status ValidateSettings(const TPUEstimatorSettings& settings, bool has_model_fn,
                              const Params& params);
std::unique_ptr<Strategy> MakeStrategy(ModelCall model_call, const TPUEstimatorSettings& settings);

// Source: TF 2.15 tf.compat.v1.estimator.tpu.TPUEstimator. A configuration that is wrong is
// reported by every call. Not thread-safe.
template <typename P = Params>
class TPUEstimator {
 public:
  static_assert(std::is_base_of_v<Params, P>, "the params struct must inherit tpu::Params");
  using ModelFn = std::function<TPUEstimatorSpec(const Features&, const Labels&, Mode, const P&)>;
  using InputFnType = std::function<absl::StatusOr<Dataset>(const P&)>;

  struct Options {
    ModelFn model_fn = nullptr;
    RunConfig config = {};
    P params = {};
    bool use_tpu = true;
    std::optional<int64_t> train_batch_size = std::nullopt;
    std::optional<int64_t> eval_batch_size = std::nullopt;
    std::optional<int64_t> predict_batch_size = std::nullopt;
    // Where the batch stands in each array of input_fn, features in the order of their names, then
    // labels: {3, 0} for images [H, W, C, N] with labels [N]. Empty: on axis 0 of all. In training
    // and evaluation; replicas refuse to predict with it, as TensorFlow's do. With use_tpu = false
    // nothing is split, and it says how many examples a batch has.
    std::vector<int64_t> batch_axis = {};
    bool eval_on_tpu = true;
    // A path, or WarmStartSettings: where variables begin while model_dir has no checkpoint.
    WarmStartFrom warm_start_from = {};
    // Which PREDICT graphs ExportSavedModel writes: for the CPU (tag `serve`), with
    // params.use_tpu false; for a TPU (tags `serve`, `tpu`), with params.use_tpu true. The latter
    // is the graph that model_fn builds, as with TensorFlow's export_saved_model_api_version V2;
    // the wrapping of the whole model for a TPU, its V1, is not there, which is why it is off here.
    bool export_to_cpu = true;
    bool export_to_tpu = false;
    CompileOptions compile_options = {};
  };

  explicit TPUEstimator(Options options)
      : options_(std::make_shared<const Options>(std::move(options))),
        core_(MakeStrategy(BindModelFn(options_), Settings()), options_->config,
              options_->warm_start_from,
              ValidateSettings(Settings(), options_->model_fn != nullptr, options_->params)) {}

  // Source: TF 2.15 Estimator.train. `length`: Steps(n), MaxSteps(n), or none: until the input
  // ends.
  absl::Status Train(const InputFnType& input_fn, TrainLength length = {},
                     const TrainOptions& options = {}) {
    return core_.Train(Input(input_fn), length, options);
  }
  // Every example of the input is scored once; see EvaluateOptions.
  absl::StatusOr<EvalResult> Evaluate(const InputFnType& input_fn,
                                      const EvaluateOptions& options = {}) {
    return core_.Evaluate(Input(input_fn), options);
  }
  // Lazy: nothing runs before the first Next().
  Predictions Predict(const InputFnType& input_fn, PredictOptions options = {}) {
    return core_.Predict(Input(input_fn), std::move(options));
  }

  // An input that keeps its place: passed to Train again, it goes on where it stood. A plain
  // function does so by itself; a lambda only through this.
  InputFn Input(const InputFnType& input_fn) const {
    return InputFn(
        [input_fn, all = options_](const InputFn::Call& call) {
          P params = all->params;
          Fill(*all, call.mode, call.batch_size, params);
          params.context.invocation = call.invocation;
          params.context.num_invocations = call.num_invocations;
          params.context.replicas_fed = params.context.num_replicas / call.num_invocations;
          return input_fn(params);
        },
        FunctionIdentity<P>(input_fn));
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
    return core_.ExportAllSavedModels(export_dir_base, {{options.mode, input_receiver_fn}}, options,
                                      ExportPasses());
  }
  // The graphs of several modes in one SavedModel: tags `train`, `eval`, `serve`.
  absl::StatusOr<std::string> ExperimentalExportAllSavedModels(
      const std::string& export_dir_base, const InputReceiverFnMap& input_receiver_fn_map,
      const ExportSavedModelOptions& options = {}) {
    return core_.ExportAllSavedModels(export_dir_base, input_receiver_fn_map, options,
                                      ExportPasses());
  }
  // Writes inference alone, variables as constants, as a GraphDef at `path`.
  absl::StatusOr<FrozenGraph> WriteFrozenGraph(const std::string& path,
                                               const ServingInputReceiverFn& input_receiver_fn,
                                               const WriteFrozenGraphOptions& options = {}) {
    return core_.WriteFrozenGraph(path, input_receiver_fn, options, CpuPass());
  }
  // Loads the newest checkpoint once, to serve predictions from any number of threads.
  absl::StatusOr<std::unique_ptr<Predictor>> MakePredictor(
      const ServingInputReceiverFn& input_receiver_fn, const MakePredictorOptions& options = {}) {
    return core_.MakePredictor(input_receiver_fn, options, CpuPass());
  }

  const RunConfig& config() const { return options_->config; }
  const P& params() const { return options_->params; }
  // What TF_CONFIG says of this process.
  const TaskConfig& task() const { return core_.task(); }
  const std::string& model_dir() const { return core_.model_dir(); }
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
  TPUEstimatorSettings Settings() const {
    CompileOptions compile_options = options_->compile_options;
    compile_options.check_kernels |= options_->config.check_kernels;
    return {.config = options_->config,
            .use_tpu = options_->use_tpu,
            .batch_sizes = {.train = options_->train_batch_size.value_or(0),
                            .eval = options_->eval_batch_size.value_or(0),
                            .predict = options_->predict_batch_size.value_or(0)},
            .batch_axis = options_->batch_axis,
            .eval_on_tpu = options_->eval_on_tpu,
            .compile_options = compile_options};
  }
  static void Fill(const Options& all, Mode mode, int64_t batch_size, Params& params) {
    params.batch_size = batch_size;
    params.use_tpu = all.use_tpu && (mode != Mode::kEval || all.eval_on_tpu);
    params.context.num_replicas =
        params.use_tpu ? static_cast<int>(all.config.tpu_config.replicas()) : 1;
    params.context.num_of_replicas_per_host =
        params.context.num_replicas / params.context.num_hosts;
  }
  // How model_fn is called for an export: batch rules do not apply, and params.batch_size is 0.
  ExportPass Pass(bool use_tpu) const {
    return {.strategy = MakeLocalStrategy(
                [all = options_, use_tpu](const Features& features, const Labels& labels, Mode mode,
                                          int64_t) -> absl::StatusOr<ModelSpec> {
                  P params = all->params;
                  params.use_tpu = use_tpu;
                  const TPUEstimatorSpec spec = all->model_fn(features, labels, mode, params);
                  if (!spec.status().ok()) return spec.status();
                  return spec.spec();
                },
                Settings().batch_sizes),
            .extra_tags = use_tpu ? std::vector<std::string>{"tpu"} : std::vector<std::string>{},
            .predict_only = use_tpu};
  }
  ExportPass CpuPass() const { return Pass(false); }
  std::vector<ExportPass> ExportPasses() const {
    std::vector<ExportPass> passes;
    if (options_->export_to_cpu) passes.push_back(Pass(false));
    if (options_->export_to_tpu) passes.push_back(Pass(true));
    return passes;
  }
  static ModelCall BindModelFn(std::shared_ptr<const Options> all) {
    return [all = std::move(all)](const Features& features, const Labels& labels, Mode mode,
                                  int64_t batch_size) -> absl::StatusOr<ModelSpec> {
      P params = all->params;
      Fill(*all, mode, batch_size, params);
      const TPUEstimatorSpec spec = all->model_fn(features, labels, mode, params);
      if (!spec.status().ok()) return spec.status();
      return spec.spec();
    };
  }

  const std::shared_ptr<const Options> options_;
  EstimatorCore core_;
};

}  // namespace estimator::tpu

#endif  // TPU_TPU_ESTIMATOR_H_
