// A thread pool for the user functions of Map. The pipeline has threads of its own, because kernels
// use OpenMP's.
#ifndef ESTIMATOR_DATA_TRANSFORMS_THREAD_POOL_H_
#define ESTIMATOR_DATA_TRANSFORMS_THREAD_POOL_H_

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace estimator {

// The number of threads for the option num_parallel_calls: itself, or the number of cores for
// kAutotune.
//   transform: its name, for messages.
// Errors: INVALID_ARGUMENT if the option is another number below 1.
absl::StatusOr<int> NumThreads(absl::string_view transform, int num_parallel_calls);

// Thread-safe.
class ThreadPool {
 public:
  explicit ThreadPool(int num_threads);
  // Waits for the running tasks. Tasks that have not started are dropped.
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  void Submit(std::function<void()> task);
  // Calls fn(0) ... fn(n - 1) in parallel and returns when all are done. The caller's thread calls
  // fn too.
  void ParallelFor(size_t n, const std::function<void(size_t)>& fn);

 private:
  void Work();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> tasks_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace estimator

#endif  // ESTIMATOR_DATA_TRANSFORMS_THREAD_POOL_H_
