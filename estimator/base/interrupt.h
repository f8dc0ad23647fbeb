// Ctrl-C as a request: the first SIGINT or SIGTERM asks the training loop to finish what it is
// doing and to save; the second ends the process at once with exit code 130. All functions are
// thread-safe.
#ifndef ESTIMATOR_BASE_INTERRUPT_H_
#define ESTIMATOR_BASE_INTERRUPT_H_

#include <cstdint>

namespace estimator {

// Exit code of a process that stopped because of an interrupt: 128 + SIGINT, as shells have it.
inline constexpr int kInterruptedExitCode = 130;

// From now on SIGINT and SIGTERM are requests. Main calls this; a program without it may.
// The first one is answered at once by a line on stderr, whatever the process is doing, and makes
// SIGPIPE harmless: a `tee` behind a pipe dies of the same Ctrl-C, and what is printed after it
// must not end the process before it has saved. The same signal within a quarter of a second is
// the first one, sent twice: timeout(1) sends it to the process, and then to its group.
void InstallInterruptHandlers();

// While it lives, the answer to a first signal says where the process stops: after the loop that is
// running, which ends at set_end()'s step; what it has learnt is saved then, or is not. Where
// several live, on threads that train a model each, the answer names no step.
class InterruptibleLoop {
 public:
  explicit InterruptibleLoop(bool saves);
  ~InterruptibleLoop();
  InterruptibleLoop(const InterruptibleLoop&) = delete;
  InterruptibleLoop& operator=(const InterruptibleLoop&) = delete;

  void set_end(int64_t step);

 private:
  const bool saves_;
};

// Has a stop been asked for? Loops poll this between steps.
bool InterruptRequested();

// As if a first signal had come, without its message.
void RequestInterruptForTest();

// Forgets a request: the next signal is a first one again.
void ClearInterrupt();

}  // namespace estimator

#endif  // ESTIMATOR_BASE_INTERRUPT_H_
