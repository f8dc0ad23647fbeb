// Reads the batches of the next steps while a step runs: ends every input of a loop with a
// Prefetch, unless it already ends with one.
#ifndef ESTIMATOR_TRAINING_INPUT_PREFETCH_STEPS_H_
#define ESTIMATOR_TRAINING_INPUT_PREFETCH_STEPS_H_

#include <cstdint>
#include <memory>

#include "estimator/data/pipeline/dataset.h"
#include "estimator/data/pipeline/read_gate.h"
#include "estimator/training/input/input_fn.h"

namespace estimator {

// The steps whose batches are read ahead. One is enough if reading always takes less time than a
// step. The second covers one batch that takes longer, as at the end of a file. More would cost
// memory: with two, the queue and the batch that is being read have the size of two batches at
// most.
inline constexpr int64_t kPrefetchedSteps = 2;

// `dataset`, or dataset.Prefetch(num_elements) if it does not end with a Prefetch. The thread of
// the added Prefetch reads only while `gate` is open. Its saved state is that of any Prefetch.
//   gate: null: always open.
Dataset EndWithPrefetch(const Dataset& dataset, int64_t num_elements,
                        std::shared_ptr<ReadGate> gate);

// An input whose datasets end with a Prefetch of kPrefetchedSteps steps.
//   global_batch_size: of a step, Strategy::batch_size; 0 if it is not known.
InputFn PrefetchSteps(const InputFn& input_fn, int64_t global_batch_size,
                      std::shared_ptr<ReadGate> gate = nullptr);

// The same for predictions. A program may compute the next example from the last prediction, so an
// input is not changed if reading it may wait for the program (DatasetNode::may_wait). Other
// functions of the input must not wait for a prediction: the call that makes it ends after the
// read.
InputFn PrefetchStepsUnlessInputWaits(const InputFn& input_fn, int64_t global_batch_size,
                                      std::shared_ptr<ReadGate> gate);

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_INPUT_PREFETCH_STEPS_H_
