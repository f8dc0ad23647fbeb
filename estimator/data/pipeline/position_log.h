// Records positions of an input, for nodes that read ahead of their consumer. Such a node must save
// the position of the consumer. It saves an older state of the input and the number of elements to
// skip from there. A small state is recorded before every element. A large one, such as that of a
// shuffle, is recorded less often.
#ifndef ESTIMATOR_DATA_PIPELINE_POSITION_LOG_H_
#define ESTIMATOR_DATA_PIPELINE_POSITION_LOG_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "estimator/data/pipeline/dataset_node.h"

namespace estimator {

// Not thread-safe.
class PositionLog {
 public:
  // True if the next BeforeRead needs the state of the input.
  bool WantsState() const { return states_.empty() || num_read_ >= next_state_; }
  // Call this before an element is read from the input.
  //   state: the state of the input if WantsState(); otherwise it is not used.
  void BeforeRead(std::string state);
  // Call this after the consumer received `count` more elements.
  void Consumed(int64_t count = 1);
  // Reads the next element of the input, and records its state before, if WantsState().
  absl::StatusOr<std::optional<Element>> Read(NodeIterator& input);
  // Saves the consumer's position: the state of the input (bytes), and the number of elements to
  // skip. REQUIRES: BeforeRead was called. On disk: do not change.
  void Save(StateWriter& state) const;
  // As Save; as SaveCurrent if nothing was read.
  absl::Status Save(const NodeIterator& input, StateWriter& state) const;

  // As Save, for a node that has not read ahead, from the state of its input.
  static std::string StateBeforeReading(absl::string_view input_state);
  // As Save, for a node that has not read ahead.
  static absl::Status SaveCurrent(const NodeIterator& input, StateWriter& state);
  // Moves a new input to a saved position.
  static absl::Status Restore(NodeIterator& input, StateReader& state);
  // The state of the input, as BeforeRead needs it.
  static absl::StatusOr<std::string> StateOf(const NodeIterator& input);

 private:
  struct Entry {
    int64_t position;  // number of elements read before the state was taken
    std::string state;
  };
  std::deque<Entry> states_;
  int64_t num_read_ = 0;
  int64_t num_consumed_ = 0;
  int64_t next_state_ = 0;
};

}  // namespace estimator

#endif  // ESTIMATOR_DATA_PIPELINE_POSITION_LOG_H_
