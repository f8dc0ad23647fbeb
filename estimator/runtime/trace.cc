#include "estimator/runtime/trace.h"

#include <chrono>

namespace estimator {
namespace {

thread_local std::weak_ptr<Trace> thread_trace;

}  // namespace

void SetThreadTrace(const std::shared_ptr<Trace>& trace) { thread_trace = trace; }

std::shared_ptr<Trace> ThreadTrace() { return thread_trace.lock(); }

int64_t TraceClockMicros() {
  using std::chrono::duration_cast;
  return duration_cast<std::chrono::microseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace estimator
