#include "tpu/rules/config_rules.h"

#include <string>

#include "absl/strings/str_cat.h"

namespace estimator::tpu {
namespace {

constexpr Mode kModes[] = {Mode::kTrain, Mode::kEval, Mode::kPredict};

bool Broadcasts(const ReplicasStrategyOptions& options, Mode mode) {
  const TPUConfig& config = options.tpu_config;
  return config.per_host_input_for_training == InputPipelineConfig::BROADCAST &&
         (mode == Mode::kTrain ||
          config.eval_training_input_configuration != InputPipelineConfig::SLICED);
}

// TPUs have 1, 2 or 4 cores, or a multiple of 8.
bool IsSliceOfCores(int64_t cores) {
  return cores == 1 || cores == 2 || cores == 4 || (cores > 0 && cores % 8 == 0);
}

void CheckBatch(const ReplicasStrategyOptions& options, Mode mode, bool required, Report& report) {
  const int64_t replicas = options.tpu_config.replicas();
  const int64_t batch = options.batch_sizes.of(mode);
  const std::string name = absl::StrCat(ModeName(mode), "_batch_size");
  if (batch <= 0) {
    if (required) {
      report.Add("batch-size-missing", name, "it is not given",
                 absl::StrCat("set it in the options of TPUEstimator, for example to ",
                              128 * replicas, ", 128 rows for each of ", replicas, " cores"));
    }
    return;
  }
  const bool on_tpu = mode != Mode::kEval || options.eval_on_tpu;
  // A batch that the host evaluates, or that every core gets whole, is not divided.
  if (!on_tpu || Broadcasts(options, mode) || batch % replicas == 0) return;
  report.Add(
      "batch-not-divisible", name,
      absl::StrCat(batch, " rows leave ", batch % replicas, " when they are divided over ",
                   replicas, " cores"),
      absl::StrCat("use ", batch > replicas ? absl::StrCat(batch - batch % replicas, " or ") : "",
                   batch + replicas - batch % replicas,
                   "; the other rules are checked with the latter"));
}

}  // namespace

void CheckConfig(const ReplicasStrategyOptions& options, Mode mode, bool num_steps_given,
                 Report& report) {
  const TPUConfig& config = options.tpu_config;
  const auto is_checked = [&](Mode other) {
    // A program that trains may also use the other modes. It does so if it gave them a batch size.
    return other == mode || (mode == Mode::kTrain && options.batch_sizes.of(other) > 0);
  };
  for (const Mode other : kModes) {
    if (is_checked(other)) CheckBatch(options, other, other == mode, report);
  }
  if (!IsSliceOfCores(config.replicas())) {
    report.Add(
        "num-shards", "TPUConfig.num_shards",
        absl::StrCat("no TPU has ", config.replicas(), " cores"),
        "use 8, the cores of a v2-8 or v3-8 and the chips of a v5e-8 or v6e-8, or a multiple "
        "of 8");
  }
  if (is_checked(Mode::kEval) && !options.eval_on_tpu &&
      config.eval_training_input_configuration == InputPipelineConfig::SLICED) {
    report.Add("sliced-on-cpu", "TPUConfig.eval_training_input_configuration",
               "it is SLICED, and eval_on_tpu is false",
               "use PER_HOST_V1, or evaluate on the TPU with eval_on_tpu = true");
  }
  if (is_checked(Mode::kPredict) && !options.batch_axis.empty()) {
    report.Add("predict-batch-axis", "TPUEstimator.batch_axis",
               "it is set, and predict_batch_size is given",
               "predict with an estimator that has no batch_axis, from batches on axis 0");
  }
  if (mode == Mode::kTrain && !config.iterations_per_loop.in_seconds() &&
      config.iterations_per_loop.value() == TPUConfig().iterations_per_loop.value()) {
    report.Add("default-iterations-per-loop", "TPUConfig.iterations_per_loop",
               absl::StrCat("it is ", config.iterations_per_loop.value()),
               "use 100 or more, or the time between checkpoints or log lines, such as \"30s\"");
  }
  if (!num_steps_given) {
    report.Add("steps-not-given", mode == Mode::kTrain ? "Train" : "Evaluate",
               "the call has no number of steps",
               mode == Mode::kTrain ? "pass Steps(n) or MaxSteps(n)"
                                    : "keep it here; for TensorFlow, pass .steps");
  }
  if (mode == Mode::kTrain &&
      config.per_host_input_for_training == InputPipelineConfig::PER_SHARD_V1) {
    report.Add("per-shard-dataset", "TPUConfig.per_host_input_for_training",
               "it is PER_SHARD_V1, and input_fn returns a Dataset",
               "use PER_HOST_V2, which also gives each core batches of its own");
  }
}

BatchSizes DivisibleBatchSizes(const BatchSizes& batch_sizes, const TPUConfig& tpu_config) {
  const int64_t replicas = tpu_config.replicas();
  const auto round_up = [replicas](int64_t batch) {
    // Rounded up, because a batch of fewer rows than cores would otherwise become 0.
    return replicas <= 0 ? batch : (batch + replicas - 1) / replicas * replicas;
  };
  if (tpu_config.per_host_input_for_training == InputPipelineConfig::BROADCAST) return batch_sizes;
  return {.train = round_up(batch_sizes.train),
          .eval = round_up(batch_sizes.eval),
          .predict = round_up(batch_sizes.predict)};
}

}  // namespace estimator::tpu
