// ReadGate: lets the thread of a Prefetch read only while a call of the estimator runs. The
// functions of a user's input may refer to variables that are gone after the call.
#ifndef ESTIMATOR_DATA_PIPELINE_READ_GATE_H_
#define ESTIMATOR_DATA_PIPELINE_READ_GATE_H_

#include <condition_variable>
#include <mutex>

namespace estimator {

// Thread-safe. It is open at first.
class ReadGate {
 public:
  // Waits while the gate is paused. Returns false if it is closed: then nothing may be read.
  // Otherwise the caller reads, and then calls Leave.
  bool Enter();
  void Leave();

  void Open();   // REQUIRES: it is not closed
  void Pause();  // waits until all who entered have left
  void Close();  // for good: waiting calls of Enter return

 private:
  enum class State { kOpen, kPaused, kClosed };

  std::mutex mutex_;  // guards all members below
  std::condition_variable changed_;
  State state_ = State::kOpen;
  int num_inside_ = 0;
};

}  // namespace estimator

#endif  // ESTIMATOR_DATA_PIPELINE_READ_GATE_H_
