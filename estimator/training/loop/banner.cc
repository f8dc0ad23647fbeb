#include "estimator/training/loop/banner.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "estimator/base/path.h"
#include "estimator/base/saturating.h"
#include "estimator/base/strings.h"
#include "estimator/training/hooks/planned_work.h"
#include "glog/logging.h"

namespace estimator {

namespace {

std::string Start(const TrainingBanner& banner) {
  // Without checkpoints, another call of Train continues from the step in memory.
  if (banner.checkpoint.empty() && banner.start_step == 0) return "a new run";
  std::string text = absl::StrCat("continues after step ", banner.start_step);
  if (banner.fell_back && !banner.checkpoint.empty()) {
    absl::StrAppend(&text, ", from ", Basename(banner.checkpoint),
                    " (the warning above says why this one)");
  }
  return text;
}

std::string EverySteps(int64_t steps) {
  return absl::StrCat("every ", steps, steps == 1 ? " step" : " steps");
}

std::string Every(const StepsOrSeconds& cadence) {
  return cadence.every_steps.has_value() ? EverySteps(*cadence.every_steps)
                                         : absl::StrCat("every ", *cadence.every_secs, " seconds");
}

// The plan of the program that calls Train, if a hook has one.
ProgramPlan PlanOfProgram(const Hooks& hooks) {
  for (const auto& hook : hooks) {
    if (const auto* const plan = dynamic_cast<const ProgramPlanHook*>(hook.get()))
      return plan->plan();
  }
  return {};
}

// "; an evaluation every 1000 steps (5 in all)".
std::string EvaluationsOfProgram(const ProgramPlan& program, int64_t start_step, int64_t end_step) {
  if (program.steps_per_eval <= 0) return "";
  if (end_step == std::numeric_limits<int64_t>::max()) return "; an evaluation at the end";
  const int64_t count =
      std::max(int64_t{1}, CeilOfRatio(end_step - start_step, program.steps_per_eval));
  if (count == 1) return absl::StrCat("; an evaluation at step ", end_step);
  return absl::StrCat("; an evaluation ", EverySteps(program.steps_per_eval), " (", count,
                      " in all)");
}

// "a", "a and b", "a, b and c".
std::string Enumeration(const std::vector<std::string>& parts) {
  if (parts.size() < 2) return absl::StrJoin(parts, "");
  return absl::StrCat(absl::StrJoin(parts.begin(), parts.end() - 1, ", "), " and ", parts.back());
}

}  // namespace

std::string FormatPlan(const InputSizes& sizes, const TrainIntervals& intervals,
                       const SavingListeners& listeners, const Hooks& hooks, int64_t steps_per_run,
                       int64_t start_step, int64_t target_step) {
  const ProgramPlan program = PlanOfProgram(hooks);
  // A program that calls Train several times trains beyond the target of its first call.
  target_step = std::max(target_step, program.train_steps);
  std::string plan;
  if (target_step == std::numeric_limits<int64_t>::max()) {
    plan = absl::StrCat("steps ", start_step, " to the end of the input");
  } else {
    plan = absl::StrCat("steps ", start_step, " to ", target_step);
    const double examples = static_cast<double>(target_step - start_step) *
                            static_cast<double>(sizes.examples_per_step);
    if (sizes.examples_per_epoch > 0 && examples > 0) {
      const std::string epochs =
          absl::StrFormat("%.3g", examples / static_cast<double>(sizes.examples_per_epoch));
      absl::StrAppend(&plan, ", ", epochs, epochs == "1" ? " epoch of " : " epochs of ",
                      sizes.examples_per_epoch, " examples");
    }
  }
  absl::StrAppend(&plan, EvaluationsOfProgram(program, start_step, target_step));
  for (const auto& hook : hooks) {
    const auto* const work = dynamic_cast<const PlannedWork*>(hook.get());
    const std::string text = work == nullptr ? "" : work->DescribePlan(steps_per_run);
    if (!text.empty()) absl::StrAppend(&plan, "; ", text);
  }
  if (intervals.checkpoints.has_value()) {
    absl::StrAppend(&plan, "; a checkpoint ", Every(*intervals.checkpoints));
    for (const auto& listener : listeners) {
      const std::string text = listener == nullptr ? "" : listener->Describe();
      if (!text.empty()) absl::StrAppend(&plan, ", then ", text);
    }
  } else {
    absl::StrAppend(&plan, "; no checkpoints");
  }
  if (intervals.summaries.has_value())
    absl::StrAppend(&plan, "; summaries ", Every(*intervals.summaries));
  if (!program.afterwards.empty())
    absl::StrAppend(&plan, "; afterwards ", Enumeration(program.afterwards));
  return plan;
}

std::string FormatTrainingBanner(const TrainingBanner& banner) {
  int64_t num_parameters = 0;
  int num_variables = 0;
  for (const Variable& variable : banner.model.graph->TrainableVariables()) {
    num_parameters += variable.shape().num_elements();
    ++num_variables;
  }
  const int replicas = banner.info.num_replicas;
  // What is accumulated runs as replicas do.
  const int64_t accumulated = banner.config.accumulate_steps, cores = replicas / accumulated;
  std::string batch = absl::StrCat(banner.sizes.examples_per_step);
  if (replicas > 1) {
    absl::StrAppend(&batch, " (",
                    accumulated > 1 ? absl::StrCat(accumulated, " accumulated x ") : "",
                    cores > 1 ? absl::StrCat(cores, " x ") : "", banner.model.batch_size, ")");
  }
  const std::string backend = accumulated == 1 ? banner.backend
                              : cores == 1     ? "CPU"
                                               : absl::StrCat(cores, " in-process replicas");
  // The second arena and the derived values exist once for all replicas.
  const int64_t memory = banner.info.planned_peak_bytes * replicas +
                         banner.info.planned_shared_bytes + banner.info.planned_derived_bytes;
  std::vector<std::vector<std::string>> rows = {
      {"backend:", backend},
      {"batch:", batch},
      {"parameters:", absl::StrCat(HumanCount(static_cast<double>(num_parameters)), " in ",
                                   num_variables, " variables")},
      {"memory:", absl::StrCat(HumanBytes(memory), " planned for a step")},
      {"program:", absl::StrCat(banner.info.num_instructions, " instructions, ",
                                banner.info.num_fused_nodes, " ops fused")},
      {"seed:", banner.config.tf_random_seed ? absl::StrCat(*banner.config.tf_random_seed)
                                             : "the fixed default"},
      {"input:", banner.input.pipeline},
      {"model_dir:", banner.config.model_dir.value_or("")},
      {"start:", Start(banner)},
      {"plan:",
       FormatPlan(banner.sizes, banner.intervals, banner.saving_listeners, banner.user_hooks,
                  banner.steps_per_run, banner.start_step, banner.target_step)},
  };
  if (banner.config.scale_learning_rate) {
    rows.insert(rows.begin() + 2, {"learning rate:", absl::StrCat("that of the optimizer times ",
                                                                  banner.model.learning_rate_scale,
                                                                  ", the number of replicas")});
  }
  return FormatTable(rows);
}

void LogTrainingBanner(const TrainingBanner& banner) {
  LOG(INFO) << "Training\n" << FormatTrainingBanner(banner);
  if (banner.input.advice == nullptr) return;
  for (const std::string& advice : banner.input.advice()) LOG(INFO) << "Input: " << advice;
}

}  // namespace estimator
