// Feeders: split the elements of datasets into the parts of a step for each replica.
#ifndef TPU_FEEDERS_H_
#define TPU_FEEDERS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "estimator/data/pipeline/dataset.h"
#include "estimator/training/strategies.h"

namespace estimator::tpu {

// In all functions, `batch_axis` is the batch axis of each array of an element (batch_axis.h).

// Splits each batch of `global_batch` rows evenly over the replicas (PER_HOST_V1, SLICED). On axis
// 0 the parts share the memory of the batch. In eval and predict, the last batch may have fewer
// rows, and is not split.
absl::StatusOr<std::unique_ptr<Feeder>> MakeSplitFeeder(Mode mode, const Dataset& dataset,
                                                        int num_replicas, int64_t global_batch,
                                                        std::vector<int64_t> batch_axis = {});
// Gives consecutive batches of `replica_batch` rows to replica 0, 1, ... (PER_HOST_V2). In eval and
// predict, batches that do not fill a last step are concatenated to one smaller batch.
absl::StatusOr<std::unique_ptr<Feeder>> MakeConsecutiveFeeder(Mode mode, const Dataset& dataset,
                                                              int num_replicas,
                                                              int64_t replica_batch,
                                                              std::vector<int64_t> batch_axis = {});
// Gives each replica the batches of its own dataset (PER_SHARD_V1, training).
absl::StatusOr<std::unique_ptr<Feeder>> MakePerShardFeeder(const std::vector<Dataset>& datasets,
                                                           int64_t replica_batch,
                                                           std::vector<int64_t> batch_axis = {});
// Gives every replica the whole batch (BROADCAST).
absl::StatusOr<std::unique_ptr<Feeder>> MakeBroadcastFeeder(Mode mode, const Dataset& dataset,
                                                            int num_replicas, int64_t global_batch,
                                                            std::vector<int64_t> batch_axis = {});

}  // namespace estimator::tpu

#endif  // TPU_FEEDERS_H_
