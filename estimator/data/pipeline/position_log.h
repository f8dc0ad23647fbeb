// Remembers where an input stood, for nodes that read ahead of their consumer: what they save is
// the consumer's position, as an older state of the input and a count of elements to skip.
// A state that is small is taken before every element, a large one (a shuffle's) less often.
#ifndef ESTIMATOR_DATA_PIPELINE_POSITION_LOG_H_
#define ESTIMATOR_DATA_PIPELINE_POSITION_LOG_H_

#include <cstdint>
#include <deque>
#include <string>

#include "absl/status/status.h"
#include "estimator/data/pipeline/dataset_node.h"

namespace estimator {

// Not thread-safe.
class PositionLog {
 public:
  // True if BeforeRead wants the input's state now.
  bool WantsState() const { return states_.empty() || num_read_ >= next_state_; }
  // Before an element is read from the input. `state` is the input's if WantsState, else unused.
  void BeforeRead(std::string state);
  // The consumer was handed `count` more of the elements read.
  void Consumed(int64_t count = 1);
  // REQUIRES: BeforeRead was called. On disk: state of the input (bytes), elements to skip.
  void Save(StateWriter& state) const;

  // As Save, for a node that has not read anything ahead.
  static absl::Status SaveCurrent(const NodeIterator& input, StateWriter& state);
  // Brings a fresh input to a saved position.
  static absl::Status Restore(NodeIterator& input, StateReader& state);
  // The input's state as BeforeRead takes it.
  static absl::StatusOr<std::string> StateOf(const NodeIterator& input);

 private:
  struct Entry {
    int64_t position;  // elements read before
    std::string state;
  };
  std::deque<Entry> states_;
  int64_t num_read_ = 0;
  int64_t num_consumed_ = 0;
  int64_t next_state_ = 0;
};

}  // namespace estimator

#endif  // ESTIMATOR_DATA_PIPELINE_POSITION_LOG_H_
