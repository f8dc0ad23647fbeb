#include "estimator/data/pipeline/position_log.h"

#include <utility>

#include "estimator/base/status.h"

namespace estimator {
namespace {

// A state of n times this many bytes is recorded every n + 1 elements. A restore then reads up to n
// elements again.
constexpr int64_t kStateBytesPerElement = 2048;

}  // namespace

void PositionLog::BeforeRead(std::string state) {
  if (WantsState()) {
    next_state_ = num_read_ + 1 + static_cast<int64_t>(state.size()) / kStateBytesPerElement;
    states_.push_back({num_read_, std::move(state)});
  }
  ++num_read_;
}

void PositionLog::Consumed(int64_t count) {
  num_consumed_ += count;
  while (states_.size() > 1 && states_[1].position <= num_consumed_) states_.pop_front();
}

void PositionLog::Save(StateWriter& state) const {
  state.Bytes(states_.front().state);
  state.Int(num_consumed_ - states_.front().position);
}

absl::StatusOr<std::optional<Element>> PositionLog::Read(NodeIterator& input) {
  std::string state;
  if (WantsState()) {
    EST_ASSIGN_OR_RETURN(state, StateOf(input));
  }
  BeforeRead(std::move(state));
  return input.Next();
}

absl::Status PositionLog::Save(const NodeIterator& input, StateWriter& state) const {
  if (states_.empty()) return SaveCurrent(input, state);
  Save(state);
  return absl::OkStatus();
}

absl::Status PositionLog::SaveCurrent(const NodeIterator& input, StateWriter& state) {
  EST_RETURN_IF_ERROR(SaveNested(input, state));
  state.Int(0);
  return absl::OkStatus();
}

absl::Status PositionLog::Restore(NodeIterator& input, StateReader& state) {
  EST_RETURN_IF_ERROR(RestoreNested(input, state));
  EST_ASSIGN_OR_RETURN(const int64_t skip, state.Int());
  EST_ASSIGN_OR_RETURN(const int64_t skipped, input.Skip(skip));
  if (skipped == skip) return absl::OkStatus();
  return InvalidArgument("the saved input position is ", skip,
                         " elements ahead, but the input ends after ", skipped,
                         ": it has changed since");
}

absl::StatusOr<std::string> PositionLog::StateOf(const NodeIterator& input) {
  StateWriter state;
  EST_RETURN_IF_ERROR(input.Save(state));
  return state.bytes();
}

std::string PositionLog::StateBeforeReading(absl::string_view input_state) {
  StateWriter state;
  state.Bytes(input_state);
  state.Int(0);
  return state.bytes();
}

}  // namespace estimator
