// Reads the batches of the next steps while a step runs: ends every input of a loop with a Prefetch,
// unless it already ends with one.
#ifndef ESTIMATOR_TRAINING_INPUT_READ_AHEAD_H_
#define ESTIMATOR_TRAINING_INPUT_READ_AHEAD_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/data/pipeline/dataset.h"
#include "estimator/training/input/input_fn.h"
#include "estimator/training/input/read_gate.h"

namespace estimator {

// The steps whose batches are read ahead. One is enough if reading always takes less time than a
// step. The second covers one batch that takes longer, as at the end of a file. More would cost
// memory: with two, the queue and the batch that is being read have the size of two batches at most.
inline constexpr int64_t kStepsReadAhead = 2;

// `dataset`, or dataset.Prefetch(num_elements) if it does not end with a Prefetch. The thread of the
// added Prefetch reads only while `gate` is open. Its saved state is that of any Prefetch.
//   gate: null: always open.
Dataset ReadAhead(const Dataset& dataset, int64_t num_elements, std::shared_ptr<ReadGate> gate);

// An input whose datasets read kStepsReadAhead steps ahead.
//   global_batch_size: of a step, Strategy::batch_size; 0 if it is not known.
InputFn ReadAhead(const InputFn& input_fn, int64_t global_batch_size,
                  std::shared_ptr<ReadGate> gate = nullptr);

// The same for predictions. A program may compute the next example from the last prediction, so an
// input is not changed if reading it may wait for the program (DatasetNode::may_wait). Other functions
// of the input must not wait for a prediction: the call that makes it ends after the read.
InputFn ReadAheadUnlessItWaits(const InputFn& input_fn, int64_t global_batch_size,
                               std::shared_ptr<ReadGate> gate);

// A saved state of a Feeder, as it would be if its pipelines ended with the last Prefetch of
// `pipeline`. The states of a pipeline without it, and with another buffer size, are the same
// positions. Returns `state` if `pipeline` does not end with a Prefetch.
// Errors: those of UnsealState for damaged states and other versions.
absl::StatusOr<std::string> StateWithPrefetchOf(absl::string_view pipeline,
                                                absl::string_view state);

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_INPUT_READ_AHEAD_H_
