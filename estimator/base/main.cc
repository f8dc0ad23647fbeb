#include "estimator/base/main.h"

#include <absl/strings/match.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <absl/strings/string_view.h>
#include <gflags/gflags.h>
#include <glog/logging.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iostream>
#include <list>
#include <stdexcept>
#include <system_error>

#include "estimator/base/command_line.h"
#include "estimator/base/cpu/cpu_isa.h"
#include "estimator/base/exit_code.h"
#include "estimator/base/flag_spelling.h"
#include "estimator/base/home_directory.h"
#include "estimator/base/interrupt.h"
#include "estimator/base/out_of_resources.h"
#include "estimator/base/standard_streams.h"
#include "estimator/base/strings.h"
#include "estimator/base/usage_error.h"
#include "estimator/base/version.h"

DEFINE_string(
    cpu_isa, "",
    "the newest instruction set to use: avx2, avx512, avx512_bf16 or amx; empty: what the "
    "CPU has");

// gflags calls this function instead of exit(). It is exported, but no header declares it. Debian
// builds gflags in the namespace `google`; its header makes `gflags` an alias of that.
namespace google {
extern void (*gflags_exitfunc)(int);
}  // namespace google

namespace estimator {
namespace {

bool HelpRequested(int argc, char** argv, bool takes_arguments) {
  if (takes_arguments && argc > 1 && absl::string_view(argv[1]) == "help") return true;
  for (int i = 1; i < argc; ++i) {
    const absl::string_view argument = argv[i];
    if (argument == "--help" || argument == "-help" || argument == "-h") return true;
  }
  return false;
}

// The default value as a user would write it. gflags would print 0.05 with 17 digits.
std::string DefaultOf(const gflags::CommandLineFlagInfo& flag) {
  double number = 0;
  if (flag.type == "string") return absl::StrCat("\"", flag.default_value, "\"");
  if (flag.type != "double" || !absl::SimpleAtod(flag.default_value, &number)) {
    return flag.default_value;
  }
  char text[32];
  for (const auto format : {std::chars_format::fixed, std::chars_format::general}) {
    const auto [end, error] = std::to_chars(text, text + sizeof(text), number, format);
    if (error == std::errc()) return {text, end};
  }
  return flag.default_value;
}

void PrintHelp(const char* program) {
  const std::string usage = gflags::ProgramUsage();
  if (!absl::StartsWith(usage, "Warning:")) std::printf("%s\n\n", usage.c_str());
  const char* const slash = std::strrchr(program, '/');
  std::printf("flags of %s (--helpfull lists all):\n", slash == nullptr ? program : slash + 1);
  std::vector<std::vector<std::string>> rows;
  for (const auto& flag : AllFlags()) {
    if (!IsOwnFlag(flag)) continue;
    rows.push_back({absl::StrCat("  --", flag.name), absl::StrCat(flag.type, " ", DefaultOf(flag)),
                    flag.description});
  }
  std::printf("%s", FormatTable(rows).c_str());
}

void InitializeLogging(const char* program) {
  // These set only defaults, so flags on the command line, such as --logtostderr=false, win.
  const auto set_default = [](const char* flag, const char* value) {
    gflags::SetCommandLineOptionWithMode(flag, value, gflags::SET_FLAGS_DEFAULT);
  };
  set_default("logtostderr", "true");
  set_default("log_year_in_prefix", "false");
  if (!google::IsGoogleLoggingInitialized()) google::InitGoogleLogging(program);
}

bool IsSet(const char* flag) {
  return gflags::GetCommandLineFlagInfoOrDie(flag).current_value == "true";
}

// gflags exits with 1 for a mistake and also for help; this tells the two apart. gflags reports
// mistakes first, and handles help flags last.
[[noreturn]] void ExitFromGflags(int code) {
  ExpectExit();
  const bool help = IsSet("helpfull") || IsSet("helpshort") || IsSet("helppackage") ||
                    IsSet("helpxml") || IsSet("version");
  std::exit(code == 0 || help ? 0 : kUsageExitCode);
}

// The command line with `~/` at the beginning of a path expanded, and with the meaning of each
// FlagSpelling. A shell leaves `~/` in --model_dir=~/run.
std::vector<char*> ExpandArguments(int argc, char** argv) {
  // The texts live until the process ends, as those of argv do: gflags and glog keep pointers.
  static auto* const expanded = new std::list<std::string>;
  std::vector<char*> arguments(argv, argv + argc);
  for (char*& argument : arguments) {
    const absl::string_view text = argument;
    const size_t equals = absl::StartsWith(text, "-") ? text.find('=') : 0;
    const size_t path = equals == 0 || equals == absl::string_view::npos ? 0 : equals + 1;
    const std::string whole =
        MeaningOfArgument(absl::StrCat(text.substr(0, path), ExpandHome(text.substr(path))));
    if (whole == text) continue;
    expanded->push_back(whole);
    argument = expanded->back().data();
  }
  arguments.push_back(nullptr);
  return arguments;
}

// The same for flags that a --flagfile or the environment set.
void ExpandHomeInFlags() {
  for (const auto& flag : AllFlags()) {
    if (flag.type != "string" || !IsOwnFlag(flag)) continue;
    const std::string path = ExpandHome(flag.current_value);
    if (path != flag.current_value) gflags::SetCommandLineOption(flag.name.c_str(), path.c_str());
  }
}

// For --version. A program may have a version of its own (gflags::SetVersionString).
void SetVersion() {
  static const std::string own = gflags::VersionString();
  gflags::SetVersionString(own.empty() ? absl::StrCat(kVersion, " (Estimator)")
                                       : absl::StrCat(own, " (Estimator ", kVersion, ")"));
}

absl::Status ApplyCpuIsaFlag() {
  return FLAGS_cpu_isa.empty() ? absl::OkStatus() : LimitCpuIsa(FLAGS_cpu_isa);
}

using Body = std::function<int(const std::vector<std::string>& arguments)>;

void PrintException(const std::exception& exception, absl::string_view hint) {
  const absl::Status status = absl::InternalError(
      absl::StrCat("the program did not catch an exception: ", exception.what(), hint));
  absl::FPrintF(stderr, "error: %s\n", status.ToString());
}

// Runs body and reports its exceptions. The user's code may throw, as map::at does.
int WithoutExceptions(const Body& body, const std::vector<std::string>& arguments,
                      int error_exit_code) {
  try {
    return body(arguments);
  } catch (const std::out_of_range& exception) {
    PrintException(exception,
                   "; \"map::at\" means that a map does not contain a name, for example of a "
                   "feature or a prediction (Get of an ArrayMap lists the names)");
  } catch (const std::exception& exception) {
    const absl::Status status = OutOfResourcesError(exception);
    if (status.ok()) {
      PrintException(exception, "");
    } else {
      absl::FPrintF(stderr, "error: %s\n", status.ToString());
    }
  }
  return error_exit_code;
}

// `bazel run` starts programs in a directory of its own. Relative paths must be relative to the
// user's directory.
void GoWhereTheUserIs() {
  const char* folder = getenv("BUILD_WORKING_DIRECTORY");
  if (folder != nullptr && chdir(folder) != 0) LOG(WARNING) << "cannot change to " << folder;
}

int RunProgram(int argc, char** argv, bool takes_arguments, const Body& body, int error_exit_code) {
  std::vector<char*> expanded = ExpandArguments(argc, argv);
  argv = expanded.data();
  if (HelpRequested(argc, argv, takes_arguments)) {
    PrintHelp(argv[0]);
    return 0;
  }
  const std::vector<std::string> problems = CommandLineProblems(argc, argv, takes_arguments);
  for (const std::string& problem : problems) absl::FPrintF(stderr, "%s\n", problem);
  if (!problems.empty()) return kUsageExitCode;

  google::gflags_exitfunc = ExitFromGflags;
  SetVersion();
  gflags::ParseCommandLineFlags(&argc, &argv, /*remove_flags=*/true);
  ExpandHomeInFlags();
  if (const absl::Status limit = ApplyCpuIsaFlag(); !limit.ok()) {
    absl::FPrintF(stderr, "flag --%s\n", limit.message());
    return kUsageExitCode;
  }
  InitializeLogging(argv[0]);
  InstallInterruptHandlers();
  InstallOutOfResourcesHandlers(error_exit_code);
  GoWhereTheUserIs();

  const int code = WithoutExceptions(body, {argv + 1, argv + argc}, error_exit_code);
  ExpectExit();
  google::FlushLogFiles(google::INFO);
  return code;
}

// Many programs print their result. A failed write to stdout, for example on a full disk, is an
// error.
int RunMain(int argc, char** argv, bool takes_arguments, const Body& body, int error_exit_code) {
  OpenClosedStandardStreams();
  const int code = RunProgram(argc, argv, takes_arguments, body, error_exit_code);
  std::cout.flush();
  const bool printed = std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout.good();
  if (printed) return code;
  absl::FPrintF(stderr, "error: cannot write to standard output; the output is lost\n");
  return std::max(code, error_exit_code);
}

}  // namespace

int Main(int argc, char** argv, const std::function<absl::Status()>& body) {
  const auto run = [&body](const std::vector<std::string>&) {
    const absl::Status status = body();
    if (status.ok() || IsFinishedEarly(status)) return 0;
    if (absl::IsCancelled(status) &&
        (InterruptRequested() || ExitCodeOf(status) == kInterruptedExitCode)) {
      absl::FPrintF(stderr, "stopped: %s\n", status.message());
      return kInterruptedExitCode;
    }
    const std::string text = status.ToString(absl::StatusToStringMode::kWithNoExtraData);
    absl::FPrintF(stderr, "error: %s\n", text);
    if (IsUsageError(status)) return kUsageExitCode;
    return ExitCodeOf(status).value_or(kErrorExitCode);
  };
  return RunMain(argc, argv, /*takes_arguments=*/false, run, kErrorExitCode);
}

int MainWithArguments(int argc, char** argv, const Body& body, int error_exit_code) {
  return RunMain(argc, argv, /*takes_arguments=*/true, body, error_exit_code);
}

}  // namespace estimator
