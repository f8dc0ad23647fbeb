// The flags of a program, and the mistakes in a command line. Main (main.h) reports all of them,
// and then lets gflags read the command line.
#ifndef ESTIMATOR_BASE_COMMAND_LINE_H_
#define ESTIMATOR_BASE_COMMAND_LINE_H_

#include <gflags/gflags.h>

#include <string>
#include <vector>

namespace estimator {

std::vector<gflags::CommandLineFlagInfo> AllFlags();

// Whether the program defines the flag, and not gflags or glog.
bool IsOwnFlag(const gflags::CommandLineFlagInfo& flag);

// All mistakes of the command line and of the files that --flagfile names: one line each. gflags
// itself would exit at the first one, so this reads the arguments by the same rules. No flag
// changes.
//   takes_arguments: whether the program takes arguments that are no flags.
std::vector<std::string> CommandLineProblems(int argc, char** argv, bool takes_arguments);

}  // namespace estimator

#endif  // ESTIMATOR_BASE_COMMAND_LINE_H_
