// ProcessGroup: the processes that train one model together.
#ifndef ESTIMATOR_DISTRIBUTED_PROCESS_GROUP_H_
#define ESTIMATOR_DISTRIBUTED_PROCESS_GROUP_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/array/dtype.h"

namespace estimator {

// The functions that return a status are collective: every rank makes the same calls in the same
// order, one at a time, from any thread. A call waits for the other ranks as long as they are
// alive, because one of them may be compiling, saving or evaluating.
// Errors: UNAVAILABLE with rank, host and cause if a process died or left the group;
// DEADLINE_EXCEEDED if one did not answer for peer_timeout_secs. Both have the exit code of a lost
// peer (base/exit_code.h). After an error every further call returns it at once.
class ProcessGroup {
 public:
  virtual ~ProcessGroup() = default;

  virtual int rank() const = 0;  // 0 is the chief
  virtual int size() const = 0;
  // The name of the machine of a rank, for messages.
  virtual std::string host(int rank) const = 0;

  absl::Status Barrier() { return Exchange("Barrier", "").status(); }
  // Returns the bytes of rank `root`, on all ranks. Those of other ranks are not used.
  absl::StatusOr<std::string> Broadcast(absl::string_view bytes, int root = 0);
  // Returns the bytes of each rank in the order of ranks, on all ranks.
  absl::StatusOr<std::vector<std::string>> AllGather(absl::string_view bytes) {
    return Exchange("AllGather", bytes);
  }
  // Returns the largest value of any rank: whether one of them wants to stop.
  absl::StatusOr<int64_t> AllReduceMax(int64_t value);
  // Sums `count` numbers over the ranks as TreeSum (array/tree_sum.h) does: the same bits on every
  // rank.
  //   input, output: may be the same memory. They may also be in a SharedBuffer, at the same
  //   offset on every rank; then processes of one host copy nothing.
  // Errors: also UNIMPLEMENTED for strings and bools.
  virtual absl::Status AllReduceSum(DType dtype, const void* input, void* output,
                                    int64_t count) = 0;
  // Returns memory for AllReduceSum, the same size on every rank. It is aligned to 64 bytes, is
  // zero, and lives as long as the group.
  virtual absl::StatusOr<void*> SharedBuffer(int64_t size_bytes) = 0;

  // Ends the group: all ranks get an error with the rank and the cause, also those that wait in a
  // call. Not collective. For a rank that cannot continue.
  virtual void Abandon(absl::string_view cause) = 0;

 protected:
  // AllGather for the call of this name.
  // Errors: also INTERNAL if another rank makes another call, where that is noticed.
  virtual absl::StatusOr<std::vector<std::string>> Exchange(absl::string_view call,
                                                            absl::string_view bytes) = 0;
};

// The group of one process: all calls return at once.
std::unique_ptr<ProcessGroup> SingleProcess();

// The groups of `size` threads of this process, for tests: thread i uses element i. The group of a
// thread that returns early must be destroyed, so that the others get an error; here also a thread
// that does not make its call within peer_timeout_secs is one.
std::vector<std::unique_ptr<ProcessGroup>> ThreadGroups(int size, double peer_timeout_secs = 30);

}  // namespace estimator

#endif  // ESTIMATOR_DISTRIBUTED_PROCESS_GROUP_H_
