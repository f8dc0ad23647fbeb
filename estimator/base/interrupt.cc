#include "estimator/base/interrupt.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <ctime>

namespace estimator {
namespace {

constexpr int64_t kSentTwiceMicros = 250'000;

std::atomic<bool> requested = false;
// The time of the first signal in microseconds, times 256, plus its number; 0 before the first one.
// Both are in one word, because a second signal may arrive on another thread while the handler of
// the first one starts.
std::atomic<int64_t> first_signal = 0;
std::atomic<int> num_loops = 0;
std::atomic<int> num_saving_loops = 0;
static_assert(std::atomic<int64_t>::is_always_lock_free && std::atomic<int>::is_always_lock_free,
              "a signal handler needs this");

// The signal handler uses the functions from here on: only async-signal-safe calls are allowed.

int64_t NowMicros() {
  timespec now = {};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{1'000'000} * now.tv_sec + now.tv_nsec / 1000;
}

// A line of text in a fixed buffer. A line that is too long is cut off.
class Line {
 public:
  Line& operator<<(const char* text) {
    while (*text != '\0' && size_ < sizeof(text_)) text_[size_++] = *text++;
    return *this;
  }
  void WriteToStderr() const {
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text_, size_);
  }

 private:
  char text_[200];
  size_t size_ = 0;
};

// What the process does after a first signal.
const char* Consequence() {
  const int loops = num_loops.load(), saving = num_saving_loops.load();
  if (loops == 0 || (saving != 0 && saving != loops)) {
    return "stopping as soon as the current work is done";
  }
  return saving > 0 ? "stopping after this step, then saving"
                    : "stopping after this step; checkpoints are off, nothing will be saved";
}

// For SIGINT and SIGTERM.
void AskOrExit(int signal) {
  const int64_t now = NowMicros();
  int64_t first = 0;
  if (!first_signal.compare_exchange_strong(first, now * 256 + signal)) {
    if (signal == first % 256 && now - first / 256 < kSentTwiceMicros) return;
    Line line;
    line << (num_saving_loops.load() > 0 ? "\nexited without saving\n" : "\nexited at once\n");
    line.WriteToStderr();
    ::_exit(kInterruptedExitCode);
  }
  requested = true;
  Line line;
  line << "\n"
       << Consequence() << "; press Ctrl-C again to exit "
       << (num_saving_loops.load() > 0 ? "without saving\n" : "at once\n");
  line.WriteToStderr();
}

// For SIGHUP and SIGPIPE.
void Ask(const char* what) {
  if (requested.exchange(true)) return;
  Line line;
  line << "\n" << what << ": " << Consequence() << "\n";
  line.WriteToStderr();
}

void HandleSignal(int signal) {
  const int saved_errno = errno;
  if (signal == SIGHUP) {
    Ask("the terminal or the ssh session is gone (SIGHUP)");
  } else if (signal != SIGPIPE) {
    AskOrExit(signal);
  } else if (num_loops.load() > 0 || requested.load()) {
    // Later writes to the pipe fail with EPIPE and have no other effect.
    Ask("nothing reads the output any more (SIGPIPE)");
  } else {
    ::signal(SIGPIPE, SIG_DFL);
    ::raise(SIGPIPE);  // ends the process when this handler returns
  }
  errno = saved_errno;
}

bool IsIgnored(int signal) {
  struct sigaction action = {};
  return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

void InstallInterruptHandlers() {
  struct sigaction action = {};
  action.sa_handler = HandleSignal;
  action.sa_flags = SA_RESTART;  // a system call in progress continues, instead of failing
  ::sigemptyset(&action.sa_mask);
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  for (const int signal : {SIGHUP, SIGPIPE}) {
    if (!IsIgnored(signal)) ::sigaction(signal, &action, nullptr);
  }
}

InterruptibleLoop::InterruptibleLoop(bool saves) : saves_(saves) {
  if (saves_) ++num_saving_loops;
  ++num_loops;
}

InterruptibleLoop::~InterruptibleLoop() {
  --num_loops;
  if (saves_) --num_saving_loops;
}

bool InterruptRequested() { return requested.load(std::memory_order_relaxed); }

void RequestInterrupt() { requested = true; }

void ClearInterrupt() {
  requested = false;
  first_signal = 0;
}

}  // namespace estimator
