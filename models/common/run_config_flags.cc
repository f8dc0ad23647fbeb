#include "models/common/run_config_flags.h"

#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "estimator/base/file_system.h"
#include "estimator/base/path.h"
#include "estimator/base/remote/remote_file_system.h"
#include "estimator/base/usage_error.h"
#include "estimator/checkpoint/latest_checkpoint.h"
#include "models/common/group_flags.h"

DEFINE_string(model_dir, "", "folder of checkpoints and event files; empty: a temporary folder");

// The fields of RunConfig. The defaults are those of RunConfig, except for the seed.
DEFINE_int64(seed, 1, "seed of initial values, shuffling and dropout");
DEFINE_int64(save_checkpoints_steps, 0,
             "steps between checkpoints; if given, replaces --save_checkpoints_secs");
DEFINE_int64(save_checkpoints_secs, 600, "seconds between checkpoints");
DEFINE_int64(save_summary_steps, 100, "steps between summaries; 0: none");
DEFINE_int64(log_step_count_steps, 100, "steps between log lines; 0: none");
DEFINE_string(save_checkpoints_every, "",
              "as --save_checkpoints_steps, in any unit, such as \"1 epoch\" or \"10 minutes\"");
DEFINE_string(save_summary_every, "", "as --save_summary_steps, in any unit");
DEFINE_string(log_every, "", "as --log_step_count_steps, in any unit");
DEFINE_int64(examples_per_epoch, 0,
             "examples in an epoch, if the input does not know it; 0: not given");
DEFINE_string(
    on_input_change, "",
    "restart or fail: what to do if a run continues with another input; by default another "
    "pipeline restarts and other data fails");
DEFINE_int64(keep_checkpoint_max, 5, "number of checkpoints to keep; 0: all");
DEFINE_bool(async_checkpoint, true,
            "write checkpoints while training continues; false: training waits for them");
DEFINE_bool(check_kernels, false,
            "compare every op of every step with its reference kernel, and report the first that "
            "differs; slow");
DEFINE_string(
    conv_algorithm, "auto",
    "auto, direct (convolutions and f32 matrix products with the smallest rounding error) "
    "or winograd (convolutions, wherever a kernel supports the shape)");
DEFINE_string(compute_dtype, "float32",
              "float32 or bfloat16: the type in which matrix products are computed; variables, "
              "sums and losses are float32");
DEFINE_int64(accumulate_steps, 1,
             "batches whose gradients make one update, for batches that the memory does not hold");
DEFINE_string(
    average_weights, "",
    "evaluate and export averages of the weights: the decay of exponential averages, such "
    "as 0.999, or the first step and the period of stochastic weight averaging, such as "
    "1000:100");
DEFINE_bool(scale_learning_rate, false, "multiply the learning rate by the number of replicas");
DEFINE_string(plot_learning_rate, "",
              "a PNG file to draw the learning rate of the run in, before its first step");
DEFINE_string(find_learning_rate, "",
              "in place of the run: train with growing learning rates, draw the loss in this PNG "
              "file and suggest a rate");
DEFINE_bool(find_batch_size, false,
            "in place of the run: find the largest batch whose step the memory holds");
DEFINE_int64(overfit_batches, 0,
             "in place of the run: see whether the model learns so many batches by heart");
DEFINE_bool(summary, false,
            "in place of the run: print the layers, their shapes, parameters and FLOPs");
DEFINE_bool(dry_run, false,
            "do a part of everything, one step or batch each, and write nothing to model_dir or to "
            "files of results");
DEFINE_int32(max_compiled_shapes, 16,
             "the number of shapes of batches whose programs are kept; more are compiled again");
DEFINE_int64(num_sanity_val_steps, 2,
             "batches to evaluate before a long training, to see whether that works; 0: none");
DEFINE_string(disable_passes, "",
              "passes of the compiler to leave out, such as fuse_pool,choose_layouts; a name that "
              "does not exist is answered with the list");
DEFINE_bool(print_plan, false,
            "print the instructions of each program: kernels, layouts, shapes, bytes, FLOPs");
DEFINE_double(step_timeout_secs, 0,
              "end the run if a step, also a loop in it, takes longer than so many seconds; 0: "
              "never");
DEFINE_string(profile_steps, "",
              "steps of training, such as 10,20, whose times are written to "
              "model_dir/timeline-N.json");

// Of group_flags.cc.
DECLARE_int32(num_processes);
DECLARE_int32(world_size);

namespace estimator {
namespace {

// Returns the value as a user would write it: gflags prints 0.1 with all its digits.
std::string ValueOf(const std::string& flag) {
  const gflags::CommandLineFlagInfo info = gflags::GetCommandLineFlagInfoOrDie(flag.c_str());
  double number;
  if (info.type == "double" && absl::SimpleAtod(info.current_value, &number)) {
    return absl::StrCat(number);
  }
  return info.current_value;
}

bool IsChief() {
  const std::shared_ptr<ProcessGroup> group = GroupOfThisProcess();
  return group == nullptr || group->rank() == 0;
}

// A dry run predicts a batch only: the files of a real run must stay. Those of a run in several
// processes are the chief's. Exports are the Estimator's.
void DiscardResultFiles() {
  for (const char* flag : {"predict_csv", "submission_csv", "result_json"}) {
    gflags::CommandLineFlagInfo info;
    if (gflags::GetCommandLineFlagInfo(flag, &info) && !info.current_value.empty())
      gflags::SetCommandLineOption(flag, "/dev/null");
  }
}

constexpr absl::string_view kNameChars = "abcdefghijklmnopqrstuvwxyz0123456789_";

// The flag for a field of RunConfig or TPUConfig; empty if the program has none. Most have a flag
// of the same name.
std::string FlagOf(absl::string_view field) {
  gflags::CommandLineFlagInfo info;
  for (const absl::string_view flag :
       {field, absl::string_view(field == "iterations_per_loop" ? "iterations"
                                 : field == "check"             ? "tpu_check"
                                                                : "")}) {
    if (gflags::GetCommandLineFlagInfo(std::string(flag).c_str(), &info)) return info.name;
  }
  return "";
}

// The message of RunConfig::Validate with the names of flags. Names without "_" may be words, so
// they are left as they are, except at the beginning of a violation.
std::string NameFlagsOfValidate(absl::string_view message) {
  std::string text;
  bool first_word = true;
  while (!message.empty()) {
    const size_t length = std::min(message.find_first_not_of(kNameChars), message.size());
    const absl::string_view name = message.substr(0, length);
    const std::string flag =
        (absl::StrContains(name, '_') || first_word) && !absl::EndsWith(text, "-") ? FlagOf(name)
                                                                                   : "";
    absl::StrAppend(&text, flag.empty() ? name : absl::StrCat("--", flag));
    if (length > 0) first_word = false;
    message.remove_prefix(length);
    if (message.empty()) break;
    text += message[0];
    message.remove_prefix(1);
    first_word = first_word || absl::EndsWith(text, "; ") || absl::EndsWith(text, "Config: ");
  }
  return absl::StrReplaceAll(text, {{"RunConfig: ", ""},
                                    {"TPUConfig: ", ""},
                                    {", summary and --dry_run", ", --summary and --dry_run"}});
}

}  // namespace

bool FlagWasGiven(const char* flag) {
  return !gflags::GetCommandLineFlagInfoOrDie(flag).is_default;
}

std::ostream& ChiefOutput() {
  static std::ostream nowhere(nullptr);
  return IsChief() ? std::cout : nowhere;
}

RunConfig EstimatorRunConfigFromFlags() {
  RunConfig config;
  if (!FLAGS_model_dir.empty()) config.model_dir = FLAGS_model_dir;
  config.tf_random_seed = FLAGS_seed;
  if (FlagWasGiven("save_checkpoints_steps"))
    config.save_checkpoints_steps = FLAGS_save_checkpoints_steps;
  if (FlagWasGiven("save_checkpoints_secs"))
    config.save_checkpoints_secs = FLAGS_save_checkpoints_secs;
  const auto period = [](const std::string& text) {
    const absl::StatusOr<Period> parsed = Period::Parse(text);  // RequireRunConfigFlags checks it
    return parsed.ok() ? std::optional<Period>(*parsed) : std::nullopt;
  };
  config.save_checkpoints_every = period(FLAGS_save_checkpoints_every);
  config.save_summary_every = period(FLAGS_save_summary_every);
  config.log_every = period(FLAGS_log_every);
  if (FLAGS_examples_per_epoch != 0) config.examples_per_epoch = FLAGS_examples_per_epoch;
  if (FLAGS_on_input_change == "restart")
    config.on_input_change = RunConfig::OnInputChange::kRestart;
  if (FLAGS_on_input_change == "fail") config.on_input_change = RunConfig::OnInputChange::kFail;
  config.save_summary_steps = FLAGS_save_summary_steps;
  config.log_step_count_steps = FLAGS_log_step_count_steps;
  if (FLAGS_log_step_count_steps == 0) config.log_step_count_steps = std::nullopt;
  config.keep_checkpoint_max = FLAGS_keep_checkpoint_max;
  config.async_checkpoint = FLAGS_async_checkpoint;
  config.check_kernels = FLAGS_check_kernels;
  // RequireRunConfigFlags checks conv_algorithm and profile_steps, and Validate the passes.
  config.conv_algorithm = ParseConvAlgorithm(FLAGS_conv_algorithm).value_or(ConvAlgorithm::kAuto);
  // RequireRunConfigFlags refuses other names.
  if (FLAGS_compute_dtype == "bfloat16") config.compute_dtype = DType::kBfloat16;
  config.accumulate_steps = FLAGS_accumulate_steps;
  if (!FLAGS_average_weights.empty()) {  // RequireRunConfigFlags checks it
    const absl::StatusOr<AverageWeights> parsed = AverageWeights::Parse(FLAGS_average_weights);
    if (parsed.ok()) config.average_weights = *parsed;
  }
  config.scale_learning_rate = FLAGS_scale_learning_rate;
  config.plot_learning_rate = FLAGS_plot_learning_rate;
  config.find_learning_rate = FLAGS_find_learning_rate;
  config.find_batch_size = FLAGS_find_batch_size;
  config.overfit_batches = FLAGS_overfit_batches;
  config.summary = FLAGS_summary;
  config.dry_run = FLAGS_dry_run;
  config.max_compiled_shapes = FLAGS_max_compiled_shapes;
  config.num_sanity_val_steps = FLAGS_num_sanity_val_steps;
  config.disable_passes = ParsePassNames(FLAGS_disable_passes);
  config.print_plan = FLAGS_print_plan;
  config.step_timeout_secs = FLAGS_step_timeout_secs;
  if (const auto steps = StepRange::Parse(FLAGS_profile_steps); steps.ok())
    config.profile_steps = *steps;
  config.process_group = GroupOfThisProcess();
  config.peer_timeout_secs = PeerTimeoutSecsFromFlags();
  return config;
}

absl::Status RequireRunConfigFlags(const std::vector<FlagRequirement>& requirements,
                                   const std::function<absl::Status(const RunConfig&)>& validate) {
  std::vector<std::string> violations;
  for (const auto& [flag, holds, requirement, problem] : requirements) {
    if (holds) continue;
    violations.push_back(problem.empty() ? absl::StrCat("--", flag, " must be ", requirement,
                                                        ", given ", ValueOf(flag))
                                         : absl::StrCat("--", flag, ": ", problem));
  }
  absl::Status model_dir = CheckModelDir(FLAGS_model_dir);
  model_dir.Update(CheckWritableDirectory(FLAGS_model_dir));
  if (!FLAGS_model_dir.empty() && !model_dir.ok()) {
    violations.push_back(absl::StrCat("--model_dir: ", model_dir.message()));
  }
  for (const char* flag : {"save_checkpoints_every", "save_summary_every", "log_every"}) {
    const std::string text = ValueOf(flag);
    if (text.empty()) continue;
    const absl::Status parsed = Period::Parse(text).status();
    if (!parsed.ok()) violations.push_back(absl::StrCat("--", flag, ": ", parsed.message()));
  }
  if (const std::string& what = FLAGS_on_input_change;
      !what.empty() && what != "restart" && what != "fail") {
    violations.push_back(
        absl::StrCat("--on_input_change must be restart or fail, given \"", what, "\""));
  }
  if (const absl::Status parsed = ParseConvAlgorithm(FLAGS_conv_algorithm).status(); !parsed.ok())
    violations.push_back(absl::StrCat("--conv_algorithm ", parsed.message()));
  if (FLAGS_compute_dtype != "float32" && FLAGS_compute_dtype != "bfloat16") {
    violations.push_back(absl::StrCat("--compute_dtype must be float32 or bfloat16, given \"",
                                      FLAGS_compute_dtype, "\""));
  }
  if (const absl::Status parsed = FLAGS_average_weights.empty()
                                      ? absl::OkStatus()
                                      : AverageWeights::Parse(FLAGS_average_weights).status();
      !parsed.ok())
    violations.push_back(absl::StrCat("--", parsed.message()));
  for (const char* flag : {"plot_learning_rate", "find_learning_rate"}) {
    if (CanBeFile(ValueOf(flag))) continue;
    violations.push_back(absl::StrCat(
        "--", flag, " must be a file in a folder that can be written to, given ", ValueOf(flag)));
  }
  if (!FLAGS_profile_steps.empty()) {
    const absl::Status parsed = StepRange::Parse(FLAGS_profile_steps).status();
    if (!parsed.ok()) violations.push_back(absl::StrCat("--profile_steps: ", parsed.message()));
  }
  RunConfig run_config = EstimatorRunConfigFromFlags();
  if (FLAGS_log_step_count_steps < 0) {  // RunConfig has nullopt where the flag has 0
    violations.push_back(
        absl::StrCat("--log_step_count_steps must be >= 0 (0: no log lines), given ",
                     FLAGS_log_step_count_steps));
    run_config.log_step_count_steps = std::nullopt;
  }
  for (const std::string& problem : GroupFlagProblems()) violations.push_back(problem);
  if ((FLAGS_num_processes > 1 || FLAGS_world_size > 1) &&
      (run_config.dry_run || run_config.HasFinder())) {
    violations.push_back(
        "--dry_run and the finders work in one process: leave out --num_processes and "
        "--world_size");
  }
  const absl::Status config = validate(run_config);
  if (!config.ok()) violations.push_back(NameFlagsOfValidate(config.message()));
  if (violations.empty()) {
    EST_RETURN_IF_ERROR(StartOrJoinGroup());
    if (FLAGS_dry_run || !IsChief()) DiscardResultFiles();
    return absl::OkStatus();
  }
  return UsageError(absl::StrJoin(violations, "; "));
}

FlagRequirement StatusRequirement(const std::string& flag, const absl::Status& status) {
  return {flag, status.ok(), "", std::string(status.message())};
}

FlagRequirement TrainedModelRequirement(const std::string& flag, const std::string& model_dir) {
  std::vector<std::string> warnings;  // Estimator logs them
  const auto latest = LatestCheckpoint(model_dir, &warnings);
  return {flag, model_dir.empty() || !latest.ok() || latest->has_value(), "",
          absl::StrCat("Could not find trained model in model_dir: ", model_dir,
                       "; train first, or give the folder of a trained model")};
}

bool CanBeFolder(absl::string_view path) {
  return path.empty() || CheckWritableDirectory(path).ok();
}

bool CanBeFile(absl::string_view path) {
  if (path.empty()) return true;
  const absl::string_view dirname = Dirname(path), folder = dirname.empty() ? "." : dirname;
  // A remote folder appears with its first file.
  const bool has_folder = IsDirectory(folder) || IsRemotePath(folder);
  return !IsDirectory(path) && has_folder && CheckWritableDirectory(folder).ok();
}

}  // namespace estimator
