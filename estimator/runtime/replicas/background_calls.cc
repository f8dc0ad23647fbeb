#include "estimator/runtime/replicas/background_calls.h"

#include <omp.h>

#include <utility>

namespace estimator {

BackgroundCalls::~BackgroundCalls() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void BackgroundCalls::Start(std::function<absl::Status()> call) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    calls_.push_back(std::move(call));
  }
  changed_.notify_all();
  if (!thread_.joinable()) thread_ = std::thread([this] { Run(); });
}

absl::Status BackgroundCalls::Wait() {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return calls_.empty(); });
  return std::exchange(status_, absl::OkStatus());
}

void BackgroundCalls::Run() {
  omp_set_num_threads(1);
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stop_ || !calls_.empty(); });
    if (stop_) return;
    if (status_.ok()) {
      const std::function<absl::Status()> call = calls_.front();
      lock.unlock();
      absl::Status status = call();
      lock.lock();
      status_ = std::move(status);
    }
    // Only now: Wait must not return while the call is running.
    calls_.pop_front();
    if (calls_.empty()) changed_.notify_all();
  }
}

}  // namespace estimator
