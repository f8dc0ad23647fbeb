// Trace: how long each instruction of a step took. Off, it costs a look at a thread-local pointer
// per segment.
#ifndef ESTIMATOR_RUNTIME_TRACE_H_
#define ESTIMATOR_RUNTIME_TRACE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace estimator {

// One instruction of one replica.
struct TraceEvent {
  std::string name;  // the node's; of fused nodes, the last one's
  std::string op;
  int replica = 0;
  int64_t start_us = 0;  // of a steady clock, from any origin
  int64_t duration_us = 0;
};

struct Trace {
  std::vector<TraceEvent> events;  // in the order in which they ran
};

// From now on, programs that run on this thread append to `trace`, as long as somebody else holds
// it; null, or the last holder letting go, ends that.
void SetThreadTrace(const std::shared_ptr<Trace>& trace);
// What programs on this thread append to; null: nothing.
std::shared_ptr<Trace> ThreadTrace();

// The steady clock that events are timed with.
int64_t TraceClockMicros();

}  // namespace estimator

#endif  // ESTIMATOR_RUNTIME_TRACE_H_
