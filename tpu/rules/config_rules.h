// Rules about TPUConfig, the batch sizes and the call.
#ifndef TPU_RULES_CONFIG_RULES_H_
#define TPU_RULES_CONFIG_RULES_H_

#include "estimator/training/strategies.h"
#include "tpu/replicas_strategy.h"
#include "tpu/rules/report.h"
#include "tpu/tpu_config.h"

namespace estimator::tpu {

// batch-size-missing, batch-not-divisible, num-shards, sliced-on-cpu, predict-batch-axis,
// default-iterations-per-loop, steps-not-given, per-shard-dataset.
//   options: with the batch sizes that the program gave.
//   mode, num_steps_given: of the call. A call of Train is also checked for the other modes whose
//   batch sizes are given.
void CheckConfig(const ReplicasStrategyOptions& options, Mode mode, bool num_steps_given,
                 Report& report);

// The batch sizes with which the rest of a program is checked: those that do not divide evenly over
// the replicas are rounded up.
BatchSizes DivisibleBatchSizes(const BatchSizes& batch_sizes, const TPUConfig& tpu_config);

}  // namespace estimator::tpu

#endif  // TPU_RULES_CONFIG_RULES_H_
