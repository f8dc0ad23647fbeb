// Handles the signals that ask a program to end. Each asks the training loop to stop after the step
// that it is running, and to save. All functions are thread-safe.
//
//   SIGINT, SIGTERM  Ctrl-C, or the end of a job's time. A second one ends the process immediately.
//   SIGHUP           The terminal was closed, or the ssh session was lost.
//   SIGPIPE          Nothing reads the output any more, as after the end of `tee`.
#ifndef ESTIMATOR_BASE_INTERRUPT_H_
#define ESTIMATOR_BASE_INTERRUPT_H_

namespace estimator {

// Exit code of a process that stopped because of one of these signals: 128 + SIGINT, as in shells.
inline constexpr int kInterruptedExitCode = 130;

// Installs the handlers. Main calls this; a program without Main may call it.
// The first signal prints a line to stderr immediately. SIGHUP and SIGPIPE keep their meaning if
// the process ignores them, as under nohup. SIGPIPE ends a process that is not training, as it ends
// `program | head`. SIGHUP and SIGPIPE never count as a second signal. The same signal again within
// a quarter of a second is ignored, because timeout(1) sends its signal twice: to the process and
// to its group.
void InstallInterruptHandlers();

// While an object of this class lives, the process is training. The line that answers a first
// signal then says whether training saves when it stops. If several objects live, on threads that
// train one model each, the line says it only if it is the same for all.
class InterruptibleLoop {
 public:
  // saves: whether a checkpoint is saved when the loop stops.
  explicit InterruptibleLoop(bool saves);
  ~InterruptibleLoop();
  InterruptibleLoop(const InterruptibleLoop&) = delete;
  InterruptibleLoop& operator=(const InterruptibleLoop&) = delete;

 private:
  const bool saves_;
};

// Whether a signal asked for a stop. Loops poll this between steps.
bool InterruptRequested();

// Asks for a stop as a first signal does, without its line on stderr: for a signal that another
// process of the run got.
void RequestInterrupt();
inline void RequestInterruptForTest() { RequestInterrupt(); }

// Forgets a request. The next signal is a first one again.
void ClearInterrupt();

}  // namespace estimator

#endif  // ESTIMATOR_BASE_INTERRUPT_H_
