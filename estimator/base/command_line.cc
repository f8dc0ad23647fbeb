#include "estimator/base/command_line.h"

#include <absl/status/statusor.h>
#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <absl/strings/str_replace.h>
#include <absl/strings/str_split.h>
#include <absl/strings/string_view.h>
#include <absl/strings/strip.h>

#include <optional>
#include <utility>

#include "estimator/base/file.h"
#include "estimator/base/flag_spelling.h"
#include "estimator/base/strings.h"

namespace estimator {
namespace {

std::string UnknownFlagMessage(absl::string_view name) {
  std::vector<std::string> names;
  // Own flags come first, because NearestName returns the first of equally near names.
  for (const bool own : {true, false}) {
    for (const auto& flag : AllFlags()) {
      if (IsOwnFlag(flag) == own) names.push_back(flag.name);
    }
  }
  const std::optional<std::string> nearest = NearestName(name, names);
  return nearest ? absl::StrCat("unknown flag --", name, "; did you mean --", *nearest, "?")
                 : absl::StrCat("unknown flag --", name, "; --help lists the flags");
}

std::string WhatItTakes(const gflags::CommandLineFlagInfo& flag) {
  const std::string& type = flag.type;
  if (type == "bool") {
    std::vector<std::string> values = {"true", "false"};
    for (std::string& value : SpelledValues(flag.name)) values.push_back(std::move(value));
    const std::string last = std::move(values.back());
    values.pop_back();
    return absl::StrCat(absl::StrJoin(values, ", "), " or ", last);
  }
  if (type == "int32") return "a whole number of 32 bits";
  if (type == "int64") return "a whole number";
  if (type == "uint32" || type == "uint64") return "a whole number that is not negative";
  if (type == "double") return "a number";
  return absl::StrCat("a ", type, " that it accepts");
}

// Whether the name is that of a bool flag after "no".
bool IsNegated(absl::string_view name) {
  gflags::CommandLineFlagInfo info;
  return absl::ConsumePrefix(&name, "no") &&
         gflags::GetCommandLineFlagInfo(std::string(name).c_str(), &info) && info.type == "bool";
}

void CheckFlagfiles(absl::string_view paths, int depth, std::vector<std::string>* problems);

// Adds a problem if the flag does not accept the value. This sets the flag, so the caller must
// restore all flags.
void CheckValue(const gflags::CommandLineFlagInfo& flag, const std::string& value,
                std::vector<std::string>* problems) {
  if (flag.name == "flagfile") {
    CheckFlagfiles(value, /*depth=*/0, problems);
    return;
  }
  // Setting one of these would make gflags read more flags from the environment.
  if (flag.name == "fromenv" || flag.name == "tryfromenv") return;
  if (!gflags::SetCommandLineOption(flag.name.c_str(), value.c_str()).empty()) return;
  problems->push_back(absl::StrCat("flag --", flag.name, " must be ", WhatItTakes(flag),
                                   ", given \"", value, "\""));
}

// Adds the problems of a line "--name=value" of a flagfile. gflags ignores unknown names
// and missing values there.
void CheckFlagfileLine(absl::string_view path, absl::string_view line,
                       std::vector<std::string>* problems) {
  const std::string meaning = MeaningOfArgument(line);
  if (meaning != line) {
    problems->push_back(
        absl::StrCat("flag --flagfile: ", path, ": in a file, write ", meaning, " for ", line));
    return;
  }
  line.remove_prefix(absl::StartsWith(line, "--") ? 2 : 1);
  const std::vector<absl::string_view> parts = absl::StrSplit(line, absl::MaxSplits('=', 1));
  const std::string name = absl::StrReplaceAll(parts[0], {{"-", "_"}});
  gflags::CommandLineFlagInfo info;
  if (gflags::GetCommandLineFlagInfo(name.c_str(), &info)) {
    if (parts.size() == 1 && info.type != "bool") {
      problems->push_back(
          absl::StrCat("flag --flagfile: ", path, ": flag --", name, " needs a value"));
    } else if (parts.size() == 2 && name != "flagfile") {
      CheckValue(info, std::string(parts[1]), problems);
    }
  } else if (!IsNegated(name)) {
    problems->push_back(absl::StrCat("flag --flagfile: ", path, ": ", UnknownFlagMessage(name)));
  }
}

// gflags would abort the program if it cannot read one of the files, or a file that they include.
//   depth: how many files include these.
void CheckFlagfiles(absl::string_view paths, int depth, std::vector<std::string>* problems) {
  constexpr int kMaxDepth = 50;
  for (const absl::string_view path : absl::StrSplit(paths, ',', absl::SkipEmpty())) {
    const absl::StatusOr<std::string> text = ReadFile(path);
    if (!text.ok() || depth == kMaxDepth) {
      problems->push_back(
          absl::StrCat("flag --flagfile: ", text.ok() ? absl::StrCat(path, " includes itself")
                                                      : text.status().message()));
      return;
    }
    // Other lines name the programs that the lines after them are for.
    bool for_this_program = true;
    for (absl::string_view line : absl::StrSplit(*text, '\n')) {
      line = absl::StripAsciiWhitespace(line);
      for_this_program =
          for_this_program && (line.empty() || line[0] == '#' || absl::StartsWith(line, "-"));
      if (for_this_program && absl::StartsWith(line, "-")) CheckFlagfileLine(path, line, problems);
      if (absl::ConsumePrefix(&line, "--flagfile=") || absl::ConsumePrefix(&line, "-flagfile="))
        CheckFlagfiles(line, depth + 1, problems);
    }
  }
}

// Whether the argument is a bool flag such as "--use_tpu". It takes no value after a space.
bool IsBoolFlag(absl::string_view argument) {
  gflags::CommandLineFlagInfo info;
  return absl::ConsumePrefix(&argument, "--") &&
         gflags::GetCommandLineFlagInfo(std::string(argument).c_str(), &info) &&
         info.type == "bool";
}

// Whether the argument is a flag without its dashes, such as "train_steps=5".
bool IsAssignment(absl::string_view argument) {
  const size_t equals = argument.find('=');
  gflags::CommandLineFlagInfo info;
  return equals != absl::string_view::npos &&
         gflags::GetCommandLineFlagInfo(std::string(argument.substr(0, equals)).c_str(), &info);
}

}  // namespace

std::vector<gflags::CommandLineFlagInfo> AllFlags() {
  std::vector<gflags::CommandLineFlagInfo> flags;
  gflags::GetAllFlags(&flags);
  return flags;
}

// The flags of gflags and glog are defined in src/ of their own builds.
bool IsOwnFlag(const gflags::CommandLineFlagInfo& flag) {
  return !absl::StartsWith(flag.filename, "src/") && !absl::StrContains(flag.filename, "/src/");
}

std::vector<std::string> CommandLineProblems(int argc, char** argv, bool takes_arguments) {
  const gflags::FlagSaver saver;
  std::vector<std::string> problems;
  for (int i = 1; i < argc; ++i) {
    absl::string_view argument = argv[i];
    if (!absl::ConsumePrefix(&argument, "-") || argument.empty()) {
      if (takes_arguments) continue;
      problems.push_back(absl::StrCat("unexpected argument \"", argv[i], "\"; ",
                                      IsBoolFlag(argv[i - 1])
                                          ? absl::StrCat("write ", argv[i - 1], "=", argv[i])
                                      : IsAssignment(argv[i]) ? absl::StrCat("write --", argv[i])
                                                              : "flags begin with --"));
      continue;
    }
    absl::ConsumePrefix(&argument, "-");
    if (argument.empty()) continue;  // "--" alone
    const std::vector<absl::string_view> parts = absl::StrSplit(argument, absl::MaxSplits('=', 1));
    const std::string name = absl::StrReplaceAll(parts[0], {{"-", "_"}});
    gflags::CommandLineFlagInfo info;
    if (gflags::GetCommandLineFlagInfo(name.c_str(), &info)) {
      const bool value_follows = parts.size() == 1 && info.type != "bool";
      if (value_follows && i + 1 == argc) {
        problems.push_back(absl::StrCat("flag --", name, " needs a value"));
      } else if (value_follows) {
        CheckValue(info, argv[++i], &problems);
      } else if (parts.size() == 2) {
        CheckValue(info, std::string(parts[1]), &problems);
      }
      continue;
    }
    if (!IsNegated(name)) problems.push_back(UnknownFlagMessage(name));
  }
  return problems;
}

}  // namespace estimator
