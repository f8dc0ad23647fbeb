// The main function of a program: flags, logging, interrupts, and one clear line for an error.
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
inline constexpr int kErrorExitCode = 1;  // it ran, and failed
inline constexpr int kUsageExitCode = 2;  // the command line is wrong, nothing was done

// Parses flags (gflags), logs to stderr from INFO on (glog), makes Ctrl-C a request (interrupt.h),
// and runs body. Returns the process's exit code: 0 for OK; 130 for CANCELLED after an interrupt; 2
// for unknown flags, values that a flag cannot have and left-over arguments, all of which are named
// together, and for a UsageError (usage_error.h) of body; else 1 with the status on stderr.
// An exception of body is an error too: INTERNAL with what() on stderr, and 1.
// What gflags itself finds wrong (in a --flagfile) exits with 2 too.
// Under `bazel run`, relative paths count from where the user typed it.
// --help prints the program's own flags (--helpfull: all) and returns 0.
int Main(int argc, char** argv, const std::function<absl::Status()>& body);

// For a program with commands: what is no flag goes to body, in order, which returns the exit code.
// `help` as the first of them is --help. Otherwise as Main.
//   error_exit_code: where an exception leaves body, or what was printed is lost: 2 for a program
//   whose 1 is a finding.
int MainWithArguments(int argc, char** argv,
                      const std::function<int(const std::vector<std::string>& arguments)>& body,
                      int error_exit_code = 1);

}  // namespace estimator

#endif  // ESTIMATOR_BASE_MAIN_H_
