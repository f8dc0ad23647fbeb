// BenchmarkHook: measures a training and describes it in one line of JSON. The programs
// models/.../*_benchmark.cc use it.
#ifndef MODELS_COMMON_BENCHMARK_JSON_H_
#define MODELS_COMMON_BENCHMARK_JSON_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "estimator/training/report.h"

namespace estimator {

// What is measured of one call of Train.
struct BenchmarkOptions {
  // The steps that are not measured, at the beginning. On replicas, whole runs of
  // iterations_per_loop steps are left out, at least one.
  int64_t warmup_steps = 5;
  int64_t steps = 100;  // that are measured
  // If positive, the training stops when so many seconds are measured, even before `steps`.
  double seconds = 0;
};

// Pass it to Train as a hook. If it is passed to several calls of Train, the speed is that of the
// last one. Train one step first, and then call Train again for the speed: then the first step is a
// single one on replicas too.
class BenchmarkHook : public SessionRunHook {
 public:
  // The clocks are parameters for tests.
  explicit BenchmarkHook(const BenchmarkOptions& options, Clock clock = SteadyClock(),
                         Clock since_start = SecondsSinceProcessStart)
      : options_(options), clock_(std::move(clock)), since_start_(std::move(since_start)) {}

  // Returns the fields of the JSON, of the step that ran last. Numbers that are not known are NaN.
  //   unit: "images" gives images_per_second.
  //   UNIT_per_second     of all replicas, without the steps of the warm-up
  //   measured_steps      the steps in that number
  //   first_step_seconds  from the start of the process to the end of the first run
  //   planned_mib         the planned memory of a step, over all replicas
  //   peak_rss_mib        the peak resident memory of the process
  //   gflops              10^9 operations per second of convolutions and matrix products
  //                       (ProductFlops)
  //   threads             of OpenMP
  ReportFields Fields(const std::string& unit) const;

  absl::Status AfterCreateSession(Session& session) override;
  absl::Status AfterRun(RunContext& context, const RunValues& values) override;

 private:
  const BenchmarkOptions options_;
  const Clock clock_;
  const Clock since_start_;
  std::optional<double> first_step_seconds_;
  double flops_ = 0;  // of a step, over all replicas
  double planned_bytes_ = 0;
  int64_t steps_done_ = 0;       // in this call of Train
  std::optional<double> begin_;  // of the measured steps
  double seconds_ = 0;           // that they took
  int64_t measured_steps_ = 0;
  int64_t measured_examples_ = 0;
};

// Writes one line of JSON to stdout.
//   name: of the program.
//   run: what was measured, such as the batch size.
//   measured: the results.
void PrintBenchmark(const std::string& name, const ReportFields& run, const ReportFields& measured);

}  // namespace estimator

#endif  // MODELS_COMMON_BENCHMARK_JSON_H_
