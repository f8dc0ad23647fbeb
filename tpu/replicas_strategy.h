// ReplicasStrategy: the strategy of a TPUEstimator with use_tpu = true. It runs N replicas, in this
// process, divided among several processes, or on the devices of a PJRT plugin.
#ifndef TPU_REPLICAS_STRATEGY_H_
#define TPU_REPLICAS_STRATEGY_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "estimator/runtime/program.h"
#include "estimator/training/strategies.h"
#include "tpu/tpu_config.h"

namespace estimator::tpu {

struct ReplicasStrategyOptions {
  TPUConfig tpu_config = {};
  BatchSizes batch_sizes = {};           // global ones; 0: not given
  std::vector<int64_t> batch_axis = {};  // as in Strategy::batch_axis
  bool eval_on_tpu = true;               // false: evaluation runs on one replica
  CompileOptions compile_options = {};
  // The path of the PJRT plugin that runs the replicas; empty: they run in this process.
  std::string pjrt_plugin = "";
  // RunConfig's. A training step runs so many times as many replicas in this process.
  int64_t accumulate_steps = 1;
  bool scale_learning_rate = false;                       // RunConfig's, for the rules
  std::shared_ptr<ProcessGroup> process_group = nullptr;  // RunConfig's
};

// Source: batch sizes and input modes as in TF 2.15 tpu_context._InternalTPUContext.
std::unique_ptr<Strategy> MakeReplicasStrategy(ModelCall model_call,
                                               ReplicasStrategyOptions options);

}  // namespace estimator::tpu

#endif  // TPU_REPLICAS_STRATEGY_H_
