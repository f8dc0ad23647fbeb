// Runs a program as a user does, for tests of programs.
#ifndef ESTIMATOR_BASE_TESTING_RUN_PROGRAM_H_
#define ESTIMATOR_BASE_TESTING_RUN_PROGRAM_H_

#include <csignal>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace estimator {

struct ProgramRun {
  int exit_code = -1;  // -1: the program could not be started, or a signal ended it
  std::string output;  // stdout and stderr, in the order written
};

// A signal to send to a program as soon as its output contains `when`.
struct ProgramSignal {
  std::string when;
  int signal = SIGINT;  // as from Ctrl-C
};

// Runs `command` (a program with its arguments, quoted as for /bin/sh) and waits for its end.
// `signals` are sent in order: each waits until the one before it is sent.
ProgramRun RunProgram(absl::string_view command, const std::vector<ProgramSignal>& signals = {});

}  // namespace estimator

#endif  // ESTIMATOR_BASE_TESTING_RUN_PROGRAM_H_
