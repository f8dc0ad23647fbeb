#include "models/common/benchmark_flags.h"

#include <cmath>

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

}  // namespace estimator
