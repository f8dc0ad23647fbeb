#include "estimator/training/loop/run_config.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "estimator/base/status.h"

namespace estimator {

absl::Status RunConfig::Validate() const {
  // One error names all fields, so that a user can correct them at once.
  std::vector<std::string> violations;
  const auto at_least = [&](absl::string_view field, const std::optional<int64_t>& value,
                            int64_t least) {
    if (value.has_value() && *value < least) {
      violations.push_back(absl::StrCat(field, " must be >= ", least, ", given ", *value));
    }
  };
  if (model_dir.has_value() && model_dir->empty()) {
    violations.push_back("model_dir must be non-empty when it is given");
  }
  // 0 turns summaries or checkpoints off, as in TensorFlow.
  at_least("save_summary_steps", save_summary_steps, 0);
  at_least("save_checkpoints_steps", save_checkpoints_steps, 0);
  at_least("save_checkpoints_secs", save_checkpoints_secs, 0);
  at_least("keep_checkpoint_max", keep_checkpoint_max, 0);
  if (log_step_count_steps.has_value() && *log_step_count_steps < 1) {
    violations.push_back(
        absl::StrCat("log_step_count_steps must be >= 1, or nullopt for no log lines, given ",
                     *log_step_count_steps));
  }
  if (save_checkpoints_steps.has_value() && save_checkpoints_secs.has_value()) {
    violations.push_back("save_checkpoints_steps and save_checkpoints_secs cannot be both set");
  }
  if (save_checkpoints_every.has_value() &&
      (save_checkpoints_steps.has_value() || save_checkpoints_secs.has_value())) {
    violations.push_back(
        "save_checkpoints_every cannot be set with save_checkpoints_steps or "
        "save_checkpoints_secs");
  }
  const auto positive = [&](absl::string_view field, const std::optional<Period>& period) {
    if (period.has_value() && !(period->value() > 0))
      violations.push_back(absl::StrCat(field, " must be > 0, given ", period->ToString()));
  };
  positive("save_checkpoints_every", save_checkpoints_every);
  positive("save_summary_every", save_summary_every);
  positive("log_every", log_every);
  at_least("examples_per_epoch", examples_per_epoch, 1);
  at_least("accumulate_steps", accumulate_steps, 1);
  at_least("max_compiled_shapes", max_compiled_shapes, 1);
  at_least("overfit_batches", overfit_batches, 0);
  at_least("num_sanity_val_steps", num_sanity_val_steps, 0);
  if (!find_learning_rate.empty() && !absl::EndsWith(find_learning_rate, ".png")) {
    violations.push_back(absl::StrCat("find_learning_rate must be the name of a .png file, given ",
                                      find_learning_rate));
  }
  if (!find_learning_rate.empty() + find_batch_size + (overfit_batches > 0) + summary + dry_run > 1)
    violations.push_back(
        "only one of find_learning_rate, find_batch_size, overfit_batches, summary and dry_run can "
        "be set, because each ends the program or changes what it does");
  // Written so that it also refuses NaN.
  if (!(keep_checkpoint_every_n_hours > 0)) {
    violations.push_back(absl::StrCat("keep_checkpoint_every_n_hours must be > 0, given ",
                                      keep_checkpoint_every_n_hours));
  }
  if (!(step_timeout_secs >= 0)) {
    violations.push_back(absl::StrCat("step_timeout_secs must be >= 0, given ", step_timeout_secs));
  }
  if (!(peer_timeout_secs > 0)) {
    violations.push_back(absl::StrCat("peer_timeout_secs must be > 0, given ", peer_timeout_secs));
  }
  if (process_group != nullptr && process_group->size() > 1 && (HasFinder() || dry_run)) {
    violations.push_back(
        "find_learning_rate, find_batch_size, overfit_batches, summary and dry_run work in one "
        "process; leave out process_group");
  }
  if (compute_dtype != DType::kFloat32 && compute_dtype != DType::kBfloat16) {
    violations.push_back(absl::StrCat("compute_dtype must be float32 or bfloat16, given ",
                                      DTypeName(compute_dtype)));
  }
  for (const absl::Status& status :
       {CheckPassNames(disable_passes),
        average_weights.has_value() ? average_weights->Validate() : absl::OkStatus(),
        profile_steps.has_value() ? profile_steps->Validate("profile_steps") : absl::OkStatus()}) {
    if (!status.ok()) violations.emplace_back(status.message());
  }
  if (violations.empty()) return absl::OkStatus();
  return InvalidArgument("RunConfig: ", absl::StrJoin(violations, "; "));
}

CompileOptions WithRunConfig(CompileOptions options, const RunConfig& config) {
  options.check_kernels |= config.check_kernels;
  options.print_plan |= config.print_plan;
  // A default of RunConfig does not undo what `options` already ask for.
  if (config.conv_algorithm != ConvAlgorithm::kAuto) options.conv_algorithm = config.conv_algorithm;
  if (config.compute_dtype != DType::kFloat32) options.compute_dtype = config.compute_dtype;
  if (config.step_timeout_secs != 0) options.step_timeout_secs = config.step_timeout_secs;
  options.disable_passes.insert(options.disable_passes.end(), config.disable_passes.begin(),
                                config.disable_passes.end());
  return options;
}

}  // namespace estimator
