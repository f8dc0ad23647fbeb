// The strategy of a plain Estimator, and of TPUEstimator with use_tpu = false: one replica in each
// process, on all its cores.
#ifndef ESTIMATOR_TRAINING_MODEL_LOCAL_STRATEGY_H_
#define ESTIMATOR_TRAINING_MODEL_LOCAL_STRATEGY_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "estimator/runtime/program.h"
#include "estimator/training/model/strategy.h"

namespace estimator {

// Calls the user's model_fn, with the params for this mode, and converts its spec to a ModelSpec.
using ModelCall = std::function<absl::StatusOr<ModelSpec>(const Features&, const Labels&, Mode,
                                                          int64_t batch_size)>;

struct BatchSizes {
  int64_t train = 0;  // 0: not given
  int64_t eval = 0;
  int64_t predict = 0;
  int64_t of(Mode mode) const {
    return mode == Mode::kTrain ? train : mode == Mode::kEval ? eval : predict;
  }
};

// batch_axis: as in Strategy::batch_axis; used in training and evaluation.
// accumulate_steps: RunConfig's. A training step then has a replica for each of its batches.
// process_group: if several processes train, each has a replica; evaluation and prediction are
// computed by each of them.
std::unique_ptr<Strategy> MakeLocalStrategy(ModelCall model_call, BatchSizes batch_sizes = {},
                                            CompileOptions compile_options = {},
                                            std::vector<int64_t> batch_axis = {},
                                            int64_t accumulate_steps = 1,
                                            std::shared_ptr<ProcessGroup> process_group = nullptr);

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_MODEL_LOCAL_STRATEGY_H_
