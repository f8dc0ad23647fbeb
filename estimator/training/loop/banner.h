// The training banner: the settings of a run, logged before its first step.
#ifndef ESTIMATOR_TRAINING_LOOP_BANNER_H_
#define ESTIMATOR_TRAINING_LOOP_BANNER_H_

#include <cstdint>
#include <string>

#include "estimator/runtime/backend.h"
#include "estimator/training/loop/run_config.h"
#include "estimator/training/model/built_model.h"
#include "estimator/training/model/strategy.h"

namespace estimator {

struct TrainingBanner {
  const Strategy& strategy;
  const RunConfig& config;
  const BuiltModel& model;
  const ExecutableInfo& info;
  std::string input;
  int64_t examples_per_step = 0;
  int64_t start_step = 0;
  std::string checkpoint = "";  // that was restored; empty: a new run, or variables in memory
  bool fell_back = false;       // whether it is not the one that the state file names
};

// Lines of "name: value": backend, replicas and batch, parameters, planned memory, seed, input,
// files.
std::string FormatTrainingBanner(const TrainingBanner& banner);
void LogTrainingBanner(const TrainingBanner& banner);

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_LOOP_BANNER_H_
