// ReadGate: lets the thread of a Prefetch read only while a call of the estimator runs. The functions
// of a user's input may refer to variables that are gone after the call.
#ifndef ESTIMATOR_TRAINING_INPUT_READ_GATE_H_
#define ESTIMATOR_TRAINING_INPUT_READ_GATE_H_

#include <condition_variable>
#include <mutex>

namespace estimator {

// Thread-safe. It is open at first.
class ReadGate {
 public:
  // Its holder may read if it is `open`, until it is destroyed.
  class Entry {
   public:
    // Waits while the gate is paused.
    explicit Entry(ReadGate& gate) : gate_(gate), open_(gate.Enter()) {}
    ~Entry() {
      if (open_) gate_.Leave();
    }
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;
    bool open() const { return open_; }  // false: the gate is closed

   private:
    ReadGate& gate_;
    const bool open_;
  };

  void Open();   // REQUIRES: it is not closed
  void Pause();  // waits until no open Entry is left
  void Close();  // for good: nobody waits for an Entry any more

 private:
  bool Enter();
  void Leave();
  enum class State { kOpen, kPaused, kClosed };

  std::mutex mutex_;  // guards all members below
  std::condition_variable changed_;
  State state_ = State::kOpen;
  int num_inside_ = 0;
};

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_INPUT_READ_GATE_H_
