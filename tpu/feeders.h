// How the elements of datasets become the replicas' parts of a step.
#ifndef TPU_FEEDERS_H_
#define TPU_FEEDERS_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "estimator/data/dataset.h"
#include "estimator/training/mode.h"
#include "estimator/training/strategy.h"

namespace estimator::tpu {

// Batches of `global_batch` rows, split evenly over the replicas on axis 0 (PER_HOST_V1, SLICED).
// The parts share the batch's bytes. In eval and predict a batch with fewer rows is the last one,
// and stays whole.
absl::StatusOr<std::unique_ptr<Feeder>> MakeSplitFeeder(Mode mode, const Dataset& dataset,
                                                        int num_replicas, int64_t global_batch);
// Batches of `replica_batch` rows, one after another for replica 0, 1, ... (PER_HOST_V2). In eval
// and predict, what does not fill a step is joined to one last, smaller batch.
absl::StatusOr<std::unique_ptr<Feeder>> MakeConsecutiveFeeder(Mode mode, const Dataset& dataset,
                                                              int num_replicas,
                                                              int64_t replica_batch);
// One dataset a replica (PER_SHARD_V1, training).
absl::StatusOr<std::unique_ptr<Feeder>> MakePerShardFeeder(const std::vector<Dataset>& datasets,
                                                           int64_t replica_batch);
// Every replica gets the whole batch (BROADCAST).
absl::StatusOr<std::unique_ptr<Feeder>> MakeBroadcastFeeder(Mode mode, const Dataset& dataset,
                                                            int num_replicas, int64_t global_batch);

}  // namespace estimator::tpu

#endif  // TPU_FEEDERS_H_
