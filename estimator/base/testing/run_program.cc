#include "estimator/base/testing/run_program.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace estimator {

ProgramRun RunProgram(absl::string_view command, const std::vector<ProgramSignal>& signals) {
  ProgramRun run;
  // With exec the program replaces the shell, so the signals reach the program.
  const std::string line = absl::StrCat("exec ", command);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return run;
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDOUT_FILENO);
    dup2(ends[1], STDERR_FILENO);
    // As a user's shell starts it. Test runners may ignore these signals.
    for (const int signal : {SIGINT, SIGHUP, SIGPIPE}) std::signal(signal, SIG_DFL);
    execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
    _exit(127);
  }
  close(ends[1]);
  size_t num_sent = 0;
  char buffer[4096];
  for (ssize_t n; (n = read(ends[0], buffer, sizeof(buffer))) > 0 || (n < 0 && errno == EINTR);) {
    if (n < 0) continue;
    run.output.append(buffer, static_cast<size_t>(n));
    while (child > 0 && num_sent < signals.size() &&
           absl::StrContains(run.output, signals[num_sent].when)) {
      kill(child, signals[num_sent++].signal);
    }
  }
  close(ends[0]);
  int status = 0;
  if (child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status)) {
    run.exit_code = WEXITSTATUS(status);
  }
  return run;
}

}  // namespace estimator
