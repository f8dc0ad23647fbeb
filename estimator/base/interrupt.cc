#include "estimator/base/interrupt.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

namespace estimator {
namespace {

std::atomic<bool> requested = false;
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler needs this");

// Only async-signal-safe calls here.
void HandleSignal(int) {
  if (requested.exchange(true)) ::_exit(kInterruptedExitCode);
  static constexpr char kMessage[] =
      "\nfinishing the current loop, then saving; press Ctrl-C again to stop at once\n";
  const int saved_errno = errno;
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, kMessage, sizeof(kMessage) - 1);
  errno = saved_errno;
}

}  // namespace

void InstallInterruptHandlers() {
  struct sigaction action = {};
  action.sa_handler = HandleSignal;
  action.sa_flags = SA_RESTART;  // a read in progress is not an error
  ::sigemptyset(&action.sa_mask);
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
}

bool InterruptRequested() { return requested.load(std::memory_order_relaxed); }

void RequestInterruptForTest() { requested = true; }

void ClearInterrupt() { requested = false; }

}  // namespace estimator
