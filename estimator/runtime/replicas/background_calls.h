// BackgroundCalls: calls that a thread makes in order, beside the thread that asks for them.
#ifndef ESTIMATOR_RUNTIME_REPLICAS_BACKGROUND_CALLS_H_
#define ESTIMATOR_RUNTIME_REPLICAS_BACKGROUND_CALLS_H_

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "absl/status/status.h"

namespace estimator {

// Used by one thread. The calls have one OpenMP thread: the others belong to the step.
class BackgroundCalls {
 public:
  BackgroundCalls() = default;
  // Waits for the call that is running; those after it are not made.
  ~BackgroundCalls();
  BackgroundCalls(const BackgroundCalls&) = delete;
  BackgroundCalls& operator=(const BackgroundCalls&) = delete;

  // Makes the call after those that were started before it. The first one starts the thread.
  void Start(std::function<absl::Status()> call);
  // Waits until all calls have been made, and returns the first error since the last Wait. After
  // an error, the calls that were started before Wait are not made.
  absl::Status Wait();

 private:
  void Run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<absl::Status()>> calls_;  // the first one is running
  absl::Status status_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace estimator

#endif  // ESTIMATOR_RUNTIME_REPLICAS_BACKGROUND_CALLS_H_
