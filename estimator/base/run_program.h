// Runs a program as a user does, for tests of programs.
#ifndef ESTIMATOR_BASE_RUN_PROGRAM_H_
#define ESTIMATOR_BASE_RUN_PROGRAM_H_

#include <string>

#include "absl/strings/string_view.h"

namespace estimator {

struct ProgramRun {
  int exit_code = -1;  // -1: it could not be started, or a signal ended it
  std::string output;  // stdout and stderr, as they came
};

// Runs `command` (a program with its arguments, quoted as for /bin/sh) to its end. As soon as the
// output has the words `interrupt_at` (if there are any), the program gets a SIGINT, as from
// Ctrl-C.
ProgramRun RunProgram(absl::string_view command, absl::string_view interrupt_at = "");

}  // namespace estimator

#endif  // ESTIMATOR_BASE_RUN_PROGRAM_H_
