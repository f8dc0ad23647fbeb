// TPUEstimator: one model_fn and one input_fn, run locally (use_tpu = false) or on replicas.
//
//   struct MnistParams : tpu::Params { double learning_rate = 0.05; };
//   tpu::TPUEstimator<MnistParams> estimator({.model_fn = ModelFn,
//                                             .config = config,
//                                             .use_tpu = FLAGS_use_tpu,
//                                             .train_batch_size = 1024,
//                                             .eval_batch_size = 1000});
//   absl::Status trained = estimator.Train(TrainInput, MaxSteps(1000));
//
// EstimatorOf and EstimatorBase (estimator/training/estimator_base.h) declare the calls.
#ifndef TPU_TPU_ESTIMATOR_H_
#define TPU_TPU_ESTIMATOR_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "estimator/estimator.h"
#include "tpu/bfloat16_scope.h"
#include "tpu/cluster/detect_accelerator.h"
#include "tpu/cross_shard_optimizer.h"
#include "tpu/replicas_strategy.h"
#include "tpu/tpu_config.h"
#include "tpu/tpu_estimator_spec.h"

namespace estimator::tpu {

// The replicas that a call is for; the framework fills it in. invocation, num_invocations and
// replicas_fed are TensorFlow's current_input_fn_deployment().
// A host is a process of the run (RunConfig.process_group). In training each host reads an input of
// its own, with the batch of its replicas. In evaluation and prediction every host reads the whole
// input, and its input_fn sees one host.
struct TPUContext {
  int num_replicas = 1;
  int num_hosts = 1;
  int num_of_replicas_per_host = 1;
  int current_host = 0;         // input_fn only
  int64_t invocation = 0;       // input_fn only: the number of this call, below num_invocations
  int64_t num_invocations = 1;  // input_fn only
  int64_t replicas_fed = 1;     // input_fn only: the replicas that get this call's batches
  std::string job = "";         // TPUConfig::tpu_job_name, for the names of devices

  // The device of the host that feeds replica `replica`, and the replica's number on that host:
  // {"/job:worker/task:0/device:CPU:0", 3}.
  // Source: TF 2.15 TPUContext.device_for_replica.
  struct ReplicaDevice {
    std::string host_device;
    int ordinal = 0;
  };
  ReplicaDevice device_for_replica(int replica) const;
  // The device of a host: "/task:0/device:CPU:0", after the job if there is one.
  std::string tpu_host_placement_function(int host) const;
};

// The base of a model's params struct. The framework fills these fields in before every call of
// model_fn and input_fn; the user must not set them.
struct Params {
  int64_t batch_size = 0;  // rows of this call's batch; 0 if no batch size was given
  bool use_tpu = false;
  TPUContext context;
};

// The part of Options that does not depend on Params.
struct TPUEstimatorSettings {
  RunConfig config = {};  // with use_tpu: completed by ResolveMasters
  bool use_tpu = true;
  BatchSizes batch_sizes = {};
  std::vector<int64_t> batch_axis = {};
  bool eval_on_tpu = true;
  CompileOptions compile_options = {};
  absl::Status masters = {};  // of ResolveMasters
};

// Completes the config: with use_tpu as ResolveMasters does; without it there is one replica.
void CompleteConfig(TPUEstimatorSettings& settings);
// Errors: INVALID_ARGUMENT listing everything that is missing or out of range; errors of
// ResolveMasters. Logs a warning for each field of the config that has no effect because of
// use_tpu = false, such as `master`, and is set.
absl::Status ValidateSettings(const TPUEstimatorSettings& settings, bool has_model_fn,
                              const Params& params);
std::unique_ptr<Strategy> MakeStrategy(ModelCall model_call, const TPUEstimatorSettings& settings);
// Sets what the framework fills in for a call in `mode` with batches of `batch_size` rows.
void FillParams(const TPUEstimatorSettings& settings, Mode mode, int64_t batch_size,
                Params& params);
// The same for a call of input_fn.
void FillParams(const TPUEstimatorSettings& settings, const InputFn::Call& call, Params& params);
// How model_fn is called for an export: batch rules do not apply, and params.batch_size is 0.
ExportPass MakeExportPass(ModelCall model_call, bool use_tpu, const BatchSizes& batch_sizes);

// P: the user's own struct, which inherits Params.
// Source: TF 2.15 tf.compat.v1.estimator.tpu.TPUEstimator.
template <typename P = Params>
class TPUEstimator : public EstimatorOf<P> {
 public:
  static_assert(std::is_base_of_v<Params, P>, "the params struct must inherit tpu::Params");
  using ModelFn = ModelFnOf<TPUEstimatorSpec, P>;  // the parameters of a model_fn

  struct Options {
    ModelFn model_fn = nullptr;
    RunConfig config = {};
    P params = {};
    bool use_tpu = true;
    std::optional<int64_t> train_batch_size = std::nullopt;
    std::optional<int64_t> eval_batch_size = std::nullopt;
    std::optional<int64_t> predict_batch_size = std::nullopt;
    // The batch axis of each array of input_fn, features in the order of their names, then labels:
    // {3, 0} for images [H, W, C, N] with labels [N]. Empty: axis 0 of all arrays. For training and
    // evaluation; replicas refuse to predict with it, as TensorFlow's do. With use_tpu = false
    // nothing is split, and the axis only tells how many examples a batch has.
    std::vector<int64_t> batch_axis = {};
    bool eval_on_tpu = true;
    // First values of variables while model_dir has no checkpoint: a path, or WarmStartSettings.
    WarmStartFrom warm_start_from = {};
    // Which PREDICT graphs ExportSavedModel writes: for the CPU (tag `serve`), with
    // params.use_tpu false; for a TPU (tags `serve`, `tpu`), with params.use_tpu true. The graph
    // for a TPU is the one that model_fn builds, as with TensorFlow's
    // export_saved_model_api_version V2. V1, which wraps the whole model for a TPU, does not exist
    // here, so export_to_tpu is off by default.
    bool export_to_cpu = true;
    bool export_to_tpu = false;
    CompileOptions compile_options = {};
  };

  explicit TPUEstimator(Options options)
      : TPUEstimator(Shared(), std::make_shared<const Options>(std::move(options))) {}

  // The options' config, with the model_dir that is used. `master` and `tpu_config` are those of
  // the
  // run: with use_tpu = false, tpu_config.replicas() is 1.
  const RunConfig& config() const { return config_; }

 private:
  using All = std::shared_ptr<const Options>;
  struct Shared {};  // keeps TPUEstimator({}) from being ambiguous

  TPUEstimator(Shared, const All& all) : TPUEstimator(all, Settings(*all)) {}
  TPUEstimator(const All& all, const TPUEstimatorSettings& settings)
      : EstimatorOf<P>(
            {.make_strategy = [all, settings](const std::shared_ptr<ProcessGroup>& group)
                 -> std::shared_ptr<Strategy> {
               TPUEstimatorSettings here = settings;
               here.config.process_group = group;
               const auto fill = [here](Mode mode, int64_t batch_size, P& params) {
                 FillParams(here, mode, batch_size, params);
               };
               return MakeStrategy(CallModelFn(all, fill), here);
             },
             .config = all->config,
             .warm_start_from = all->warm_start_from,
             .status = ValidateSettings(settings, static_cast<bool>(all->model_fn), all->params),
             .export_passes = ExportPasses(all, settings),
             .serving_pass = Pass(all, settings, /*use_tpu=*/false)},
            std::shared_ptr<const P>(all, &all->params),
            [settings](const InputFn::Call& call, P& params) {
              FillParams(settings, call, params);
            }),
        config_(settings.config) {
    config_.model_dir = EstimatorBase::config().model_dir;
  }

  static TPUEstimatorSettings Settings(const Options& all) {
    TPUEstimatorSettings settings = {
        .config = all.config,
        // A check is of the program as it would run on a TPU.
        .use_tpu = all.use_tpu || !all.config.tpu_config.check.empty(),
        .batch_sizes = {.train = all.train_batch_size.value_or(0),
                        .eval = all.eval_batch_size.value_or(0),
                        .predict = all.predict_batch_size.value_or(0)},
        .batch_axis = all.batch_axis,
        .eval_on_tpu = all.eval_on_tpu,
        .compile_options = WithRunConfig(all.compile_options, all.config)};
    CompleteConfig(settings);
    return settings;
  }
  // Calls model_fn with a copy of the params, which `fill` completes.
  template <typename Fill>
  static ModelCall CallModelFn(const All& all, Fill fill) {
    return [all, fill](const Features& features, const Labels& labels, Mode mode,
                       int64_t batch_size) -> absl::StatusOr<ModelSpec> {
      P params = all->params;
      fill(mode, batch_size, params);
      return WithAverages(all->model_fn(features, labels, mode, params).spec(),
                          all->config.average_weights);
    };
  }
  static ExportPass Pass(const All& all, const TPUEstimatorSettings& settings, bool use_tpu) {
    const auto fill = [use_tpu](Mode, int64_t, P& params) { params.use_tpu = use_tpu; };
    return MakeExportPass(CallModelFn(all, fill), use_tpu, settings.batch_sizes);
  }
  static std::vector<ExportPass> ExportPasses(const All& all,
                                              const TPUEstimatorSettings& settings) {
    std::vector<ExportPass> passes;
    if (all->export_to_cpu) passes.push_back(Pass(all, settings, /*use_tpu=*/false));
    if (all->export_to_tpu) passes.push_back(Pass(all, settings, /*use_tpu=*/true));
    return passes;
  }

  RunConfig config_;
};

}  // namespace estimator::tpu

#endif  // TPU_TPU_ESTIMATOR_H_
