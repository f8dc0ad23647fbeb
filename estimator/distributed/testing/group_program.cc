// A program that sums numbers with its peers in steps, for tests of processes. Its arguments are
// NAME=VALUE:
//   processes, restarts, end
//                         starts so many copies of itself, and all again after a failure; the
//                         seconds that the others then have to end
//   rank, size, rendezvous, token
//                         joins the group as this process, without a launcher
//   steps, timeout        the steps to do, and peer_timeout_secs
//   say                   1: writes a line for each step
//   do, who, at           in step `at`, rank `who` does: kill, stop, fail or abandon
//   once                  a file that is made at that time; if it exists, the rank does not do it
// It prints its process, the cores that it may use, and the sum. Its exit code is that of the
// error.
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "estimator/base/exit_code.h"
#include "estimator/base/file.h"
#include "estimator/base/interrupt.h"
#include "estimator/base/status.h"
#include "estimator/distributed/find_group.h"
#include "estimator/distributed/launcher.h"
#include "glog/logging.h"

namespace estimator {
namespace {

std::map<std::string, std::string> arguments;

int64_t Number(const std::string& name, int64_t if_not_given) {
  const auto found = arguments.find(name);
  if (found == arguments.end()) return if_not_given;
  int64_t number = 0;
  CHECK(absl::SimpleAtoi(found->second, &number)) << name;
  return number;
}

absl::Status Act(ProcessGroup& group) {
  const std::string& once = arguments["once"];
  if (!once.empty()) {
    if (FileExists(once)) return absl::OkStatus();
    EST_RETURN_IF_ERROR(WriteFileAtomically(once, ""));
  }
  const std::string& what = arguments["do"];
  if (what == "kill") ::raise(SIGKILL);
  if (what == "stop") ::raise(SIGSTOP);
  if (what == "fail") return WithExitCode(DataLoss("a file is damaged"), 7);
  if (what == "abandon") group.Abandon("the disk is full");
  return absl::OkStatus();
}

absl::Status Sum(ProcessGroup& group) {
  const InterruptibleLoop loop(/*saves=*/false);
  double sum = 0;
  for (int64_t step = 1; step <= Number("steps", 1); ++step) {
    if (step == Number("at", -1) && group.rank() == Number("who", -1))
      EST_RETURN_IF_ERROR(Act(group));
    const double mine = static_cast<double>(step) * (group.rank() + 1);
    EST_RETURN_IF_ERROR(group.AllReduceSum(DType::kFloat64, &mine, &sum, 1));
    EST_ASSIGN_OR_RETURN(const int64_t stop, group.AllReduceMax(InterruptRequested()));
    if (stop != 0) return WithExitCode(absl::CancelledError("interrupted"), kInterruptedExitCode);
    if (step == 10) absl::FPrintF(stderr, "ten steps\n");
    if (Number("say", 0) != 0) absl::FPrintF(stderr, "step %d\n", step);
  }
  absl::PrintF("the sum is %g\n", sum);
  return absl::OkStatus();
}

absl::Status Run() {
  if (const int64_t processes = Number("processes", 0);
      processes > 0 && std::getenv(kLaunchedVariable) == nullptr) {
    return RunProcesses({.num_processes = static_cast<int>(processes),
                         .max_restarts = static_cast<int>(Number("restarts", 0)),
                         .time_to_end_secs = static_cast<double>(Number("end", 10))});
  }
  const GivenGroup given = {.rank = static_cast<int>(Number("rank", -1)),
                            .size = static_cast<int>(Number("size", 0)),
                            .rendezvous = arguments["rendezvous"],
                            .token = arguments["token"]};
  EST_ASSIGN_OR_RETURN(GroupOptions options,
                       FindGroup(given, std::nullopt, &std::getenv, ::getppid()));
  options.peer_timeout_secs = static_cast<double>(Number("timeout", 30));
  cpu_set_t cores;
  ::sched_getaffinity(0, sizeof(cores), &cores);
  absl::FPrintF(stderr, "process %d has %d cores\n", ::getpid(), CPU_COUNT(&cores));
  EST_ASSIGN_OR_RETURN(const std::unique_ptr<ProcessGroup> group, JoinGroup(options));
  return Sum(*group);
}

}  // namespace
}  // namespace estimator

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::pair<std::string, std::string> argument =
        absl::StrSplit(argv[i], absl::MaxSplits('=', 1));
    estimator::arguments.insert(argument);
  }
  google::InitGoogleLogging(argv[0]);
  google::LogToStderr();
  estimator::InstallInterruptHandlers();
  const absl::Status status = estimator::Run();
  if (status.ok()) return 0;
  absl::FPrintF(stderr, "error: %s\n", status.message());
  return estimator::ExitCodeOf(status).value_or(1);
}
