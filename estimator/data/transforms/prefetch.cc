// Prefetch. A thread reads up to buffer_size elements ahead of the consumer.
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "estimator/base/out_of_resources.h"
#include "estimator/base/status.h"
#include "estimator/data/pipeline/nodes.h"
#include "estimator/data/pipeline/position_log.h"
#include "estimator/data/pipeline/transform.h"
#include "estimator/data/transforms/prefetch_buffer_size.h"
#include "estimator/data/transforms/read_ahead.h"

namespace estimator {
namespace {

constexpr absl::string_view kLabelBegin = "Prefetch(";  // on disk: do not change

// The first Next starts the thread. From then on only the thread uses the input. The state is that
// of PositionLog.
class PrefetchIterator final : public TransformIterator {
 public:
  PrefetchIterator(IteratorPtr input, int64_t buffer_size, std::shared_ptr<ReadGate> gate)
      : TransformIterator(std::move(input)), gate_(std::move(gate)), capacity_(buffer_size) {}
  ~PrefetchIterator() override {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      stopping_ = true;
    }
    not_full_.notify_all();
    if (thread_.joinable()) thread_.join();
  }

  absl::StatusOr<std::optional<Element>> Next() override {
    EST_RETURN_IF_ERROR(Start());
    std::unique_lock<std::mutex> lock(mutex_);
    if (!ended_) {
      capacity_.BeforeTake(static_cast<int64_t>(queue_.size()),
                           queue_.empty() ? nullptr : &queue_.front().element);
    }
    not_empty_.wait(lock, [this] { return ended_ || !queue_.empty(); });
    if (queue_.empty()) {
      EST_RETURN_IF_ERROR(final_status_);
      return std::nullopt;
    }
    std::optional<Element> element = std::move(queue_.front().element);
    where_ = std::move(queue_.front().where);
    queue_.pop_front();
    log_.Consumed();
    lock.unlock();
    not_full_.notify_one();
    return element;
  }
  absl::StatusOr<int64_t> Skip(int64_t count) override {
    return thread_.joinable() ? TransformIterator::Skip(count) : input_->Skip(count);
  }
  absl::Status Save(StateWriter& state) const override {
    if (!thread_.joinable()) return PositionLog::SaveCurrent(*input_, state);
    const std::lock_guard<std::mutex> lock(mutex_);
    log_.Save(state);
    return absl::OkStatus();
  }
  absl::Status Restore(StateReader& state) override { return PositionLog::Restore(*input_, state); }
  std::string Where() const override { return where_; }

 private:
  struct Item {
    Element element;
    std::string where;
  };

  absl::Status Start() {
    if (thread_.joinable()) return absl::OkStatus();
    EST_ASSIGN_OR_RETURN(std::string state, PositionLog::StateOf(*input_));
    log_.BeforeRead(std::move(state));
    try {
      thread_ = std::thread([this] { Run(); });
    } catch (const std::system_error& thrown) {
      const absl::Status status = OutOfResourcesError(thrown);
      if (!status.ok()) return status;
      return absl::InternalError(absl::StrCat("Prefetch cannot start a thread: ", thrown.what()));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::optional<Element>> ReadNext() {
    // A closed gate means that this iterator is about to be destroyed.
    if (gate_ != nullptr && !gate_->Enter()) return std::nullopt;
    const absl::Cleanup leave = [this] {
      if (gate_ != nullptr) gate_->Leave();
    };
    return NextInThread(*input_);
  }

  // The log gets one BeforeRead before every element that is read; Start makes the first one. The
  // others come before the consumer can take the element before, so that the bytes of a saved
  // position do not depend on the speed of this thread.
  void Run() {
    while (true) {
      absl::StatusOr<std::optional<Element>> element = ReadNext();
      const bool more = element.ok() && element->has_value();
      std::string where = more ? input_->Where() : "";
      std::unique_lock<std::mutex> lock(mutex_);
      absl::StatusOr<std::string> state = std::string();
      // Taking a state may be slow, so it is done without the lock. Only this thread changes
      // WantsState.
      if (more && log_.WantsState()) {
        lock.unlock();
        state = PositionLog::StateOf(*input_);
        lock.lock();
      }
      if (!more) {
        End(element.status());
        return;
      }
      queue_.push_back({**std::move(element), std::move(where)});
      if (!state.ok()) {
        End(state.status());
        return;
      }
      log_.BeforeRead(*std::move(state));
      not_empty_.notify_one();
      not_full_.wait(lock, [this] { return stopping_ || HasSpace(); });
      if (stopping_) return;
    }
  }
  bool HasSpace() const { return static_cast<int64_t>(queue_.size()) < capacity_.value(); }
  void End(absl::Status status) {
    final_status_ = std::move(status);
    ended_ = true;
    not_empty_.notify_one();
  }

  const std::shared_ptr<ReadGate> gate_;
  std::string where_;
  mutable std::mutex mutex_;  // guards all members below but thread_
  std::condition_variable not_empty_, not_full_;
  PrefetchBufferSize capacity_;
  PositionLog log_;
  std::deque<Item> queue_;
  bool ended_ = false;
  bool stopping_ = false;
  absl::Status final_status_;
  std::thread thread_;
};

class Prefetch final : public TransformNode {
 public:
  Prefetch(NodePtr input, int64_t buffer_size, std::shared_ptr<ReadGate> gate)
      : TransformNode(std::move(input)), buffer_size_(buffer_size), gate_(std::move(gate)) {}
  std::string Label() const override {
    return buffer_size_ == kAutotune ? absl::StrCat(kLabelBegin, "autotune)")
                                     : absl::StrCat(kLabelBegin, buffer_size_, ")");
  }
  const DatasetNode* prefetched() const override { return input().get(); }

 private:
  absl::StatusOr<IteratorPtr> Over(IteratorPtr input, const IterationContext&) const override {
    return std::make_unique<PrefetchIterator>(std::move(input), buffer_size_, gate_);
  }

  int64_t buffer_size_;
  std::shared_ptr<ReadGate> gate_;
};

}  // namespace

NodePtr PrefetchNode(NodePtr input, int64_t buffer_size, std::shared_ptr<ReadGate> gate) {
  return std::make_shared<Prefetch>(std::move(input), buffer_size, std::move(gate));
}

bool IsPrefetchLabel(absl::string_view label) { return absl::StartsWith(label, kLabelBegin); }

}  // namespace estimator
