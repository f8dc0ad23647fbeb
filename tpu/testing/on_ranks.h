// Runs a test on several ranks of a process group, each in a thread of this process.
#ifndef TPU_TESTING_ON_RANKS_H_
#define TPU_TESTING_ON_RANKS_H_

#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "estimator/distributed/process_group.h"

namespace estimator::tpu {

// Calls `body` with the group of each rank, and returns the results in the order of ranks. A rank
// leaves its group when body returns.
template <typename Result>
std::vector<Result> OnRanks(
    int size, const std::function<Result(const std::shared_ptr<ProcessGroup>& group)>& body) {
  std::vector<Result> results(static_cast<size_t>(size));
  std::vector<std::thread> threads;
  auto groups = ThreadGroups(size);
  for (size_t rank = 0; rank < groups.size(); ++rank) {
    threads.emplace_back([&, rank] {
      results[rank] = body(std::shared_ptr<ProcessGroup>(std::move(groups[rank])));
    });
  }
  for (std::thread& thread : threads) thread.join();
  return results;
}

}  // namespace estimator::tpu

#endif  // TPU_TESTING_ON_RANKS_H_
