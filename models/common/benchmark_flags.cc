#include "models/common/benchmark_flags.h"

#include <cmath>
#include <ctime>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"

DEFINE_int64(steps, 100, "steps that are measured");
DEFINE_double(seconds, 0, "stop after so many measured seconds, even before --steps; 0: no limit");
DEFINE_int64(warmup_steps, 5, "steps before those that are measured; on replicas at least one run");
DEFINE_bool(bfloat16_activations, false,
            "with --compute_dtype=bfloat16: also activations and convolutions in bfloat16");

namespace estimator {

absl::Status RequireBenchmarkFlags(std::vector<FlagRequirement> requirements) {
  requirements.push_back({"steps", FLAGS_steps > 0, "positive"});
  requirements.push_back({"seconds", FLAGS_seconds >= 0 && std::isfinite(FLAGS_seconds),
                          "a number of seconds, or 0 for no limit"});
  requirements.push_back({"warmup_steps", FLAGS_warmup_steps > 0, "positive"});
  requirements.push_back({"bfloat16_activations",
                          !FLAGS_bfloat16_activations || FLAGS_compute_dtype == "bfloat16", "",
                          "needs --compute_dtype=bfloat16"});
  return RequireFlags(requirements);
}

BenchmarkOptions BenchmarkOptionsFromFlags() {
  return {.warmup_steps = FLAGS_warmup_steps, .steps = FLAGS_steps, .seconds = FLAGS_seconds};
}

DType ComputeDTypeFromFlags() {
  return FLAGS_compute_dtype == "bfloat16" ? DType::kBfloat16 : DType::kFloat32;
}

DType ActivationDTypeFromFlags() {
  return FLAGS_bfloat16_activations ? DType::kBfloat16 : DType::kFloat32;
}

tpu::RunConfig BenchmarkRunConfig() {
  tpu::RunConfig config = RunConfigFromFlags();
  config.disable_checkpoints = true;
  return config;
}

absl::Status ReadRows(Predictions& predictions, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    EST_ASSIGN_OR_RETURN(const std::optional<Prediction> row, predictions.Next());
    if (!row.has_value()) return absl::InternalError(absl::StrCat("only ", i, " predictions"));
  }
  return absl::OkStatus();
}

absl::StatusOr<MeasuredPredictions> MeasurePredictions(Predictions& predictions,
                                                       int64_t batch_size) {
  const BenchmarkOptions options = BenchmarkOptionsFromFlags();
  EST_RETURN_IF_ERROR(ReadRows(predictions, options.warmup_steps * batch_size));
  const Clock clock = SteadyClock();
  const double begin = clock();
  const std::clock_t cpu_begin = std::clock();
  MeasuredPredictions measured;
  while (measured.batches < options.steps &&
         (options.seconds <= 0 || measured.seconds < options.seconds)) {
    EST_RETURN_IF_ERROR(ReadRows(predictions, batch_size));
    ++measured.batches;
    measured.seconds = clock() - begin;
  }
  measured.cpu_seconds = static_cast<double>(std::clock() - cpu_begin) / CLOCKS_PER_SEC;
  return measured;
}

Dataset SyntheticImages(DType dtype, int64_t batch_size, int64_t size, int64_t num_classes) {
  Array images(dtype, {batch_size, size, size, 3});
  uint64_t state = 1;
  for (int64_t i = 0; i < images.num_elements(); ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    if (dtype == DType::kUint8)
      images.data<uint8_t>()[i] = static_cast<uint8_t>(state >> 56);
    else
      images.data<float>()[i] = static_cast<float>(state >> 40) * 0x1p-24f;
  }
  Array labels(DType::kInt32, {batch_size});
  for (int64_t i = 0; i < batch_size; ++i)
    labels.values<int32_t>()[i] = static_cast<int32_t>(i * 7919 % num_classes);
  return Dataset::FromTensors({.features = {{"image", std::move(images)}}, .labels = labels})
      .Repeat();
}

tpu::TPUEstimatorSpec TrainByMomentum(const Tensor& loss, double learning_rate, bool use_tpu) {
  std::shared_ptr<train::Optimizer> optimizer =
      std::make_shared<train::Momentum>(learning_rate, 0.9);
  if (use_tpu) optimizer = tpu::CrossShardOptimizer(optimizer);
  return tpu::TPUEstimatorSpec::Train(loss, optimizer->Minimize(loss));
}

}  // namespace estimator
