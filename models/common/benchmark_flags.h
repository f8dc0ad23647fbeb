// The flags of every benchmark of a training, besides those of run_flags.h.
#ifndef MODELS_COMMON_BENCHMARK_FLAGS_H_
#define MODELS_COMMON_BENCHMARK_FLAGS_H_

#include <gflags/gflags.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/base/status.h"
#include "models/common/benchmark_json.h"
#include "models/common/run_flags.h"
#include "tpu/tpu_estimator.h"

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

// A training on synthetic input.
template <typename Params>
struct TrainingBenchmark {
  std::string program;  // the name of the program
  std::string unit;     // as of BenchmarkHook::Fields
  typename tpu::TPUEstimator<Params>::ModelFn model_fn;
  Params params = {};
  int64_t batch_size = 0;                              // of a step, over all replicas
  std::function<Dataset(const Params& params)> input;  // without an end
  ReportFields run = {};  // what is measured, besides the batch size and the flags of this file
};

// Measures the training as MeasureTraining does, and prints the line of JSON.
template <typename Params>
absl::Status RunTrainingBenchmark(const TrainingBenchmark<Params>& benchmark) {
  tpu::TPUEstimator<Params> estimator({.model_fn = benchmark.model_fn,
                                       .config = BenchmarkRunConfig(),
                                       .params = benchmark.params,
                                       .use_tpu = FLAGS_use_tpu,
                                       .train_batch_size = benchmark.batch_size});
  EST_ASSIGN_OR_RETURN(
      const ReportFields measured,
      MeasureTraining(estimator, estimator.Input(benchmark.input), benchmark.unit));
  ReportFields run = benchmark.run;
  run.insert(run.end(), {{"batch_size", benchmark.batch_size},
                         {"compute_dtype", FLAGS_compute_dtype},
                         {"use_tpu", static_cast<int64_t>(FLAGS_use_tpu)},
                         {"input", "synthetic"}});
  PrintBenchmark(benchmark.program, run, measured);
  return absl::OkStatus();
}

struct MeasuredPredictions {
  int64_t batches = 0;
  double seconds = 0;
  double cpu_seconds = 0;  // of all threads together
};
// Reads the batches of the warm-up, then those that are measured.
//   predictions: without an end.
// Errors: those of Predict; INTERNAL if there are too few.
absl::StatusOr<MeasuredPredictions> MeasurePredictions(Predictions& predictions,
                                                       int64_t batch_size);
// Reads `count` predictions. Errors: as MeasurePredictions.
absl::Status ReadRows(Predictions& predictions, int64_t count);

// One batch of random images [batch_size, size, size, 3] and labels i32, again and again.
//   dtype: u8, with values of 0 to 255, or f32, with values in [0, 1).
Dataset SyntheticImages(DType dtype, int64_t batch_size, int64_t size, int64_t num_classes);

// The spec of a training by Momentum with momentum 0.9.
tpu::TPUEstimatorSpec TrainByMomentum(const Tensor& loss, double learning_rate, bool use_tpu);

}  // namespace estimator

#endif  // MODELS_COMMON_BENCHMARK_FLAGS_H_
