// TrainInput: the input of a Trainer, which stays open between calls, so that a loop of one's own
// around Train neither reads an example twice nor passes one over.
#ifndef ESTIMATOR_TRAINING_LOOP_TRAIN_INPUT_H_
#define ESTIMATOR_TRAINING_LOOP_TRAIN_INPUT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/training/input/open_input.h"
#include "estimator/training/model/strategy.h"

namespace estimator {

// Not thread-safe.
class TrainInput {
 public:
  // `strategy` outlives it. `seed`: of shuffles that name none.
  TrainInput(const Strategy& strategy, std::optional<int64_t> seed)
      : strategy_(strategy), seed_(seed) {}

  // Where the variables stand, to which the input must fit.
  struct Position {
    std::string checkpoint;       // the newest; empty: none
    bool ahead = false;           // the variables in memory have learnt more than it
    bool in_memory_same = false;  // the variables in memory are those of the checkpoint
  };
  // The step's input that training begins with. An input that is open already goes on where it
  // stands, if it is the same one and the variables in memory are; else it is opened, and moved to
  // where the checkpoint was taken. One that was read to its end begins anew. Null: it is empty.
  // Errors: those of the input_fn and the input; DATA_LOSS naming the file of a damaged position.
  absl::StatusOr<const StepInput*> First(const InputFn& input_fn, const Position& position);

  // REQUIRES: First was called, and Close not since.
  OpenInput& open() { return *input_; }
  void Close() { input_ = nullptr; }

 private:
  absl::Status OpenAtStart(const InputFn& input_fn);
  absl::StatusOr<bool> Restore(const std::string& checkpoint);

  const Strategy& strategy_;
  const std::optional<int64_t> seed_;
  std::unique_ptr<OpenInput> input_;
  const void* identity_ = nullptr;
};

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_LOOP_TRAIN_INPUT_H_
