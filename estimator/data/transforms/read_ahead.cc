#include "estimator/data/transforms/read_ahead.h"

#include <new>
#include <utility>

#include "estimator/base/out_of_resources.h"
#include "estimator/base/status.h"

namespace estimator {

absl::StatusOr<std::optional<Element>> NextInThread(NodeIterator& input) {
  try {
    return input.Next();
  } catch (const std::bad_alloc& thrown) {
    return OutOfResourcesError(thrown);
  }
}

ReadAhead::~ReadAhead() {
  std::unique_lock<std::mutex> lock(mutex_);
  stopping_ = true;
  changed_.wait(lock, [this] { return !reading_; });
}

absl::Status ReadAhead::Start() {
  EST_ASSIGN_OR_RETURN(std::string state, PositionLog::StateOf(*input_));
  const std::lock_guard<std::mutex> lock(mutex_);
  log_.BeforeRead(std::move(state));
  recorded_ = true;
  Schedule();
  return absl::OkStatus();
}

absl::StatusOr<std::optional<Element>> ReadAhead::Next() {
  std::unique_lock<std::mutex> lock(mutex_);
  Schedule();
  changed_.wait(lock, [this] { return ended_ || !queue_.empty(); });
  if (queue_.empty()) {
    EST_RETURN_IF_ERROR(final_status_);
    return std::nullopt;
  }
  std::optional<Element> element = std::move(queue_.front().element);
  where_ = std::move(queue_.front().where);
  queue_.pop_front();
  log_.Consumed();
  Schedule();
  return element;
}

absl::StatusOr<ReadAhead::Position> ReadAhead::position() const {
  StateWriter saved;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    log_.Save(saved);
  }
  StateReader reader(saved.bytes());
  EST_ASSIGN_OR_RETURN(const absl::string_view state, reader.Bytes());
  EST_ASSIGN_OR_RETURN(const int64_t skip, reader.Int());
  return Position{.state = std::string(state), .skip = skip};
}

// Half of the queue is read at a time, so that a task does not run for each element.
void ReadAhead::Schedule() {
  if (reading_ || ended_ || queue_.size() > capacity_ / 2) return;
  reading_ = true;
  pool_->Submit([this] { Run(); });
}

void ReadAhead::Run() {
  std::unique_lock<std::mutex> lock(mutex_);
  const auto end = [this](absl::Status status) {
    final_status_ = std::move(status);
    ended_ = true;
  };
  while (!stopping_ && !ended_ && queue_.size() < capacity_) {
    if (!recorded_) {
      absl::StatusOr<std::string> state = std::string();
      if (log_.WantsState()) {  // only this task changes that
        lock.unlock();
        state = PositionLog::StateOf(*input_);
        lock.lock();
      }
      if (!state.ok()) {
        end(state.status());
        break;
      }
      log_.BeforeRead(*std::move(state));
    }
    lock.unlock();
    absl::StatusOr<std::optional<Element>> element = NextInThread(*input_);
    const bool more = element.ok() && element->has_value();
    std::string where = more ? input_->Where() : "";
    lock.lock();
    recorded_ = false;
    if (more) {
      queue_.push_back({**std::move(element), std::move(where)});
    } else {
      end(element.status());
    }
    changed_.notify_one();
  }
  reading_ = false;
  changed_.notify_one();  // with the lock, so that the destructor cannot run before
}

}  // namespace estimator
