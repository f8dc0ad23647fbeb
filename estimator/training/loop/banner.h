// The training banner: the settings of a run, logged before its first step.
#ifndef ESTIMATOR_TRAINING_LOOP_BANNER_H_
#define ESTIMATOR_TRAINING_LOOP_BANNER_H_

#include <cstdint>
#include <string>

#include "estimator/runtime/backend.h"
#include "estimator/training/hooks/hook.h"
#include "estimator/training/input/feeder.h"
#include "estimator/training/loop/default_hooks.h"
#include "estimator/training/loop/run_config.h"
#include "estimator/training/model/built_model.h"

namespace estimator {

struct TrainingBanner {
  std::string backend;  // Backend::name
  int64_t steps_per_run = 1;
  const RunConfig& config;
  const BuiltModel& model;
  const ExecutableInfo& info;
  const InputDescription& input;
  InputSizes sizes;
  TrainIntervals intervals;
  const SavingListeners& saving_listeners;
  const Hooks& user_hooks;
  int64_t start_step = 0;
  int64_t target_step = 0;      // INT64_MAX: the input's end
  std::string checkpoint = "";  // that was restored; empty: a new run, or variables in memory
  bool fell_back = false;       // whether it is not the one that the state file names
};

// What a run will do: "steps 0 to 1000, 17.1 epochs of 60000 examples; a checkpoint every 100
// steps, then an evaluation; summaries every 100 steps".
//   hooks: the user's; those with a base class of planned_work.h add to the plan. With a
//     ProgramPlanHook it is the plan of all calls of Train.
//   target_step: INT64_MAX: the input's end.
std::string FormatPlan(const InputSizes& sizes, const TrainIntervals& intervals,
                       const SavingListeners& listeners, const Hooks& hooks, int64_t steps_per_run,
                       int64_t start_step, int64_t target_step);
// Lines of "name: value": backend, replicas and batch, parameters, planned memory, seed, input,
// files, plan.
std::string FormatTrainingBanner(const TrainingBanner& banner);
// Logs the banner, and what would make the input better (Dataset::Advice).
void LogTrainingBanner(const TrainingBanner& banner);

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_LOOP_BANNER_H_
