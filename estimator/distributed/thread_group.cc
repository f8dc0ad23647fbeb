// The groups that need no other process: SingleProcess and ThreadGroups.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "estimator/array/tree_sum.h"
#include "estimator/base/exit_code.h"
#include "estimator/distributed/process_group.h"

namespace estimator {
namespace {

// What the threads share. A call of the group is a few rounds: each thread puts a pointer into its
// slot, waits for the others, and reads their slots.
struct ThreadHub {
  explicit ThreadHub(int size, double timeout_secs)
      : timeout(timeout_secs), slots(size), arrived(size, false) {}

  // Waits for all, who then read the slots.
  absl::Status Wait(int rank) {
    std::unique_lock<std::mutex> lock(mutex);
    if (!error.ok()) return error;
    arrived[rank] = true;
    if (++num_arrived == static_cast<int>(slots.size())) {
      num_arrived = 0;
      num_reading = static_cast<int>(slots.size());
      std::fill(arrived.begin(), arrived.end(), false);
      ++round;
      changed.notify_all();
      return absl::OkStatus();
    }
    const int64_t mine = round;
    const bool done = changed.wait_for(lock, timeout, [&] { return round != mine || !error.ok(); });
    if (round != mine) return absl::OkStatus();  // whatever happened after it
    if (!done) {
      std::vector<int> missing;
      for (size_t i = 0; i < arrived.size(); ++i) {
        if (!arrived[i]) missing.push_back(static_cast<int>(i));
      }
      Fail(absl::DeadlineExceededError(absl::StrCat(
          "rank ", absl::StrJoin(missing, ", "), " did not answer for ", timeout.count(), " s")));
    }
    return error;
  }

  // Waits until all have read the slots, also after an error: what they point at is on the stacks
  // of calls that would return.
  void FinishReading() {
    std::unique_lock<std::mutex> lock(mutex);
    if (--num_reading == 0) changed.notify_all();
    changed.wait(lock, [&] { return num_reading == 0; });
  }

  // REQUIRES: the mutex is held. The first error stays.
  void Fail(const absl::Status& status) {
    error.Update(WithExitCode(status, kLostPeerExitCode));
    changed.notify_all();
  }

  const std::chrono::duration<double> timeout;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<const void*> slots;  // written by their threads between two waits
  std::vector<bool> arrived;
  int num_arrived = 0;
  int num_reading = 0;
  int64_t round = 0;
  absl::Status error;
};

class ThreadGroup : public ProcessGroup {
 public:
  ThreadGroup(std::shared_ptr<ThreadHub> hub, int rank) : hub_(std::move(hub)), rank_(rank) {}
  ~ThreadGroup() override {
    const std::lock_guard<std::mutex> lock(hub_->mutex);
    hub_->Fail(absl::UnavailableError(absl::StrCat("rank ", rank_, " has left the group")));
  }

  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(hub_->slots.size()); }
  std::string host(int) const override { return "localhost"; }

  absl::Status AllReduceSum(DType dtype, const void* input, void* output, int64_t count) override {
    const std::pair<const void*, void*> buffers(input, output);
    const int64_t element = static_cast<int64_t>(DTypeSize(dtype));
    const int64_t begin = count * rank_ / size(), end = count * (rank_ + 1) / size();
    absl::Status sum;
    const absl::Status status = Show(&buffers, [&] {
      std::vector<const void*> inputs;
      std::vector<void*> outputs;
      for (int i = 0; i < size(); ++i) {
        const auto& [in, out] = Slot<std::pair<const void*, void*>>(i);
        inputs.push_back(static_cast<const char*>(in) + begin * element);
        outputs.push_back(static_cast<char*>(out) + begin * element);
      }
      sum = TreeSum(dtype, dtype, end - begin, inputs, outputs);
    });
    return status.ok() ? sum : status;
  }

  void Abandon(absl::string_view cause) override {
    const std::lock_guard<std::mutex> lock(hub_->mutex);
    hub_->Fail(absl::UnavailableError(absl::StrCat("rank ", rank_, ": ", cause)));
  }

  absl::StatusOr<void*> SharedBuffer(int64_t size_bytes) override {
    buffers_.emplace_back((size_bytes + 63) / 64, Line{});
    return static_cast<void*>(buffers_.back().data());
  }

 protected:
  // The name of the call is not compared.
  absl::StatusOr<std::vector<std::string>> Exchange(absl::string_view,
                                                    absl::string_view bytes) override {
    std::vector<std::string> result;
    const absl::Status status = Show(&bytes, [&] {
      for (int i = 0; i < size(); ++i) result.emplace_back(Slot<absl::string_view>(i));
    });
    if (!status.ok()) return status;
    return result;
  }

 private:
  // Shows `mine` to the other threads, and calls `read` when all have shown theirs. They stay
  // until all have read them.
  template <typename Read>
  absl::Status Show(const void* mine, const Read& read) {
    hub_->slots[rank_] = mine;
    if (absl::Status status = hub_->Wait(rank_); !status.ok()) return status;
    read();
    hub_->FinishReading();
    return absl::OkStatus();
  }

  template <typename T>
  const T& Slot(int rank) const {
    return *static_cast<const T*>(hub_->slots[rank]);
  }

  const std::shared_ptr<ThreadHub> hub_;
  const int rank_;
  struct alignas(64) Line {
    char bytes[64];
  };
  std::deque<std::vector<Line>> buffers_;
};

}  // namespace

std::unique_ptr<ProcessGroup> SingleProcess() { return std::move(ThreadGroups(1)[0]); }

std::vector<std::unique_ptr<ProcessGroup>> ThreadGroups(int size, double peer_timeout_secs) {
  const auto hub = std::make_shared<ThreadHub>(size, peer_timeout_secs);
  std::vector<std::unique_ptr<ProcessGroup>> groups;
  for (int rank = 0; rank < size; ++rank)
    groups.push_back(std::make_unique<ThreadGroup>(hub, rank));
  return groups;
}

}  // namespace estimator
