#include "estimator/runtime/trace.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include "absl/strings/str_format.h"

namespace estimator {
namespace {

thread_local std::weak_ptr<Trace> thread_trace;

}  // namespace

void SetThreadTrace(const std::shared_ptr<Trace>& trace) { thread_trace = trace; }

std::shared_ptr<Trace> ThreadTrace() { return thread_trace.lock(); }

std::string OpTable(const Trace& trace, int64_t steps) {
  struct Row {
    int64_t time_us = 0;
    int64_t runs = 0;
  };
  using Key = std::pair<std::string, bool>;  // the op, and whether the kernel is of the reference
  std::map<Key, Row> by_op;
  int64_t total_us = 0;
  for (const TraceEvent& event : trace.events) {
    Row& row = by_op[{event.op, event.reference}];
    row.time_us += event.own_us();
    ++row.runs;
    total_us += event.own_us();
  }
  std::vector<std::pair<Key, Row>> rows(by_op.begin(), by_op.end());
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return a.second.time_us > b.second.time_us;
  });
  std::string table = "share  time a step  runs a step  kernel     op\n";
  // An empty trace must not divide by 0.
  const double all = static_cast<double>(std::max<int64_t>(total_us, 1));
  const double num_steps = static_cast<double>(std::max<int64_t>(steps, 1));
  for (const auto& [key, row] : rows) {
    absl::StrAppendFormat(&table, "%5.1f%%  %8.3f ms  %11.1f  %-9s  %s\n",
                          100 * static_cast<double>(row.time_us) / all,
                          static_cast<double>(row.time_us) / 1000 / num_steps,
                          static_cast<double>(row.runs) / num_steps,
                          key.second ? "reference" : "fast", key.first);
  }
  return table;
}

int64_t TraceClockMicros() {
  using std::chrono::duration_cast;
  return duration_cast<std::chrono::microseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace estimator
