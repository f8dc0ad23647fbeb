// The feeder of one dataset to one replica.
#ifndef ESTIMATOR_TRAINING_INPUT_SINGLE_FEEDER_H_
#define ESTIMATOR_TRAINING_INPUT_SINGLE_FEEDER_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "estimator/data/pipeline/dataset.h"
#include "estimator/training/input/mode.h"
#include "estimator/training/input/step_input.h"

namespace estimator {

// Each element of `dataset` is one step. In eval and predict, an element with fewer rows than the
// first is the last, smaller batch (StepInput::full is false).
//   batch_axis: as in Strategy::batch_axis.
// Errors: those of the dataset's MakeIterator.
absl::StatusOr<std::unique_ptr<Feeder>> MakeSingleFeeder(Mode mode, const Dataset& dataset,
                                                         absl::Span<const int64_t> batch_axis = {});

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_INPUT_SINGLE_FEEDER_H_
