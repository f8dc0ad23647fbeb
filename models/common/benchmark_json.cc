#include "models/common/benchmark_json.h"

#include <omp.h>

#include <iostream>
#include <limits>

#include "estimator/runtime/backend.h"
#include "models/common/graph_flops.h"

namespace estimator {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
constexpr double kMib = 1024.0 * 1024.0;

}  // namespace

absl::Status BenchmarkHook::AfterCreateSession(Session& session) {
  flops_ = ProductFlops(session.graph());
  steps_done_ = 0;
  begin_.reset();
  seconds_ = 0;
  measured_steps_ = 0;
  measured_examples_ = 0;
  return absl::OkStatus();
}

absl::Status BenchmarkHook::AfterRun(RunContext& context, const RunValues& values) {
  if (!first_step_seconds_) first_step_seconds_ = since_start_();
  const double now = clock_();
  if (const ExecutableInfo* info = context.session().program_info()) {
    if (steps_done_ == 0) flops_ *= info->num_replicas;  // the graph is that of one replica
    planned_bytes_ = static_cast<double>(info->planned_peak_bytes * info->num_replicas +
                                         info->planned_shared_bytes + info->planned_derived_bytes);
  }
  steps_done_ += values.num_steps;
  if (begin_) {
    seconds_ = now - *begin_;
    measured_steps_ += values.num_steps;
    measured_examples_ += values.num_steps * context.session().examples_per_step();
    if (measured_steps_ >= options_.steps || (options_.seconds > 0 && seconds_ >= options_.seconds))
      context.RequestStop();
  } else if (steps_done_ >= options_.warmup_steps) {
    begin_ = now;
  }
  return absl::OkStatus();
}

ReportFields BenchmarkHook::Fields(const std::string& unit) const {
  const auto per_second = [&](double amount) {
    return seconds_ > 0 ? amount / seconds_ : kUnknown;
  };
  return {{unit + "_per_second", per_second(static_cast<double>(measured_examples_))},
          {"measured_steps", measured_steps_},
          {"first_step_seconds", first_step_seconds_.value_or(kUnknown)},
          {"planned_mib", planned_bytes_ / kMib},
          {"peak_rss_mib", PeakRssMib()},
          {"gflops", per_second(1e-9 * flops_ * static_cast<double>(measured_steps_))},
          {"threads", static_cast<int64_t>(omp_get_max_threads())}};
}

void PrintBenchmark(const std::string& name, const ReportFields& run,
                    const ReportFields& measured) {
  ReportFields fields = {{"program", name}};
  fields.insert(fields.end(), run.begin(), run.end());
  fields.insert(fields.end(), measured.begin(), measured.end());
  std::cout << ToJsonLine(fields) << std::endl;
}

}  // namespace estimator
