// The position of a training in the inputs of several processes, as one: what a checkpoint has.
// With one process it is the position in its input. Otherwise it is sealed as an iterator's state
// (iterator_state.h) with the description "2 hosts", and has the position of each as bytes.
// On disk: do not change.
#ifndef ESTIMATOR_TRAINING_INPUT_HOST_POSITIONS_H_
#define ESTIMATOR_TRAINING_INPUT_HOST_POSITIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace estimator {

std::string JoinHostPositions(const std::vector<std::string>& positions);
// Errors: DATA_LOSS if the bytes are damaged.
absl::StatusOr<std::vector<std::string>> SplitHostPositions(absl::string_view position);

// The number of batches that each of `num_hosts` hosts has read, if `saved` hosts have read the
// same examples up to their positions. That is known if the hosts share one order of examples:
// Dataset::Shard comes after Shuffle and Repeat, and only Map, Batch and Prefetch after it.
//   pipeline: of the first of `num_hosts` hosts (Dataset::Describe).
// Errors: INVALID_ARGUMENT that says why it is not known; DATA_LOSS.
absl::StatusOr<int64_t> BatchesBefore(const std::vector<std::string>& saved,
                                      absl::string_view pipeline, int num_hosts);

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_INPUT_HOST_POSITIONS_H_
