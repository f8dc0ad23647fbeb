// ReplicaSums: the sums over the replicas of this process and of the others.
#ifndef ESTIMATOR_RUNTIME_REPLICAS_REPLICA_SUMS_H_
#define ESTIMATOR_RUNTIME_REPLICAS_REPLICA_SUMS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "estimator/distributed/process_group.h"
#include "estimator/runtime/collective.h"
#include "estimator/runtime/program.h"
#include "estimator/runtime/replicas/background_calls.h"
#include "estimator/runtime/replicas/replica_layout.h"

namespace estimator {

// Every sum is taken along the tree over the numbers of its replicas (array/tree_sum.h), wherever
// they are. A process adds up its own, and the processes exchange one sum each, if that is the
// same: in a sum over all replicas, if each process has 2^j. Replicas of one process exchange
// nothing. Otherwise, the processes exchange the values of all replicas of the group.
class ReplicaSums {
 public:
  // `runs` are the replicas of this process, in the order of ReplicaLayout.
  //   group: null if the layout has one process.
  ReplicaSums(const ReplicaLayout& layout, std::shared_ptr<ProcessGroup> group,
              const std::vector<std::unique_ptr<ProgramRun>>& runs);

  // Computes the sum. Call it when all replicas of this process have the inputs, and on all
  // processes in the same order.
  // Errors: UNIMPLEMENTED for strings and bools; those of the group.
  absl::Status Sum(const Collective& collective);
  // Starts the sums of a bucket, in the background.
  absl::Status Start(const CollectiveBucket& bucket);
  // Waits for the sums that were started: those of `buckets`, or of some of them after an error.
  absl::Status Finish(const std::vector<CollectiveBucket>& buckets);

 private:
  struct Members;
  absl::Status SumParts(const TensorSpec& spec, const Members& members);
  absl::Status SumGathered(const TensorSpec& spec, const Members& members);

  const ReplicaLayout layout_;
  const std::shared_ptr<ProcessGroup> group_;
  const std::vector<std::unique_ptr<ProgramRun>>& runs_;
  std::vector<int64_t> all_;  // the numbers of all replicas
  BackgroundCalls background_;
};

}  // namespace estimator

#endif  // ESTIMATOR_RUNTIME_REPLICAS_REPLICA_SUMS_H_
