// Lists, compares, converts and verifies checkpoints of TensorFlow and of this framework. `--help`
// shows the commands. Every command streams: memory does not grow with the size of a variable.
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "estimator/base/file.h"
#include "estimator/base/status.h"
#include "estimator/checkpoint/checkpoint_state.h"
#include "estimator/checkpoint/latest_checkpoint.h"
#include "estimator/checkpoint/load.h"
#include "gflags/gflags.h"
#include "tools/checkpoint/arguments.h"
#include "tools/checkpoint/average.h"
#include "tools/checkpoint/diff.h"
#include "tools/checkpoint/inspect.h"
#include "tools/checkpoint/rewrite.h"
#include "tools/commands/commands.h"

DEFINE_string(include, "", "only variables in whose name this regular expression is found");
DEFINE_string(exclude, "", "no variables in whose name this regular expression is found");
DEFINE_double(rtol, 0, "diff: relative tolerance, of the value in B");
DEFINE_double(atol, 0, "diff: absolute tolerance");
DEFINE_bool(ignore_dtype, false, "diff: compare numbers of different dtypes");
DEFINE_string(map, "",
              "rename: old=new,old2=new2, or a file with one old=new per line; "
              "names are those of variables or scopes");
DEFINE_string(to, "float32",
              "cast: the new dtype: float32, bfloat16, float16, float64, int32 or int64");
DEFINE_string(from, "",
              "cast: only variables of these dtypes, such as bfloat16,float16; empty: all floating "
              "dtypes, or for an integer --to all integer dtypes");
DEFINE_bool(force, false, "replace an existing checkpoint");

namespace estimator {
namespace {

constexpr char kUsage[] =
    R"(checkpoint COMMAND CHECKPOINT ... [flags]

  list     C              lists the variables                       --include --exclude
  show     C NAME ...     shows type, place, statistics and values of variables
  diff     A B            compares two checkpoints                  --rtol --atol --ignore_dtype
                                                                    --include --exclude
  verify   C              checks every crc32c, and the files beside the checkpoint (C.input, C.meta)
  rename   C OUT          copies with other names; slots follow     --map --force
                          their variable
  cast     C OUT          copies in another floating dtype, or      --to --from --include --exclude
                          integers as int32 or int64                --force
                          (--to=int32 --include='^global_step$')
  average  A B ... OUT    writes the mean of floating variables     --force
  extract  C OUT NAME ... copies some variables                     --include --exclude --force
  convert  C OUT          copies into today's format, or with an    --include --exclude --force
                          OUT that ends in .h5 the weights for
                          Keras

rename, cast and convert copy the input position (C.input); average and extract do not. No command
copies the graph (C.meta).

A CHECKPOINT is a prefix (DIR/model.ckpt-100), a model directory (its newest checkpoint), a
SavedModel, or a file of Keras (.h5, .keras). diff and verify continue after damage, to report all
of it. In a model directory they read the checkpoint that the file `checkpoint` names, even if it is
damaged; other commands fall back to an older checkpoint with a warning.

Exit codes:
  0  success
  1  diff found a difference, or verify found damage
  2  an error, or diff found damage)";

using Reader = std::unique_ptr<BundleReader>;

NameFilter Filter() { return {.include = FLAGS_include, .exclude = FLAGS_exclude}; }

absl::StatusOr<int> RunList(const Arguments& arguments) {
  EST_ASSIGN_OR_RETURN(const Reader reader, LoadCheckpoint(arguments[0]));
  return PrintText(List(*reader, Filter()));
}

absl::StatusOr<int> RunShow(const Arguments& arguments) {
  EST_ASSIGN_OR_RETURN(const Reader reader, LoadCheckpoint(arguments[0]));
  for (size_t i = 1; i < arguments.size(); ++i) {
    EST_RETURN_IF_ERROR(PrintText(Show(*reader, arguments[i])).status());
  }
  return 0;
}

// For a model directory, returns the checkpoint that the state file names as the newest, even if it
// is damaged or missing. LoadCheckpoint would fall back to another checkpoint, about which the user
// did not ask.
absl::StatusOr<std::string> PrefixWithoutGoingBack(const std::string& argument) {
  EST_ASSIGN_OR_RETURN(const bool is_directory, DirectoryExists(argument));
  if (!is_directory) return CheckpointPrefix(argument);
  const auto state = GetCheckpointState(argument);
  if (state.ok()) return state->model_checkpoint_path;
  if (absl::IsNotFound(state.status())) return CheckpointPrefix(argument);  // a SavedModel
  return state.status();
}

// Whether a training run has deleted the checkpoint since, because it saved a newer one.
bool WasReplaced(const std::string& argument, const std::string& prefix) {
  if (!IsDirectory(argument) || CheckpointModifiedTimeSeconds(prefix) != 0) return false;
  const absl::StatusOr<std::string> newest = PrefixWithoutGoingBack(argument);
  return newest.ok() && *newest != prefix;
}

absl::StatusOr<Reader> LoadWithoutGoingBack(const std::string& argument) {
  EST_ASSIGN_OR_RETURN(const std::string prefix, PrefixWithoutGoingBack(argument));
  auto reader = BundleReader::Open(prefix);
  if (reader.ok() || !IsDirectory(argument)) return reader;
  if (WasReplaced(argument, prefix)) return LoadWithoutGoingBack(argument);
  return absl::Status(
      reader.status().code(),
      absl::StrCat("the newest checkpoint of ", argument, ", ", Basename(prefix),
                   ", cannot be compared: ", reader.status().message(),
                   ". To compare an older one, pass its prefix instead of the directory"));
}

absl::StatusOr<int> RunDiff(const Arguments& arguments) {
  EST_ASSIGN_OR_RETURN(const Reader a, LoadWithoutGoingBack(arguments[0]));
  EST_ASSIGN_OR_RETURN(const Reader b, LoadWithoutGoingBack(arguments[1]));
  EST_ASSIGN_OR_RETURN(const DiffReport report, Diff(*a, *b,
                                                     {.rtol = FLAGS_rtol,
                                                      .atol = FLAGS_atol,
                                                      .ignore_dtype = FLAGS_ignore_dtype,
                                                      .filter = Filter()}));
  for (const std::string& damage : report.damage) std::printf("%s\n", damage.c_str());
  std::fputs(report.text.c_str(), stdout);
  if (!report.damage.empty()) return kCommandErrorExitCode;
  return report.equal ? 0 : kFoundExitCode;
}

absl::StatusOr<int> RunVerify(const Arguments& arguments) {
  EST_ASSIGN_OR_RETURN(const std::string prefix, PrefixWithoutGoingBack(arguments[0]));
  const absl::StatusOr<VerifyReport> verified = Verify(prefix);
  if (WasReplaced(arguments[0], prefix)) return RunVerify(arguments);
  EST_ASSIGN_OR_RETURN(const VerifyReport report, verified);
  for (const std::string& damage : report.damage) std::printf("%s\n", damage.c_str());
  std::fputs(report.summary.c_str(), stdout);
  return report.damage.empty() ? 0 : kFoundExitCode;
}

absl::StatusOr<int> RunRename(const Arguments& arguments) {
  EST_ASSIGN_OR_RETURN(const NameMap map, NameMap::Parse(FLAGS_map));
  EST_ASSIGN_OR_RETURN(const Reader reader, LoadCheckpoint(arguments[0]));
  EST_RETURN_IF_ERROR(PrepareOutput(arguments[1], FLAGS_force));
  return PrintText(Rename(*reader, map, arguments[1]));
}

absl::StatusOr<DType> CastDType(absl::string_view flag, const std::string& name) {
  const auto dtype = DTypeFromName(name);
  if (dtype.ok() && IsCastDType(*dtype)) return *dtype;
  return InvalidArgument("--", flag, "=", name,
                         " is not one of float32, bfloat16, float16, float64, int32, int64");
}

absl::StatusOr<int> RunCast(const Arguments& arguments) {
  CastOptions options{.filter = Filter()};
  EST_ASSIGN_OR_RETURN(options.to, CastDType("to", FLAGS_to));
  for (const auto name : absl::StrSplit(FLAGS_from, ',', absl::SkipEmpty())) {
    EST_ASSIGN_OR_RETURN(const DType from, CastDType("from", std::string(name)));
    options.from.push_back(from);
  }
  EST_ASSIGN_OR_RETURN(const Reader reader, LoadCheckpoint(arguments[0]));
  EST_RETURN_IF_ERROR(PrepareOutput(arguments[1], FLAGS_force));
  return PrintText(Cast(*reader, options, arguments[1]));
}

absl::StatusOr<int> RunAverage(const Arguments& arguments) {
  std::vector<Reader> readers;
  for (size_t i = 0; i + 1 < arguments.size(); ++i) {
    EST_ASSIGN_OR_RETURN(Reader reader, LoadCheckpoint(arguments[i]));
    readers.push_back(std::move(reader));
  }
  EST_RETURN_IF_ERROR(PrepareOutput(arguments.back(), FLAGS_force));
  return PrintText(Average(readers, arguments.back()));
}

absl::StatusOr<int> RunExtract(const Arguments& arguments) {
  EST_ASSIGN_OR_RETURN(const Reader reader, LoadCheckpoint(arguments[0]));
  EST_RETURN_IF_ERROR(PrepareOutput(arguments[1], FLAGS_force));
  return PrintText(
      Extract(*reader, {arguments.begin() + 2, arguments.end()}, Filter(), arguments[1]));
}

absl::StatusOr<int> RunConvert(const Arguments& arguments) {
  EST_ASSIGN_OR_RETURN(const Reader reader, LoadCheckpoint(arguments[0]));
  EST_RETURN_IF_ERROR(PrepareOutput(arguments[1], FLAGS_force));
  return PrintText(Convert(*reader, Filter(), arguments[1]));
}

std::vector<Command> Commands() {
  return {
      {"list", "CHECKPOINT", 1, 1, FlagNames("include exclude"), RunList,
       "--include=EXPRESSION selects variables; `show CHECKPOINT NAME ...` shows their values"},
      {"show",
       "CHECKPOINT NAME ...",
       2,
       kManyArguments,
       {},
       RunShow,
       "`list CHECKPOINT` shows the names"},
      {"diff", "A B", 2, 2, FlagNames("rtol atol ignore_dtype include exclude"), RunDiff},
      {"verify", "CHECKPOINT", 1, 1, {}, RunVerify},
      {"rename", "CHECKPOINT OUTPUT --map=OLD=NEW", 2, 2, FlagNames("map force"), RunRename},
      {"cast", "CHECKPOINT OUTPUT --to=DTYPE", 2, 2, FlagNames("to from include exclude force"),
       RunCast},
      {"average", "A B ... OUTPUT", 3, kManyArguments, FlagNames("force"), RunAverage,
       "the last one is the output"},
      {"extract", "CHECKPOINT OUTPUT NAME ...", 2, kManyArguments,
       FlagNames("include exclude force"), RunExtract, "`list CHECKPOINT` shows the names"},
      {"convert", "CHECKPOINT OUTPUT", 2, 2, FlagNames("include exclude force"), RunConvert},
  };
}

}  // namespace
}  // namespace estimator

int main(int argc, char** argv) {
  return estimator::CommandMain(argc, argv, estimator::kUsage, "checkpoint", estimator::Commands());
}
