// The flags of every benchmark of a training, besides those of run_flags.h.
#ifndef MODELS_COMMON_BENCHMARK_FLAGS_H_
#define MODELS_COMMON_BENCHMARK_FLAGS_H_

#include <gflags/gflags.h>

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/base/status.h"
#include "models/common/benchmark_json.h"
#include "models/common/run_flags.h"
#include "tpu/tpu_config.h"

DECLARE_int64(steps);
DECLARE_double(seconds);
DECLARE_string(compute_dtype);

namespace estimator {

// Checks the program's requirements, the flags of this file and those of run_flags.h.
absl::Status RequireBenchmarkFlags(std::vector<FlagRequirement> requirements);

// --warmup_steps, --steps and --seconds.
BenchmarkOptions BenchmarkOptionsFromFlags();
// --compute_dtype, which RunConfigFromFlags has too. REQUIRES: RequireBenchmarkFlags returned OK.
DType ComputeDTypeFromFlags();
// The dtype that a model casts its input to, by --bfloat16_activations. The default is float32:
// then only matrix products are in bfloat16, and convolutions and attention keep their fused f32
// kernels. REQUIRES: RequireBenchmarkFlags returned OK.
DType ActivationDTypeFromFlags();
// The flags' RunConfig without checkpoints: a save would count as training.
tpu::RunConfig BenchmarkRunConfig();

// Trains one step, and then until BenchmarkHook has measured its steps. So the first step is a
// single one on replicas too. Returns BenchmarkHook's fields.
//   estimator: without checkpoints, so that the second call continues with the first one's
//   variables.
//   input: without an end.
//   unit: as of BenchmarkHook::Fields.
template <typename Params>
absl::StatusOr<ReportFields> MeasureTraining(EstimatorOf<Params>& estimator, const InputFn& input,
                                             const std::string& unit) {
  const auto hook = std::make_shared<BenchmarkHook>(BenchmarkOptionsFromFlags());
  EST_RETURN_IF_ERROR(estimator.Train(input, Steps(1), {.hooks = {hook}}));
  EST_RETURN_IF_ERROR(estimator.Train(input, {}, {.hooks = {hook}}));
  return hook->Fields(unit);
}

}  // namespace estimator

#endif  // MODELS_COMMON_BENCHMARK_FLAGS_H_
