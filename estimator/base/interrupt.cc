#include "estimator/base/interrupt.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
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
std::atomic<int64_t> loop_end = -1;  // last step of the only loop; negative if unknown
std::atomic<bool> loop_saves = false;
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
  Line& operator<<(int64_t number) {  // >= 0
    char digits[21] = {};
    size_t begin = sizeof(digits) - 1;
    do {
      digits[--begin] = static_cast<char>('0' + number % 10);
      number /= 10;
    } while (number > 0);
    return *this << &digits[begin];
  }
  void WriteToStderr() const {
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text_, size_);
  }

 private:
  char text_[200];
  size_t size_ = 0;
};

// The step at which the only loop ends; negative if there is no loop or more than one.
int64_t EndOfOnlyLoop() { return num_loops.load() == 1 ? loop_end.load() : -1; }

void Answer() {
  Line line;
  const int64_t end = EndOfOnlyLoop();
  if (end < 0) {
    line << "\nstopping as soon as the current work is done; press Ctrl-C again to exit at once\n";
  } else if (loop_saves.load()) {
    line << "\nstopping after this loop (step " << end
         << "), then saving; press Ctrl-C again to exit without saving\n";
  } else {
    line << "\nstopping after this loop (step " << end
         << "); checkpoints are off, nothing will be saved; press Ctrl-C again to exit at once\n";
  }
  line.WriteToStderr();
}

void HandleSignal(int signal) {
  const int saved_errno = errno;
  const int64_t now = NowMicros();
  int64_t first = 0;
  if (!first_signal.compare_exchange_strong(first, now * 256 + signal)) {
    if (signal == first % 256 && now - first / 256 < kSentTwiceMicros) return;
    Line line;
    const bool unsaved = EndOfOnlyLoop() >= 0 && loop_saves.load();
    line << (unsaved ? "\nexited without saving\n" : "\nexited at once\n");
    line.WriteToStderr();
    ::_exit(kInterruptedExitCode);
  }
  requested = true;
  ::signal(SIGPIPE, SIG_IGN);
  Answer();
  errno = saved_errno;
}

}  // namespace

void InstallInterruptHandlers() {
  struct sigaction action = {};
  action.sa_handler = HandleSignal;
  action.sa_flags = SA_RESTART;  // a system call in progress continues, instead of failing
  ::sigemptyset(&action.sa_mask);
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
}

InterruptibleLoop::InterruptibleLoop(bool saves) : saves_(saves) { ++num_loops; }

InterruptibleLoop::~InterruptibleLoop() {
  loop_end = -1;  // unknown until a loop that still runs calls set_end again
  --num_loops;
}

void InterruptibleLoop::set_end(int64_t step) {
  loop_saves = saves_;
  loop_end = step;
}

bool InterruptRequested() { return requested.load(std::memory_order_relaxed); }

void RequestInterruptForTest() { requested = true; }

void ClearInterrupt() {
  requested = false;
  first_signal = 0;
}

}  // namespace estimator
