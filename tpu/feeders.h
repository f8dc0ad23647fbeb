// How the elements of datasets become the replicas' parts of a step.
#ifndef TPU_FEEDERS_H_
#define TPU_FEEDERS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "estimator/data/pipeline/dataset.h"
#include "estimator/training/strategies.h"

namespace estimator::tpu {

// Of all: `batch_axis`: where the batch stands in each array of an element (batch_axis.h).

// Batches of `global_batch` rows, split evenly over the replicas (PER_HOST_V1, SLICED). On axis 0
// the parts share the batch's bytes. In eval and predict a batch with fewer rows is the last one,
// and stays whole.
absl::StatusOr<std::unique_ptr<Feeder>> MakeSplitFeeder(Mode mode, const Dataset& dataset,
                                                        int num_replicas, int64_t global_batch,
                                                        std::vector<int64_t> batch_axis = {});
// Batches of `replica_batch` rows, one after another for replica 0, 1, ... (PER_HOST_V2). In eval
// and predict, what does not fill a step is joined to one last, smaller batch.
absl::StatusOr<std::unique_ptr<Feeder>> MakeConsecutiveFeeder(Mode mode, const Dataset& dataset,
                                                              int num_replicas,
                                                              int64_t replica_batch,
                                                              std::vector<int64_t> batch_axis = {});
// One dataset a replica (PER_SHARD_V1, training).
absl::StatusOr<std::unique_ptr<Feeder>> MakePerShardFeeder(const std::vector<Dataset>& datasets,
                                                           int64_t replica_batch,
                                                           std::vector<int64_t> batch_axis = {});
// Every replica gets the whole batch (BROADCAST).
absl::StatusOr<std::unique_ptr<Feeder>> MakeBroadcastFeeder(Mode mode, const Dataset& dataset,
                                                            int num_replicas, int64_t global_batch,
                                                            std::vector<int64_t> batch_axis = {});

}  // namespace estimator::tpu

#endif  // TPU_FEEDERS_H_
