#include "estimator/data/pipeline/read_gate.h"

#include "glog/logging.h"

namespace estimator {

bool ReadGate::Enter() {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return state_ != State::kPaused; });
  if (state_ == State::kClosed) return false;
  ++num_inside_;
  return true;
}

void ReadGate::Leave() {
  const std::lock_guard<std::mutex> lock(mutex_);
  --num_inside_;
  changed_.notify_all();
}

void ReadGate::Open() {
  const std::lock_guard<std::mutex> lock(mutex_);
  CHECK(state_ != State::kClosed);
  state_ = State::kOpen;
  changed_.notify_all();
}

void ReadGate::Pause() {
  std::unique_lock<std::mutex> lock(mutex_);
  if (state_ == State::kOpen) state_ = State::kPaused;
  changed_.wait(lock, [this] { return num_inside_ == 0; });
}

void ReadGate::Close() {
  const std::lock_guard<std::mutex> lock(mutex_);
  state_ = State::kClosed;
  changed_.notify_all();
}

}  // namespace estimator
