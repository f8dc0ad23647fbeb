#include "tools/commands/commands.h"

#include <gflags/gflags.h>

#include <algorithm>
#include <cstdio>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "estimator/base/interrupt.h"
#include "estimator/base/main.h"
#include "estimator/base/status.h"
#include "estimator/base/strings.h"

namespace estimator {
namespace {

// Checks that the command uses every flag that is given. An unused flag is a mistake of the user.
absl::Status CheckFlags(const std::vector<Command>& commands, const Command& command) {
  std::set<std::string> of_others;
  for (const Command& other : commands) of_others.insert(other.flags.begin(), other.flags.end());
  for (const std::string& flag : command.flags) of_others.erase(flag);
  std::vector<std::string> unused;
  for (const std::string& flag : of_others) {
    if (!gflags::GetCommandLineFlagInfoOrDie(flag.c_str()).is_default)
      unused.push_back(absl::StrCat("--", flag));
  }
  if (unused.empty()) return absl::OkStatus();
  return InvalidArgument(command.name, " does not take ", absl::StrJoin(unused, ", "));
}

}  // namespace

std::vector<std::string> FlagNames(absl::string_view words) { return absl::StrSplit(words, ' '); }

absl::StatusOr<int> Dispatch(StringArg tool, const std::vector<Command>& commands,
                             const Arguments& arguments) {
  if (arguments.empty()) return InvalidArgument("a command is missing; `help` shows them");
  std::vector<std::string> names;
  for (const Command& command : commands) {
    names.push_back(command.name);
    if (command.name != arguments[0]) continue;
    EST_RETURN_IF_ERROR(CheckFlags(commands, command));
    const Arguments rest(arguments.begin() + 1, arguments.end());
    if (std::find(rest.begin(), rest.end(), "") != rest.end()) {
      return InvalidArgument("an argument of `", tool, " ", command.name,
                             "` is empty: check that the shell variables are set");
    }
    if (rest.size() >= command.min_arguments && rest.size() <= command.max_arguments)
      return command.run(rest);
    return InvalidArgument("expected `", tool, " ", command.name, " ", command.arguments,
                           "`, got `", tool, " ", absl::StrJoin(arguments, " "), "`",
                           command.cure.empty() ? "" : "; ", command.cure);
  }
  const auto nearest = NearestName(arguments[0], names);
  return InvalidArgument("there is no command ", arguments[0], "; ",
                         nearest ? absl::StrCat("did you mean ", *nearest, "?")
                                 : absl::StrCat("the commands are ", absl::StrJoin(names, ", ")));
}

absl::StatusOr<int> PrintText(const absl::StatusOr<std::string>& text) {
  EST_RETURN_IF_ERROR(text.status());
  std::fputs(text->c_str(), stdout);
  return 0;
}

int CommandMain(int argc, char** argv, const char* usage, StringArg tool,
                const std::vector<Command>& commands) {
  gflags::SetUsageMessage(usage);
  const auto run = [&](const Arguments& arguments) {
    const absl::StatusOr<int> code = Dispatch(tool, commands, arguments);
    if (code.ok()) return *code;
    if (absl::IsCancelled(code.status())) return kInterruptedExitCode;
    std::fprintf(stderr, "error: %s\n", code.status().ToString().c_str());
    return kCommandErrorExitCode;
  };
  return MainWithArguments(argc, argv, run, kCommandErrorExitCode);
}

}  // namespace estimator
