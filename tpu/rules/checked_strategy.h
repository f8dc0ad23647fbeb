// CheckedStrategy: a strategy on replicas that checks the rules.
//
// With TPUConfig::check, each call of Train, Evaluate or Predict prints the report on stdout and
// ends before it runs anything. Without it, a model is checked when it is built: violations that
// refuse a run are errors, others are logged as warnings, and notes are counted in one line.
#ifndef TPU_RULES_CHECKED_STRATEGY_H_
#define TPU_RULES_CHECKED_STRATEGY_H_

#include <memory>

#include "tpu/rules/config_rules.h"

namespace estimator::tpu {

//   strategy: runs on options.tpu_config.replicas() replicas. For a check, its batch sizes are
//   DivisibleBatchSizes(options.batch_sizes, options.tpu_config).
// With a check, the status of Train, Evaluate and Predict is
//   a FinishedEarly (base/finished_early.h), with which programs exit with 0, if there is no
//     violation;
//   FAILED_PRECONDITION with the number of violations otherwise. Programs exit with 1.
// A check of Train also builds the models of EVAL and PREDICT, if their batch sizes are given, from
// the signature of the training's input.
std::unique_ptr<Strategy> MakeCheckedStrategy(std::unique_ptr<Strategy> strategy,
                                              ReplicasStrategyOptions options);

}  // namespace estimator::tpu

#endif  // TPU_RULES_CHECKED_STRATEGY_H_
