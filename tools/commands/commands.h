// The commands of a tool, as in `checkpoint list FILE`: choosing one and checking its arguments.
#ifndef TOOLS_COMMANDS_COMMANDS_H_
#define TOOLS_COMMANDS_COMMANDS_H_

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "estimator/base/string_arg.h"

namespace estimator {

using Arguments = std::vector<std::string>;

struct Command {
  std::string name;
  std::string arguments;  // for messages: "CHECKPOINT NAME ..."
  size_t min_arguments;
  size_t max_arguments;            // kManyArguments: no limit
  std::vector<std::string> flags;  // the flags of single commands that this one uses
  std::function<absl::StatusOr<int>(const Arguments& arguments)> run;  // returns the exit code
  std::string cure = "";  // advice after a wrong number of arguments
};
inline constexpr size_t kManyArguments = 1'000'000;
// The exit code after an error. 1 is free for commands whose answer is "no".
inline constexpr int kCommandErrorExitCode = 2;

// Runs the command that arguments[0] names, with the arguments after it.
//   tool: the name of the program, for messages.
// Errors: INVALID_ARGUMENT for an unknown command, with the nearest name; for a wrong number of
// arguments or an empty one; for a flag that was given and that only other commands use. Those of
// the command.
absl::StatusOr<int> Dispatch(StringArg tool, const std::vector<Command>& commands,
                             const Arguments& arguments);

// As Dispatch. Prints an error to stderr, and returns kCommandErrorExitCode, or that of an
// interrupt.
int RunCommand(StringArg tool, const std::vector<Command>& commands, const Arguments& arguments);

}  // namespace estimator

#endif  // TOOLS_COMMANDS_COMMANDS_H_
