#include "tpu/sharded_strategy.h"

#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/nn/replica_scope.h"
#include "estimator/runtime/cpu_backend.h"
#include "tpu/feeders.h"
#include "tpu/pjrt/pjrt_backend.h"
#include "tpu/shards_backend.h"
#include "tpu/stablehlo/dump_backend.h"

namespace estimator::tpu {
namespace {

const char* BatchSizeName(Mode mode) {
  return mode == Mode::kTrain  ? "train_batch_size"
         : mode == Mode::kEval ? "eval_batch_size"
                               : "predict_batch_size";
}

class ShardedStrategy : public Strategy {
 public:
  ShardedStrategy(ModelCall model_call, ShardedStrategyOptions options)
      : model_call_(std::move(model_call)), options_(std::move(options)) {
    const IterationsPerLoop& loop = options_.tpu_config.iterations_per_loop;
    if (loop.in_seconds()) tuner_.emplace(static_cast<double>(loop.value()));
  }

  std::string name() const override {
    if (!options_.pjrt_plugin.empty()) {
      return absl::StrCat(options_.tpu_config.replicas(), " replicas on ", options_.pjrt_plugin);
    }
    return absl::StrCat(options_.tpu_config.replicas(), " in-process shards");
  }
  bool on_replicas() const override { return true; }
  int num_replicas(Mode mode) const override {
    return RunsOnReplicas(mode) ? static_cast<int>(options_.tpu_config.replicas()) : 1;
  }
  int64_t iterations_per_loop() const override {
    return tuner_.has_value() ? tuner_->iterations()
                              : options_.tpu_config.iterations_per_loop.value();
  }
  void ObserveRun(int64_t num_steps, double seconds) override {
    if (tuner_.has_value()) tuner_->Observe(num_steps, seconds);
  }
  int64_t host_call_every_n_steps() const override {
    return options_.tpu_config.experimental_host_call_every_n_steps;
  }
  int64_t batch_size(Mode mode) const override { return options_.batch_sizes.of(mode); }
  bool broadcast(Mode mode) const override {
    return InputMode(mode) == InputPipelineConfig::BROADCAST;
  }

  absl::Span<const int64_t> batch_axis(Mode mode) const override {
    return mode == Mode::kPredict ? absl::Span<const int64_t>() : options_.batch_axis;
  }

  absl::Status Validate(Mode mode) const override {
    // Source: TF 2.15 generate_per_host_enqueue_ops_fn_for_host.
    if (mode == Mode::kPredict && !options_.batch_axis.empty()) {
      return absl::InvalidArgumentError(
          "For mode PREDICT, batch_axis is not supported yet: predict with an estimator without "
          "batch_axis, or with use_tpu = false, from batches on axis 0");
    }
    const int64_t batch = batch_size(mode);
    if (batch <= 0) {
      return absl::InvalidArgumentError(
          absl::StrCat(BatchSizeName(mode), " must be given to run on replicas"));
    }
    if (InputMode(mode) != InputPipelineConfig::BROADCAST && batch % num_replicas(mode) != 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          mode == Mode::kTrain  ? "train"
          : mode == Mode::kEval ? "eval"
                                : "predict",
          " batch size ", batch, " must be divisible by number of replicas ", num_replicas(mode),
          "; ",
          batch > num_replicas(mode) ? absl::StrCat(batch - batch % num_replicas(mode), " or ")
                                     : "",
          batch + num_replicas(mode) - batch % num_replicas(mode), " is"));
    }
    return absl::OkStatus();
  }

  std::unique_ptr<Backend> MakeBackend(Mode mode, VariableStore& store) const override {
    if (!RunsOnReplicas(mode)) return MakeSingleBackend(store);
    if (!options_.pjrt_plugin.empty()) {
      return WithDump(mode, MakeDeviceBackend(mode, num_replicas(mode), store));
    }
    return WithDump(mode, MakeShardsBackend(store, num_replicas(mode), options_.compile_options,
                                            SharedArenas()));
  }
  std::unique_ptr<Backend> MakeSingleBackend(VariableStore& store) const override {
    // On a device too: a metric's variables then need not move when the last, smaller batch comes.
    if (!options_.pjrt_plugin.empty() && options_.eval_on_tpu)
      return MakeDeviceBackend(Mode::kPredict, 1, store);
    return MakeCpuBackend(store, options_.compile_options, SharedArenas());
  }

  absl::StatusOr<std::unique_ptr<Feeder>> OpenInput(Mode mode,
                                                    const InputFn& input_fn) const override {
    const int64_t batch = batch_size(mode);
    const int replicas = num_replicas(mode);
    const std::vector<int64_t> axis(batch_axis(mode).begin(), batch_axis(mode).end());
    const auto dataset = [&](int64_t batch_size, int64_t invocation = 0,
                             int64_t num_invocations = 1) {
      return input_fn({.mode = mode,
                       .batch_size = batch_size,
                       .invocation = invocation,
                       .num_invocations = num_invocations});
    };
    switch (InputMode(mode)) {
      case InputPipelineConfig::PER_SHARD_V1: {
        std::vector<Dataset> datasets;
        for (int i = 0; i < replicas; ++i) {
          EST_ASSIGN_OR_RETURN(Dataset one, dataset(batch / replicas, i, replicas));
          datasets.push_back(std::move(one));
        }
        return MakePerShardFeeder(datasets, batch / replicas, axis);
      }
      case InputPipelineConfig::PER_HOST_V2: {
        EST_ASSIGN_OR_RETURN(const Dataset all, dataset(batch / replicas));
        return MakeConsecutiveFeeder(mode, all, replicas, batch / replicas, axis);
      }
      case InputPipelineConfig::BROADCAST: {
        EST_ASSIGN_OR_RETURN(const Dataset all, dataset(batch));
        return MakeBroadcastFeeder(mode, all, replicas, batch, axis);
      }
      case InputPipelineConfig::PER_HOST_V1:
      case InputPipelineConfig::SLICED:
        break;
    }
    EST_ASSIGN_OR_RETURN(const Dataset all, dataset(batch));
    return MakeSplitFeeder(mode, all, replicas, batch, axis);
  }

  absl::StatusOr<ModelSpec> CallModelFn(const Features& features, const Labels& labels, Mode mode,
                                        int64_t batch_size) const override {
    EST_ASSIGN_OR_RETURN(ModelSpec spec, model_call_(features, labels, mode, batch_size));
    const int replicas = ReplicaScope::Current().num_shards;
    if (mode == Mode::kEval && replicas > 1 && !spec.eval_metric_ops.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the metric '", spec.eval_metric_ops.begin()->first,
          "' is one of eval_metric_ops, which see the rows of one replica only, but evaluation "
          "runs on ",
          replicas, "; set eval_on_tpu = false, or return eval_metrics"));
    }
    return spec;
  }

 private:
  // TPUConfig.dump_stablehlo: the backend also writes the steps that it compiles.
  std::unique_ptr<Backend> WithDump(Mode mode, std::unique_ptr<Backend> backend) const {
    const std::string& path = options_.tpu_config.dump_stablehlo;
    if (path.empty()) return backend;
    const bool trains = mode == Mode::kTrain;
    return stablehlo::MakeDumpBackend(
        std::move(backend),
        {.path = trains ? path
                        : stablehlo::PathWithSuffix(path, mode == Mode::kEval ? "eval" : "predict"),
         .iterations = trains ? iterations_per_loop() : 1,
         .compute_dtype = options_.compile_options.compute_dtype,
         // Training also compiles small steps of its own, for instance to find the first NaN.
         .only_with_updates = trains});
  }

  std::unique_ptr<Backend> MakeDeviceBackend(Mode mode, int replicas, VariableStore& store) const {
    // A loop given in seconds has no number of steps yet.
    constexpr int64_t kStepsOfTimedLoop = 32;
    const IterationsPerLoop& loop = options_.tpu_config.iterations_per_loop;
    const bool train = mode == Mode::kTrain;
    return pjrt::MakePjrtBackend(
        [this]() -> absl::StatusOr<std::shared_ptr<pjrt::Client>> {
          if (client_ == nullptr) {
            EST_ASSIGN_OR_RETURN(client_, pjrt::Client::Shared(options_.pjrt_plugin));
          }
          return client_;
        },
        store,
        {.num_replicas = replicas,
         .iterations = !train              ? 1
                       : loop.in_seconds() ? kStepsOfTimedLoop
                                           : loop.value(),
         .guard_loss = train,
         .compute_dtype = options_.compile_options.compute_dtype});
  }
  // The memory of training, evaluation and prediction.
  const std::shared_ptr<const Arenas>& SharedArenas() const {
    if (arenas_ == nullptr)
      arenas_ = std::make_shared<const Arenas>(static_cast<int>(options_.tpu_config.replicas()));
    return arenas_;
  }
  bool RunsOnReplicas(Mode mode) const { return mode != Mode::kEval || options_.eval_on_tpu; }
  InputPipelineConfig InputMode(Mode mode) const {
    const InputPipelineConfig training = options_.tpu_config.per_host_input_for_training;
    if (mode == Mode::kTrain) return training;
    if (!RunsOnReplicas(mode)) return InputPipelineConfig::PER_HOST_V1;
    if (options_.tpu_config.eval_training_input_configuration == InputPipelineConfig::SLICED)
      return InputPipelineConfig::SLICED;
    return training == InputPipelineConfig::PER_SHARD_V1 ? InputPipelineConfig::PER_HOST_V1
                                                         : training;
  }

  const ModelCall model_call_;
  const ShardedStrategyOptions options_;
  std::optional<IterationsTuner> tuner_;
  mutable std::shared_ptr<pjrt::Client> client_;  // of all modes; null until one compiles
  mutable std::shared_ptr<const Arenas> arenas_;  // null until the first backend is made
};

}  // namespace

std::unique_ptr<Strategy> MakeShardedStrategy(ModelCall model_call,
                                              ShardedStrategyOptions options) {
  return std::make_unique<ShardedStrategy>(std::move(model_call), std::move(options));
}

}  // namespace estimator::tpu
