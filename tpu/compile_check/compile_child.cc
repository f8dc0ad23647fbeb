#include "tpu/compile_check/compile_child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "estimator/base/file.h"
#include "estimator/base/interrupt.h"
#include "estimator/base/status.h"

namespace estimator::tpu {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// The contents of a file; "" if it cannot be read.
std::string ReadAll(const std::string& path) { return ReadFile(path).value_or(""); }

absl::StatusOr<pjrt::CompiledProgram> CompileWithLibtpu(const CompileRequest& request) {
  EST_ASSIGN_OR_RETURN(auto plugin, pjrt::Plugin::Load(request.libtpu));
  EST_ASSIGN_OR_RETURN(const auto topology,
                       pjrt::Topology::Create(std::move(plugin), request.target.topology));
  return topology->Compile(request.stablehlo, request.num_replicas);
}

// What the child does. It writes the file "answer": a status code and its message, or 0 and a line
// with name, tab and value for each cost.
[[noreturn]] void RunChild(const CompileRequest& request, const std::string& folder) {
  // Without these, libtpu asks Cloud TPU's metadata server, which is not there, and waits for it.
  setenv("TPU_SKIP_MDS_QUERY", "1", 1);
  setenv("TPU_WORKER_HOSTNAMES", "localhost", 0);
  // Only one process may use a TPU, so libtpu takes a lock when it is loaded. Compiling uses none.
  setenv("ALLOW_MULTIPLE_LIBTPU_LOAD", "1", 1);
  const char* const given = std::getenv("LIBTPU_INIT_ARGS");
  setenv("LIBTPU_INIT_ARGS",
         absl::StrCat(given == nullptr ? "" : absl::StrCat(given, " "), "--xla_jf_dump_to=", folder,
                      " --xla_jf_dump_hlo_text=true --xla_jf_dump_llo_text=false "
                      "--xla_jf_dump_llo_pass_label_regex=NONE")
             .c_str(),
         1);
  std::string answer;
  const absl::StatusOr<pjrt::CompiledProgram> program =
      request.compiler ? request.compiler(request) : CompileWithLibtpu(request);
  if (program.ok()) {
    answer = "0\n";
    for (const auto& [name, value] : program->costs)
      absl::StrAppend(&answer, name, "\t", value, "\n");
  } else {
    answer =
        absl::StrCat(static_cast<int>(program.status().code()), "\n", program.status().message());
  }
  std::ofstream(folder + "/answer") << answer;
  // Not exit: libtpu's destructors and those of the parent's program must not run here.
  _exit(0);
}

// The last lines of a log, without stack frames of the compiler.
std::string EndOfLog(const std::string& log) {
  std::vector<std::string> lines;
  for (const absl::string_view line : absl::StrSplit(log, '\n', absl::SkipWhitespace())) {
    const bool frame = absl::StartsWith(line, "    @") || absl::StrContains(line, "symbolize") ||
                       absl::StrContains(line, "RAW:");
    if (!frame) lines.emplace_back(line.substr(0, 400));
  }
  std::string end;
  for (size_t i = lines.size() > 6 ? lines.size() - 6 : 0; i < lines.size(); ++i)
    absl::StrAppend(&end, "\n    ", lines[i]);
  return end;
}

absl::Status HowItEnded(int wait_status, const std::string& log) {
  const int signal = WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : 0;
  // Signals that others may have sent. The kernel sends SIGKILL if the machine's memory is
  // exhausted.
  if (signal == SIGTERM || signal == SIGINT || signal == SIGHUP || signal == SIGKILL) {
    return absl::CancelledError(absl::StrCat(
        "the TPU compiler was ended by signal ", signal, " (", strsignal(signal),
        "), perhaps from outside", signal == SIGKILL ? ": did this machine run out of memory?" : "",
        ". The end of its log:", EndOfLog(log)));
  }
  const std::string how =
      signal != 0 ? absl::StrCat("crashed with signal ", signal, " (", strsignal(signal), ")")
                  : absl::StrCat("ended with exit code ", WEXITSTATUS(wait_status));
  return absl::AbortedError(
      absl::StrCat("the TPU compiler ", how, ". The end of its log:", EndOfLog(log)));
}

absl::Status Interrupted() { return absl::CancelledError("a signal asked this program to stop"); }

void ReadAnswer(const std::string& answer, CompileOutcome& outcome) {
  const size_t line = answer.find('\n');
  int code = 0;
  if (line == std::string::npos || !absl::SimpleAtoi(answer.substr(0, line), &code)) {
    outcome.status = absl::AbortedError(
        "the child of the TPU compiler did not write its whole answer; is the disk of TMPDIR "
        "full?");
    return;
  }
  if (code != 0) {
    outcome.status = absl::Status(static_cast<absl::StatusCode>(code), answer.substr(line + 1));
    return;
  }
  for (const absl::string_view cost :
       absl::StrSplit(absl::string_view(answer).substr(line + 1), '\n', absl::SkipEmpty())) {
    const std::vector<std::string> pair = absl::StrSplit(cost, '\t');
    double value = 0;
    if (pair.size() == 2 && absl::SimpleAtod(pair[1], &value)) outcome.costs[pair[0]] = value;
  }
}

}  // namespace

absl::StatusOr<CompileOutcome> CompileInChild(const CompileRequest& request) {
  if (InterruptRequested()) {
    CompileOutcome stopped;
    stopped.status = Interrupted();
    return stopped;
  }
  std::error_code missing;
  const fs::path parent = fs::temp_directory_path(missing);
  if (missing) {
    return absl::UnavailableError(
        absl::StrCat("there is no folder for temporary files: ", missing.message(),
                     "; set TMPDIR to one that exists"));
  }
  std::string folder = absl::StrCat(parent.string(), "/tpu_compile_XXXXXX");
  if (mkdtemp(folder.data()) == nullptr) {
    return absl::UnavailableError(
        absl::StrCat("cannot make a folder in ", parent.string(), ": ", std::strerror(errno)));
  }
  const std::string log = folder + "/log";
  const auto start = Clock::now();
  // A fork without exec: any program can check itself, and the child needs no file of ours. It does
  // not use what threads of the parent may have locked, such as OpenMP.
  const pid_t self = getpid();
  const pid_t child = fork();
  if (child == 0) {
    // Else the child would compile for minutes after a SIGKILL of the parent, or a second Ctrl-C.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != self) _exit(1);
    const int file = open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (file >= 0) {
      dup2(file, STDOUT_FILENO);
      dup2(file, STDERR_FILENO);
    }
    for (const int number : {SIGABRT, SIGSEGV, SIGTERM, SIGINT}) ::signal(number, SIG_DFL);
    RunChild(request, folder);
  }
  CompileOutcome outcome;
  const auto seconds = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  int wait_status = 0;
  pid_t ended = child < 0 ? -1 : 0;
  bool late = false, interrupted = false;
  while (ended == 0) {
    ended = waitpid(child, &wait_status, WNOHANG);
    if (ended != 0) break;
    if (!late && !interrupted) {
      interrupted = InterruptRequested();
      late = !interrupted && seconds() > request.timeout_seconds;
      if (late || interrupted) kill(child, SIGKILL);
    }
    poll(nullptr, 0, /*timeout (ms)=*/20);
  }
  outcome.seconds = seconds();
  const bool answered = fs::exists(folder + "/answer");
  // Ctrl-C on a terminal is sent to the child, too, which may have ended first.
  if (interrupted || (!answered && InterruptRequested())) {
    outcome.status = Interrupted();
  } else if (late) {
    outcome.status = absl::DeadlineExceededError(
        absl::StrCat("the TPU compiler did not finish in ", request.timeout_seconds,
                     " s; --tpu_check_seconds allows more, and --timeout of tpu_compile"));
  } else if (answered) {
    ReadAnswer(ReadAll(folder + "/answer"), outcome);
  } else if (ended > 0) {
    outcome.status = HowItEnded(wait_status, ReadAll(log));
  }
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    // The last program of the compilation is the largest: others are parts of the runtime.
    if (!absl::EndsWith(entry.path().string(), "TLP-hlo.txt")) continue;
    std::string hlo = ReadAll(entry.path().string());
    if (hlo.size() > outcome.scheduled_hlo.size()) outcome.scheduled_hlo = std::move(hlo);
  }
  fs::remove_all(folder, ignored);
  if (ended < 0) return absl::UnavailableError("cannot start a child process for the TPU compiler");
  return outcome;
}

}  // namespace estimator::tpu
