// Ctrl-C as a request: the first SIGINT or SIGTERM asks the training loop to finish what it is
// doing and to save; the second ends the process at once with exit code 130. All functions are
// thread-safe.
#ifndef ESTIMATOR_BASE_INTERRUPT_H_
#define ESTIMATOR_BASE_INTERRUPT_H_

namespace estimator {

// Exit code of a process that stopped because of an interrupt: 128 + SIGINT, as shells have it.
inline constexpr int kInterruptedExitCode = 130;

// From now on SIGINT and SIGTERM are requests. Main calls this; a program without it may.
void InstallInterruptHandlers();

// Has a stop been asked for? Loops poll this between steps.
bool InterruptRequested();

// As if a first signal had come, without its message.
void RequestInterruptForTest();

// Forgets a request: the next signal is a first one again.
void ClearInterrupt();

}  // namespace estimator

#endif  // ESTIMATOR_BASE_INTERRUPT_H_
