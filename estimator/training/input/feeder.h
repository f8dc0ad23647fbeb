// Feeder: the open input of a loop. It gives the input of each step, split for the replicas. The
// next step can be looked at before it is used.
#ifndef ESTIMATOR_TRAINING_INPUT_FEEDER_H_
#define ESTIMATOR_TRAINING_INPUT_FEEDER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/data/pipeline/dataset.h"
#include "estimator/data/pipeline/element.h"
#include "estimator/training/input/batch_axis.h"
#include "estimator/training/input/mode.h"

namespace estimator {

// The input of one step, before it becomes feeds.
struct StepInput {
  std::vector<Element> replicas;  // one element for each replica
  // Examples of this step, over all replicas; 0 if the elements have no batch axis.
  int64_t num_examples = 0;
  // False for a last, smaller batch, in eval and predict only. That batch is whole in replicas[0]
  // and runs on one replica, through a program of its size.
  bool full = true;
  // Feeder::Restore(position) makes this step the next one. A checkpoint has the position of the
  // first step that is not in its variables.
  std::string position = {};
};

// What is known of an input before it is read.
struct InputDescription {
  std::string pipeline;             // Dataset::Describe of what input_fn returned
  int64_t examples_per_epoch = -1;  // Dataset::ExamplesPerEpoch
  bool endless = false;             // some Dataset::Cardinality is kInfinite
  // Calls Dataset::Advice, which looks at files. Only training shows it. Empty if there is none.
  std::function<std::vector<std::string>()> advice;
};

// How the elements of the datasets become the inputs of the replicas.
enum class Distribution {
  kWhole,  // every replica gets the whole element (BROADCAST, and the only replica of a local run)
  // Each element is split evenly (PER_HOST_V1, SLICED). On axis 0, the parts share its memory.
  kSplit,
  // Replica 0, 1, ... get an element each: the next ones of one dataset (PER_HOST_V2), or that of
  // their own dataset (PER_SHARD_V1).
  kInTurn,
};

struct FeederOptions {
  Mode mode = Mode::kTrain;
  Distribution distribution = Distribution::kWhole;
  int num_replicas = 1;
  // The rows of each element; elements of another size are an error in training. 0: those of the
  // first element, and training takes elements of all sizes.
  int64_t element_rows = 0;
  std::vector<int64_t> batch_axis = {};  // of each array of an element (batch_axis.h)
  // In training, a step takes so many times what its replicas take (RunConfig.accumulate_steps):
  // the input of replicas 0 to num_replicas - 1 first, then that of the next num_replicas, ....
  int64_t accumulate_steps = 1;
  // Of a full step, only the inputs of so many replicas are kept, from `first_kept` on: those of
  // this process, if several processes read the same input. 0: all.
  int num_kept = 0;
  int first_kept = 0;
};

// In eval and predict, the examples that do not fill a last step are one smaller batch
// (StepInput::full is false). Training drops them. Used by one thread at a time.
class Feeder {
 public:
  // Opens one dataset or, with kInTurn, one for each replica.
  // Errors: those of the datasets' MakeIterator.
  static absl::StatusOr<std::unique_ptr<Feeder>> Open(const std::vector<Dataset>& datasets,
                                                      FeederOptions options);

  // The next step, which the following Next returns; null at the end. Valid until the next call of
  // a method of this class. After an error, Peek and Next return it again until Restore.
  absl::StatusOr<const StepInput*> Peek();
  absl::StatusOr<std::optional<StepInput>> Next();
  // The position of the step that Next will return, whether or not Peek has read it. After an error
  // of the input, the position of the step that could not be read.
  absl::StatusOr<std::string> Position();
  // Moves to a position of a feeder over the same datasets.
  // Errors: those of Iterator::RestoreState.
  absl::Status Restore(absl::string_view position);
  // Skips so many elements of its dataset, from its beginning. Errors: those of the dataset;
  // OUT_OF_RANGE if it has fewer; UNIMPLEMENTED for several datasets.
  absl::Status Skip(int64_t num_elements);
  const InputDescription& description() const { return description_; }
  // Iterator::StageTimes; those of several iterators are added up.
  std::vector<StageTime> StageTimes() const;

 private:
  Feeder(const std::vector<Dataset>& datasets, std::vector<std::unique_ptr<Iterator>> iterators,
         FeederOptions options);
  absl::StatusOr<std::optional<StepInput>> Read();
  absl::StatusOr<std::optional<StepInput>> ReadStep();
  absl::StatusOr<std::optional<StepInput>> ReadOnce();
  absl::Status CheckRows(int64_t rows) const;
  absl::StatusOr<std::vector<Element>> Split(const Element& batch) const;
  absl::StatusOr<std::string> SaveIterators();

  const FeederOptions options_;
  const BatchAxis batch_axis_;
  const InputDescription description_;
  const std::vector<std::unique_ptr<Iterator>> iterators_;
  std::optional<int64_t> full_rows_;  // of an element; not known before the first if not given
  std::optional<StepInput> peeked_;
  absl::Status error_;                   // of the step that failed; it is not skipped
  std::optional<std::string> position_;  // of the next step, or of the one that failed, if known
};

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_INPUT_FEEDER_H_
