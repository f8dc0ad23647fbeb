// EpochState: where a training by epochs is, for its checkpoints. It is the bytes of an Element
// (data/pipeline/element_bytes.h) with these features, and the totals of the metrics
// (TrainMetrics):
//
//   epoch    i64 []   the current epoch, from 0
//   steps    i64 []   of it that are done
//   begun    i64 []   1 if its OnEpochBegin was called
//   seconds  f64 []   that it has taken
//   rate     f64 []   the learning rate before the callbacks of its end; absent if they did not run
//
// On disk: do not change.
#ifndef ESTIMATOR_TRAINING_EPOCHS_EPOCH_STATE_H_
#define ESTIMATOR_TRAINING_EPOCHS_EPOCH_STATE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/data/pipeline/element.h"

namespace estimator {

struct EpochState {
  int64_t epoch = 0;
  int64_t steps = 0;
  bool begun = false;
  double seconds = 0;
  std::optional<double> rate = std::nullopt;
  ArrayMap totals = {};  // TrainMetrics::Save
};

std::string EpochStateToBytes(const EpochState& state);
// Errors: DATA_LOSS if the bytes are not a result of EpochStateToBytes.
absl::StatusOr<EpochState> EpochStateFromBytes(absl::string_view bytes);

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_EPOCHS_EPOCH_STATE_H_
