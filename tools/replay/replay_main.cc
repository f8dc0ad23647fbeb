#include "tools/replay/replay_main.h"

#include <gflags/gflags.h>

#include <iostream>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "estimator/base/file.h"
#include "estimator/base/main.h"
#include "estimator/base/status.h"
#include "estimator/base/strings.h"
#include "estimator/base/usage_error.h"
#include "tools/replay/replay.h"

DEFINE_string(case, "",
              "the case to replay; empty: the case with the name of --folder, or without --folder "
              "all cases of this program");
DEFINE_string(folder, "", "the case's reference; empty: the folder of its name in --reference_dir");
DEFINE_string(reference_dir, "testdata/reference", "the folder with the references of the cases");
DEFINE_int64(steps, 0, "number of steps to replay; 0: all");
DEFINE_double(rtol, -1,
              "tolerance of losses, forward tensors and predictions; -1: the reference's");
DEFINE_double(variable_rtol, -1,
              "tolerance of gradients, variables and slots; -1: ten times --rtol if that is given, "
              "else the reference's");
DEFINE_double(atol, -1, "absolute tolerance, added to the others; -1: the reference's");
DEFINE_int32(num_shards, 1, "number of in-process replicas to run on");
DEFINE_bool(check_kernels, false, "also compare every kernel with its reference kernel");
DEFINE_string(conv_algorithm, "auto", "auto, direct or winograd, as RunConfig.conv_algorithm");
DEFINE_string(disable_passes, "", "passes of the compiler to leave out, separated by commas");
DEFINE_bool(
    profile, false,
    "also print how long each op of a step takes, and which run the one-thread kernels of the "
    "reference tier; needs at least 2 steps");
DEFINE_bool(losses, false, "also print the losses of all steps beside the reference's");
DEFINE_bool(list, false, "only print the names of the cases");

namespace estimator::replay {
namespace {

// Returns the cases to replay. Appends errors of the flags that choose them to `problems`.
std::vector<std::string> ChosenCases(const std::map<std::string, Model>& models,
                                     std::vector<std::string>* problems) {
  std::vector<std::string> names;
  for (const auto& [name, model] : models) names.push_back(name);
  if (!FLAGS_case.empty()) {
    if (models.count(FLAGS_case) > 0) return {FLAGS_case};
    problems->push_back(absl::StrCat("--case=", FLAGS_case, " is not known",
                                     DidYouMean(FLAGS_case, names),
                                     "; the cases are: ", absl::StrJoin(names, ", ")));
  } else if (!FLAGS_folder.empty() && names.size() > 1) {
    const std::string name(Basename(absl::StripSuffix(FLAGS_folder, "/")));
    if (models.count(name) > 0) return {name};
    problems->push_back(absl::StrCat(
        "--folder is the reference of one case, and no case has the folder's name ", name,
        DidYouMean(name, names), ": pass --case, one of ", absl::StrJoin(names, ", ")));
  }
  return names;
}

std::optional<double> Tolerance(double flag) {
  return flag < 0 ? std::nullopt : std::optional<double>(flag);
}

ReplayOptions OptionsFromFlags() {
  ReplayOptions options;
  if (FLAGS_steps != 0) options.num_steps = FLAGS_steps;
  options.rtol = Tolerance(FLAGS_rtol);
  options.variable_rtol = Tolerance(FLAGS_variable_rtol);
  if (FLAGS_variable_rtol < 0 && FLAGS_rtol >= 0) options.variable_rtol = 10 * FLAGS_rtol;
  options.atol = Tolerance(FLAGS_atol);
  options.num_shards = FLAGS_num_shards;
  options.compile_options.check_kernels = FLAGS_check_kernels;
  options.compile_options.conv_algorithm =
      ParseConvAlgorithm(FLAGS_conv_algorithm).value_or(ConvAlgorithm::kAuto);
  options.compile_options.disable_passes = ParsePassNames(FLAGS_disable_passes);
  options.profile = FLAGS_profile;
  return options;
}

// Checks the flags that are not names of cases. -1 means the value of the reference; other negative
// numbers are mistakes.
void CheckValues(std::vector<std::string>* problems) {
  const std::pair<const char*, double> tolerances[] = {
      {"rtol", FLAGS_rtol}, {"variable_rtol", FLAGS_variable_rtol}, {"atol", FLAGS_atol}};
  for (const auto& [flag, value] : tolerances) {
    if (value >= 0 || value == -1) continue;
    problems->push_back(
        absl::StrCat("--", flag, " must be >= 0, or -1 for the reference's, given ", value));
  }
  if (const absl::Status parsed = ParseConvAlgorithm(FLAGS_conv_algorithm).status(); !parsed.ok())
    problems->push_back(absl::StrCat("--conv_algorithm ", parsed.message()));
  if (const absl::Status known = CheckPassNames(ParsePassNames(FLAGS_disable_passes)); !known.ok())
    problems->push_back(absl::StrCat("--disable_passes: ", known.message()));
  if (FLAGS_steps < 0)
    problems->push_back(absl::StrCat("--steps must be > 0, or 0 for all, given ", FLAGS_steps));
  if (FLAGS_num_shards < 1)
    problems->push_back(absl::StrCat("--num_shards must be > 0, given ", FLAGS_num_shards));
}

absl::Status Run(const std::map<std::string, Model>& models) {
  std::vector<std::string> problems;
  CheckValues(&problems);
  const std::vector<std::string> cases = ChosenCases(models, &problems);
  if (!FLAGS_list && FLAGS_folder.empty() && !IsDirectory(FLAGS_reference_dir)) {
    problems.push_back(absl::StrCat("--reference_dir: there is no folder ", FLAGS_reference_dir,
                                    "; pass the path of the project's testdata/reference"));
  }
  if (!problems.empty()) return UsageError(absl::StrJoin(problems, "; "));
  if (FLAGS_list) {
    std::cout << absl::StrJoin(cases, "\n") << "\n";
    return absl::OkStatus();
  }
  std::vector<std::string> differing;
  for (const std::string& name : cases) {
    const std::string folder =
        FLAGS_folder.empty() ? JoinPath(FLAGS_reference_dir, name) : FLAGS_folder;
    const absl::StatusOr<ReplayReport> report = Replay(models.at(name), folder, OptionsFromFlags());
    if (!report.ok()) return Annotate(report.status(), name);
    std::cout << report->ToString() << std::endl;
    if (FLAGS_losses) std::cout << report->LossTable() << std::endl;
    if (!report->op_table.empty()) std::cout << report->op_table << std::endl;
    if (!report->ok()) differing.push_back(name);
  }
  if (differing.empty()) return absl::OkStatus();
  return FailedPrecondition(differing.size(), " of ", cases.size(),
                            " differ from the reference: ", absl::StrJoin(differing, ", "));
}

}  // namespace

int ReplayMain(int argc, char** argv, const std::map<std::string, Model>& models) {
  return Main(argc, argv, [&models] { return Run(models); });
}

}  // namespace estimator::replay
