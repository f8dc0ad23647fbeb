// Runs a program as a user does, for tests of programs.
#ifndef ESTIMATOR_BASE_TESTING_RUN_PROGRAM_H_
#define ESTIMATOR_BASE_TESTING_RUN_PROGRAM_H_

#include <csignal>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace estimator {

struct ProgramRun {
  int exit_code = -1;  // -1: it could not be started, or a signal ended it
  std::string output;  // stdout and stderr, as they came
};

// Sent to a program as soon as its output has these words.
struct ProgramSignal {
  std::string when;
  int signal = SIGINT;  // as from Ctrl-C
};

// Runs `command` (a program with its arguments, quoted as for /bin/sh) to its end. The first of
// `signals` is sent first, then the next one's turn comes.
ProgramRun RunProgram(absl::string_view command, const std::vector<ProgramSignal>& signals = {});

}  // namespace estimator

#endif  // ESTIMATOR_BASE_TESTING_RUN_PROGRAM_H_
