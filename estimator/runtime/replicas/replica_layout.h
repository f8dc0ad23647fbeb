// ReplicaLayout: how the replicas of a step are divided among processes.
#ifndef ESTIMATOR_RUNTIME_REPLICAS_REPLICA_LAYOUT_H_
#define ESTIMATOR_RUNTIME_REPLICAS_REPLICA_LAYOUT_H_

#include <bit>

namespace estimator {

// Each process has as many replicas. With accumulate_steps = A, each shard of the batch has A of
// them, one for each batch of an update. A process holds its replicas in the order of its input:
// those of the first batch, then those of the second, .... Their numbers count the batches of a
// shard first: numbers depend on the shard and the batch alone, and those of a process are
// consecutive, so a process adds up its own before it asks the others.
struct ReplicaLayout {
  int num_local = 1;         // replicas of this process, A for each of its shards
  int accumulate_steps = 1;  // A
  int rank = 0;
  int num_processes = 1;

  int num_replicas() const { return num_local * num_processes; }
  int RankOf(int number) const { return number / num_local; }
  // The number of replica `local` of this process.
  int Number(int local) const {
    const int shards = num_local / accumulate_steps;
    return (rank * shards + local % shards) * accumulate_steps + local / shards;
  }
  // The replica of this process that has the number, or -1.
  int Local(int number) const {
    if (RankOf(number) != rank) return -1;
    const int shards = num_local / accumulate_steps, own = number - rank * num_local;
    return own % accumulate_steps * shards + own / accumulate_steps;
  }
  // Whether the tree over all replicas (array/tree_sum.h) has a subtree for each process.
  bool HasSubtrees() const {
    return num_processes == 1 || std::has_single_bit(static_cast<unsigned>(num_local));
  }
};

}  // namespace estimator

#endif  // ESTIMATOR_RUNTIME_REPLICAS_REPLICA_LAYOUT_H_
