// Trace: the duration of each instruction of a step. When it is off, it costs one read of a
// thread-local pointer for each segment.
#ifndef ESTIMATOR_RUNTIME_TRACE_H_
#define ESTIMATOR_RUNTIME_TRACE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace estimator {

// One instruction of one replica.
struct TraceEvent {
  std::string name;  // the node's name; for a fused node, the name of its last node
  std::string op;
  int replica = 0;
  int64_t start_us = 0;  // of a steady clock with an arbitrary origin
  int64_t duration_us = 0;
  // The part of the duration that other events have: the ops of a loop's or a branch's bodies.
  int64_t inside_us = 0;
  // It ran the kernel of the reference tier, which uses one thread.
  bool reference = false;

  int64_t own_us() const { return duration_us - inside_us; }
};

struct Trace {
  // A loop may have any number of trips, so later events are left out. The time of those that are
  // inside another event is then its own.
  static constexpr size_t kMostEvents = 1'000'000;
  std::vector<TraceEvent> events;  // in the order in which they ended
  void Add(TraceEvent event) {
    if (events.size() < kMostEvents) events.push_back(std::move(event));
  }
};

// From now on, programs that run on this thread append to `trace`. This ends with a call with null,
// or when all other owners of `trace` have released it.
void SetThreadTrace(const std::shared_ptr<Trace>& trace);
// The trace that programs on this thread append to; null if there is none.
std::shared_ptr<Trace> ThreadTrace();

// One line for each op and kind of kernel, with the largest total first. The time of the ops inside
// a loop or a branch does not count as that of the loop.
//   share  time a step  runs a step  kernel     op
//    41.3%     2.104 ms         12.0  fast       _FusedElementwise
//   steps: the number of steps in the trace.
std::string OpTable(const Trace& trace, int64_t steps);

// The time of the steady clock for trace events, in microseconds.
int64_t TraceClockMicros();

}  // namespace estimator

#endif  // ESTIMATOR_RUNTIME_TRACE_H_
