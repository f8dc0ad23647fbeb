#include "estimator/base/testing/child_memory.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>

#include "absl/strings/str_cat.h"
#include "glog/logging.h"

namespace estimator {
namespace {

// The child sends this through the pipe, followed by the message of its status.
struct Report {
  ChildMemory memory;
  int code = 0;
};

void WriteAll(int file, const void* bytes, size_t n) {
  const char* from = static_cast<const char*>(bytes);
  while (n > 0) {
    const ssize_t written = ::write(file, from, n);
    PCHECK(written > 0);
    from += written;
    n -= static_cast<size_t>(written);
  }
}

[[noreturn]] void RunChild(const std::function<absl::Status()>& work, int out) {
  Report report;
  const int64_t before = ResidentBytes();
  const auto begin = std::chrono::steady_clock::now();
  const absl::Status status = work();
  report.memory.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  rusage usage = {};
  ::getrusage(RUSAGE_SELF, &usage);
  report.memory.peak_bytes = int64_t{1024} * usage.ru_maxrss;
  report.memory.growth_bytes = std::max<int64_t>(report.memory.peak_bytes - before, 0);
  report.code = static_cast<int>(status.code());
  WriteAll(out, &report, sizeof(report));
  WriteAll(out, status.message().data(), status.message().size());
  ::_exit(0);
}

}  // namespace

int64_t ResidentBytes() {
  int64_t total = 0, resident = 0;
  if (std::FILE* const file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%ld %ld", &total, &resident) != 2) resident = 0;
    std::fclose(file);
  }
  return resident * ::sysconf(_SC_PAGESIZE);
}

absl::StatusOr<ChildMemory> MeasureInChild(const std::function<absl::Status()>& work) {
  std::fflush(stdout);
  int ends[2];
  PCHECK(::pipe(ends) == 0);
  const pid_t child = ::fork();
  PCHECK(child >= 0);
  if (child == 0) {
    ::close(ends[0]);
    RunChild(work, ends[1]);
  }
  ::close(ends[1]);
  std::string said;
  char piece[4096];
  for (ssize_t n; (n = ::read(ends[0], piece, sizeof(piece))) > 0;) {
    said.append(piece, static_cast<size_t>(n));
  }
  ::close(ends[0]);
  int status = 0;
  PCHECK(::waitpid(child, &status, 0) == child);
  Report report;
  if (status != 0 || said.size() < sizeof(report)) {
    return absl::AbortedError(
        absl::StrCat("the measured child process ended with wait status ", status));
  }
  std::copy_n(said.data(), sizeof(report), reinterpret_cast<char*>(&report));
  if (report.code == 0) return report.memory;
  return absl::Status(static_cast<absl::StatusCode>(report.code), said.substr(sizeof(report)));
}

}  // namespace estimator
