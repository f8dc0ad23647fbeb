// The main function of a program: it parses flags, sets up logging and interrupts, and prints an
// error as one line.
//
//   DEFINE_string(model_dir, "", "where checkpoints go");
//   absl::Status Run() { ... }
//   int main(int argc, char** argv) { return estimator::Main(argc, argv, Run); }
#ifndef ESTIMATOR_BASE_MAIN_H_
#define ESTIMATOR_BASE_MAIN_H_

#include <absl/status/status.h>

#include <functional>
#include <string>
#include <vector>

namespace estimator {

// Exit codes of all our programs; 130 (interrupt.h) after Ctrl-C.
inline constexpr int kErrorExitCode = 1;  // the program ran and failed
inline constexpr int kUsageExitCode = 2;  // the command line is wrong; the program did nothing

// Opens standard streams that are closed (standard_streams.h), parses flags (gflags), logs to
// stderr from INFO on (glog), installs the handlers of interrupts (interrupt.h) and of too little
// memory (out_of_resources.h), and runs body. Returns the exit code of the process:
//   0    body returned OK, --help or --version was given.
//   1    body failed or threw an exception, or stdout could not be written. The error is on stderr.
//   2    The command line is wrong: an unknown flag, a value that its flag does not accept, or an
//        unexpected argument. All problems are printed together. Also for a UsageError
//        (usage_error.h) of body, and for an error that gflags finds, for example in a --flagfile.
//   130  body returned CANCELLED after an interrupt.
// An error that has an exit code of its own (exit_code.h) ends the program with that one: 3 if
// another process of the run was lost.
// Under `bazel run`, relative paths are relative to the directory where the user typed the command.
// `~/` at the beginning of a flag's value or of an argument becomes the user's home directory.
// --help prints the program's own flags; --helpfull prints all flags. --version prints the version
// of the project (version.h), after that of gflags::SetVersionString if the program has one.
// --cpu_isa limits the instruction sets (cpu/cpu_isa.h).
int Main(int argc, char** argv, const std::function<absl::Status()>& body);

// As Main, for a program with commands. Arguments that are not flags are passed to body, in order.
// The first argument `help` is the same as --help. body returns the exit code.
//   error_exit_code: the exit code if body throws an exception or stdout cannot be written. Use 2
//   for a program that exits with 1 to report a finding.
int MainWithArguments(int argc, char** argv,
                      const std::function<int(const std::vector<std::string>& arguments)>& body,
                      int error_exit_code = 1);

}  // namespace estimator

#endif  // ESTIMATOR_BASE_MAIN_H_
