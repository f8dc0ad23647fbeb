// TrainInput: the input of a Trainer. It stays open between calls, so that a program that calls
// Train in a loop reads every example once.
#ifndef ESTIMATOR_TRAINING_LOOP_TRAIN_INPUT_H_
#define ESTIMATOR_TRAINING_LOOP_TRAIN_INPUT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/data/pipeline/read_gate.h"
#include "estimator/training/input/feeder.h"
#include "estimator/training/input/input_fn.h"
#include "estimator/training/loop/run_config.h"
#include "estimator/training/model/model_state.h"
#include "estimator/training/model/strategy.h"
#include "estimator/training/peers/peers.h"

namespace estimator {

// Not thread-safe.
class TrainInput {
 public:
  // `strategy` and `peers` outlive it. `seed`: for shuffles without a seed of their own.
  TrainInput(const Strategy& strategy, std::optional<int64_t> seed,
             std::optional<RunConfig::OnInputChange> on_change, const Peers& peers)
      : strategy_(strategy), seed_(seed), on_change_(on_change), peers_(peers) {}
  ~TrainInput() { Close(); }
  TrainInput(const TrainInput&) = delete;
  TrainInput& operator=(const TrainInput&) = delete;

  // The position of the variables, which the position of the input must match.
  struct Position {
    std::string checkpoint;  // the newest; empty: none
    MemoryState memory = MemoryState::kOther;
  };
  // The input of the first step; null if the input is empty.
  // If the same input is open and training continues with the variables in memory, the input
  // continues. Otherwise it is opened and moved to the checkpoint's position. An input that was
  // read to its end begins again.
  // Errors: those of the input_fn and the input; DATA_LOSS naming the file of a damaged position;
  // FAILED_PRECONDITION if the position is of another input and RunConfig::on_input_change says so.
  absl::StatusOr<const StepInput*> First(const InputFn& input_fn, const Position& position);

  bool is_open(const InputFn& input_fn) const {
    return input_ != nullptr && identity_ == input_fn.identity();
  }
  // REQUIRES: First was called, and Close not since.
  Feeder& open() { return *input_; }
  // Until the next First, no function of the input is called: a thread that reads ahead waits.
  // Returns when the element that it is reading is read. An input that ends with a Prefetch of the
  // user's own is not stopped.
  void Pause();
  void Close();

 private:
  absl::Status OpenAtStart(const InputFn& input_fn);
  absl::StatusOr<bool> Restore(const std::string& checkpoint);
  // Moves the input to this process's part of the position.
  absl::Status RestorePart(const std::string& position);

  const Strategy& strategy_;
  const std::optional<int64_t> seed_;
  const std::optional<RunConfig::OnInputChange> on_change_;
  const Peers& peers_;
  std::shared_ptr<ReadGate> gate_;  // of the thread that reads input_ ahead; null if it is not open
  std::unique_ptr<Feeder> input_;
  const void* identity_ = nullptr;
};

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_LOOP_TRAIN_INPUT_H_
