// Handles Ctrl-C. The first SIGINT or SIGTERM asks the training loop to stop after the steps it is
// running and to save. The second one ends the process immediately with exit code 130. All
// functions are thread-safe.
#ifndef ESTIMATOR_BASE_INTERRUPT_H_
#define ESTIMATOR_BASE_INTERRUPT_H_

#include <cstdint>

namespace estimator {

// Exit code of a process that stopped because of an interrupt: 128 + SIGINT, as in shells.
inline constexpr int kInterruptedExitCode = 130;

// Installs the handlers of SIGINT and SIGTERM. Main calls this; a program without Main may call it.
// The first signal prints a line to stderr immediately. It also makes the process ignore SIGPIPE:
// the same Ctrl-C ends a `tee` behind a pipe, and a later write to that pipe must not end the
// process before it has saved. The same signal again within a quarter of a second is ignored,
// because timeout(1) sends its signal twice: to the process and to its group.
void InstallInterruptHandlers();

// While an object of this class lives, the line that answers a first signal names the step at which
// training will stop, and says whether it saves then. If several objects live, on threads that
// train one model each, the line names no step.
class InterruptibleLoop {
 public:
  // saves: whether a checkpoint is saved when the loop stops.
  explicit InterruptibleLoop(bool saves);
  ~InterruptibleLoop();
  InterruptibleLoop(const InterruptibleLoop&) = delete;
  InterruptibleLoop& operator=(const InterruptibleLoop&) = delete;

  // The step at which the loop that now runs will end.
  void set_end(int64_t step);

 private:
  const bool saves_;
};

// Whether a signal asked for a stop. Loops poll this between steps.
bool InterruptRequested();

// Simulates a first signal, without its line on stderr.
void RequestInterruptForTest();

// Forgets a request. The next signal counts as a first one again.
void ClearInterrupt();

}  // namespace estimator

#endif  // ESTIMATOR_BASE_INTERRUPT_H_
