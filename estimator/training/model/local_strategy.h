// LocalStrategy: one replica in this process, on all cores. What a plain Estimator uses, and
// TPUEstimator with use_tpu = false.
#ifndef ESTIMATOR_TRAINING_MODEL_LOCAL_STRATEGY_H_
#define ESTIMATOR_TRAINING_MODEL_LOCAL_STRATEGY_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "estimator/runtime/program.h"
#include "estimator/training/model/strategy.h"

namespace estimator {

// Calls the user's model_fn, with params as this mode sees them, and turns what it returns into a
// ModelSpec.
using ModelCall = std::function<absl::StatusOr<ModelSpec>(const Features&, const Labels&, Mode,
                                                          int64_t batch_size)>;

struct BatchSizes {
  int64_t train = 0;  // 0: none was named
  int64_t eval = 0;
  int64_t predict = 0;
  int64_t of(Mode mode) const {
    return mode == Mode::kTrain ? train : mode == Mode::kEval ? eval : predict;
  }
};

// batch_axis: as Strategy::batch_axis, in training and evaluation.
std::unique_ptr<Strategy> MakeLocalStrategy(ModelCall model_call, BatchSizes batch_sizes = {},
                                            CompileOptions compile_options = {},
                                            std::vector<int64_t> batch_axis = {});

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_MODEL_LOCAL_STRATEGY_H_
