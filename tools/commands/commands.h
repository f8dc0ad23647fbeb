// The commands of a tool, as in `checkpoint list FILE`: choosing one and checking its arguments.
#ifndef TOOLS_COMMANDS_COMMANDS_H_
#define TOOLS_COMMANDS_COMMANDS_H_

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
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
// The words of "include exclude", for Command::flags.
std::vector<std::string> FlagNames(absl::string_view words);
// The exit code of a difference or damage that the command was asked to find.
inline constexpr int kFoundExitCode = 1;
// The exit code after an error.
inline constexpr int kCommandErrorExitCode = 2;

// Prints the text of a command that has no other result. Returns the exit code 0.
absl::StatusOr<int> PrintText(const absl::StatusOr<std::string>& text);

// Runs the command that arguments[0] names, with the arguments after it.
//   tool: the name of the program, for messages.
// Errors: INVALID_ARGUMENT for an unknown command, with the nearest name; for a wrong number of
// arguments or an empty one; for a flag that was given and that only other commands use. Those of
// the command.
absl::StatusOr<int> Dispatch(StringArg tool, const std::vector<Command>& commands,
                             const Arguments& arguments);

// The main function of a tool: MainWithArguments (base/main.h) and Dispatch. Prints an error to
// stderr, and returns kCommandErrorExitCode, or that of an interrupt.
//   usage: for --help.
int CommandMain(int argc, char** argv, const char* usage, StringArg tool,
                const std::vector<Command>& commands);

}  // namespace estimator

#endif  // TOOLS_COMMANDS_COMMANDS_H_
