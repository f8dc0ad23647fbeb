// The main function of the programs of this folder.
#ifndef TOOLS_INTEROP_TOOL_MAIN_H_
#define TOOLS_INTEROP_TOOL_MAIN_H_

#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace estimator {

// Calls `run` with the arguments of the command line, and prints its error. Returns the exit code:
// 1 after an error, 2 if the number of arguments is wrong.
//   usage: "PROGRAM ARGUMENT ...", a word for each argument; after a last word "[...]" there may be
//     more.
inline int ToolMain(int argc, char** argv, absl::string_view usage,
                    const std::function<absl::Status(const std::vector<std::string>&)>& run) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const std::vector<absl::string_view> words = absl::StrSplit(usage, ' ');
  const bool more = absl::EndsWith(usage, "[...]");
  if (more ? arguments.size() + 2 < words.size() : arguments.size() + 1 != words.size()) {
    std::cerr << "usage: " << usage << '\n';
    return 2;
  }
  const absl::Status status = run(arguments);
  if (!status.ok()) std::cerr << words[0] << ": " << status << '\n';
  return status.ok() ? 0 : 1;
}

}  // namespace estimator

#endif  // TOOLS_INTEROP_TOOL_MAIN_H_
