#include "estimator/data/transforms/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "estimator/base/status.h"
#include "estimator/data/pipeline/dataset_options.h"

namespace estimator {

absl::StatusOr<int> NumThreads(absl::string_view transform, int num_parallel_calls) {
  if (num_parallel_calls == kAutotune) {
    return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  }
  if (num_parallel_calls > 0) return num_parallel_calls;
  return InvalidArgument(transform, ": num_parallel_calls is ", num_parallel_calls,
                         "; it must be at least 1, or kAutotune for the number of cores");
}

ThreadPool::ThreadPool(int num_threads) {
  threads_.reserve(static_cast<size_t>(num_threads));
  for (int i = 0; i < num_threads; ++i) threads_.emplace_back([this] { Work(); });
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ThreadPool::Submit(std::function<void()> task) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  wake_.notify_one();
}

void ThreadPool::Work() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return stopping_ || !tasks_.empty(); });
    if (stopping_) return;
    const std::function<void()> task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    task();
    lock.lock();
  }
}

void ThreadPool::ParallelFor(size_t n, const std::function<void(size_t)>& fn) {
  std::atomic<size_t> next{0};
  const auto run = [&next, &fn, n] {
    for (size_t i = next++; i < n; i = next++) fn(i);
  };
  // Each thread takes the next index when it is free, so a slow call does not hold up the others.
  const size_t helpers = n == 0 ? 0 : std::min(threads_.size(), n - 1);
  std::mutex mutex;
  std::condition_variable all_done;
  size_t running = helpers;
  for (size_t i = 0; i < helpers; ++i) {
    Submit([&] {
      run();
      const std::lock_guard<std::mutex> lock(mutex);
      if (--running == 0) all_done.notify_one();
    });
  }
  run();
  std::unique_lock<std::mutex> lock(mutex);
  all_done.wait(lock, [&running] { return running == 0; });
}

}  // namespace estimator
