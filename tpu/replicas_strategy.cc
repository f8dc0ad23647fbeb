#include "tpu/replicas_strategy.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/nn/replica_scope.h"
#include "estimator/runtime/cpu_backend.h"
#include "tpu/pjrt/pjrt_backend.h"
#include "tpu/stablehlo/dump_backend.h"

namespace estimator::tpu {
namespace {

class ReplicasStrategy : public Strategy {
 public:
  ReplicasStrategy(ModelCall model_call, ReplicasStrategyOptions options)
      : model_call_(std::move(model_call)), options_(std::move(options)) {
    const IterationsPerLoop& loop = options_.tpu_config.iterations_per_loop;
    if (loop.in_seconds()) tuner_.emplace(static_cast<double>(loop.value()));
  }

  bool on_replicas() const override { return true; }
  int num_replicas(Mode mode) const override {
    const int64_t accumulated = mode == Mode::kTrain ? options_.accumulate_steps : 1;
    return shards(mode) * static_cast<int>(accumulated);
  }
  std::shared_ptr<ProcessGroup> process_group(Mode mode) const override {
    return RunsOnReplicas(mode) ? options_.process_group : nullptr;
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

  std::vector<int64_t> batch_axis(Mode mode) const override {
    return mode == Mode::kPredict ? std::vector<int64_t>() : options_.batch_axis;
  }

  absl::Status Validate(Mode mode) const override {
    // Source: TF 2.15 generate_per_host_enqueue_ops_fn_for_host.
    if (mode == Mode::kPredict && !options_.batch_axis.empty()) {
      return InvalidArgument(
          "For mode PREDICT, batch_axis is not supported yet: predict with an estimator without "
          "batch_axis, or with use_tpu = false, from batches on axis 0");
    }
    const int64_t batch = batch_size(mode);
    if (batch <= 0) {
      return InvalidArgument(ModeName(mode), "_batch_size must be given to run on replicas");
    }
    if (num_hosts() > 1 && !options_.pjrt_plugin.empty()) {
      return Unimplemented("several processes train on CPUs only, and ", options_.pjrt_plugin,
                           " runs a step on its devices: start one process");
    }
    if (shards(mode) % hosts_of(mode) != 0) {
      return InvalidArgument("number of replicas (num_shards) ", shards(mode),
                             " must be divisible by number of processes ", num_hosts());
    }
    if (mode == Mode::kTrain && options_.accumulate_steps > 1 && !options_.pjrt_plugin.empty()) {
      return Unimplemented(
          "accumulate_steps is for replicas in this process, and ", options_.pjrt_plugin,
          " runs a step on its devices: use more devices, or a smaller batch and learning rate");
    }
    if (mode == Mode::kTrain && options_.accumulate_steps > 1 && broadcast(mode)) {
      return Unimplemented(
          "accumulate_steps with an input of BROADCAST, where the results of all replicas are "
          "taken to be equal: use another per_host_input_for_training, or a larger batch");
    }
    // With BROADCAST every replica gets the whole batch, which need not divide.
    const int parts = shards(mode);
    if (InputMode(mode) != InputPipelineConfig::BROADCAST && batch % parts != 0) {
      return InvalidArgument(ModeName(mode), " batch size ", batch,
                             " must be divisible by number of replicas ", parts, "; ",
                             batch > parts ? absl::StrCat(batch - batch % parts, " or ") : "",
                             batch + parts - batch % parts, " is");
    }
    return absl::OkStatus();
  }

  std::unique_ptr<Backend> MakeBackend(Mode mode, VariableStore& store) const override {
    if (!RunsOnReplicas(mode)) return MakeSingleBackend(store);
    if (!options_.pjrt_plugin.empty()) {
      return WithDump(mode, MakeDeviceBackend(mode, num_replicas(mode), store));
    }
    return WithDump(mode, MakeCpuBackend(store, options_.compile_options, SharedArenas(),
                                         num_replicas(mode) / hosts_of(mode), process_group(mode),
                                         num_replicas(mode) / shards(mode)));
  }
  std::unique_ptr<Backend> MakeSingleBackend(VariableStore& store) const override {
    // On a device too: a metric's variables then need not move when the last, smaller batch comes.
    if (!options_.pjrt_plugin.empty() && options_.eval_on_tpu)
      return MakeDeviceBackend(Mode::kPredict, 1, store);
    return MakeCpuBackend(store, options_.compile_options, SharedArenas());
  }

  absl::StatusOr<std::unique_ptr<Feeder>> OpenInput(Mode mode,
                                                    const InputFn& input_fn) const override {
    const InputPipelineConfig input_mode = InputMode(mode);
    // In training this host reads the batch of its own replicas. Otherwise every host reads that of
    // all, so that the result does not depend on the number of hosts.
    const bool own_input = mode == Mode::kTrain && num_hosts() > 1;
    const int hosts = own_input ? num_hosts() : 1, host = own_input ? rank() : 0;
    const int replicas = shards(mode) / hosts;
    const bool per_replica = input_mode == InputPipelineConfig::PER_SHARD_V1;
    FeederOptions options = {.mode = mode,
                             .distribution = Distribution::kSplit,
                             .num_replicas = replicas,
                             .element_rows = batch_size(mode) / hosts,
                             .batch_axis = batch_axis(mode),
                             .accumulate_steps = options_.accumulate_steps};
    if (input_mode == InputPipelineConfig::BROADCAST) {
      options.distribution = Distribution::kWhole;
      options.element_rows = batch_size(mode);
    }
    if (!own_input && hosts_of(mode) > 1) {
      options.num_kept = replicas / hosts_of(mode);
      options.first_kept = rank() * options.num_kept;
    }
    if (per_replica || input_mode == InputPipelineConfig::PER_HOST_V2) {
      options.distribution = Distribution::kInTurn;
      // As in TensorFlow, params.batch_size is then that of one replica.
      options.element_rows /= replicas;
    }
    const int num_calls = per_replica ? replicas : 1;
    std::vector<Dataset> datasets;
    for (int i = 0; i < num_calls; ++i) {
      EST_ASSIGN_OR_RETURN(Dataset dataset, input_fn({.mode = mode,
                                                      .batch_size = options.element_rows,
                                                      .invocation = host * num_calls + i,
                                                      .num_invocations = hosts * num_calls,
                                                      .num_hosts = hosts,
                                                      .current_host = host}));
      datasets.push_back(std::move(dataset));
    }
    return Feeder::Open(datasets, std::move(options));
  }

  absl::StatusOr<ModelSpec> CallModelFn(const Features& features, const Labels& labels, Mode mode,
                                        int64_t batch_size) const override {
    EST_ASSIGN_OR_RETURN(ModelSpec spec, model_call_(features, labels, mode, batch_size));
    const int replicas = ReplicaScope::Current().num_replicas;
    // The replicas share the totals, and only the updates of replica 0 take effect.
    if (mode == Mode::kEval && replicas > 1 && !spec.eval_metric_ops.empty()) {
      return InvalidArgument(
          "the metric '", spec.eval_metric_ops.begin()->first,
          "' is one of eval_metric_ops, which see the rows of one replica only, but evaluation "
          "runs on ",
          replicas, "; set eval_on_tpu = false, or return eval_metrics");
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
        {.path = trains ? path : stablehlo::PathWithSuffix(path, std::string(ModeName(mode))),
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
    // Made late, because a strategy on a plugin needs no arenas.
    if (arenas_ == nullptr)
      arenas_ = std::make_shared<const Arenas>(
          static_cast<int>(options_.tpu_config.replicas() * options_.accumulate_steps));
    return arenas_;
  }
  int num_hosts() const {
    return options_.process_group == nullptr ? 1 : options_.process_group->size();
  }
  int rank() const {
    return options_.process_group == nullptr ? 0 : options_.process_group->rank();
  }
  int hosts_of(Mode mode) const { return RunsOnReplicas(mode) ? num_hosts() : 1; }
  // The parts of a batch.
  int shards(Mode mode) const {
    return RunsOnReplicas(mode) ? static_cast<int>(options_.tpu_config.replicas()) : 1;
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
  const ReplicasStrategyOptions options_;
  std::optional<IterationsTuner> tuner_;
  mutable std::shared_ptr<pjrt::Client> client_;  // of all modes; null until one compiles
  mutable std::shared_ptr<const Arenas> arenas_;  // null until the first backend is made
};

}  // namespace

std::unique_ptr<Strategy> MakeReplicasStrategy(ModelCall model_call,
                                               ReplicasStrategyOptions options) {
  return std::make_unique<ReplicasStrategy>(std::move(model_call), std::move(options));
}

}  // namespace estimator::tpu
