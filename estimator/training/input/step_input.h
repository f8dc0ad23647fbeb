// StepInput: the input of one step. Feeder: the open input that gives it, step by step.
#ifndef ESTIMATOR_TRAINING_INPUT_STEP_INPUT_H_
#define ESTIMATOR_TRAINING_INPUT_STEP_INPUT_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/data/pipeline/dataset.h"
#include "estimator/data/pipeline/element.h"

namespace estimator {

// One step's input before it becomes feeds.
struct StepInput {
  std::vector<Element> replicas;  // one element for each replica
  // Examples of this step, over all replicas; 0 if the elements have no batch axis.
  int64_t num_examples = 0;
  // False for a last, smaller batch, in eval and predict only. That batch is whole in replicas[0]
  // and runs on one replica, through a program of its size.
  bool full = true;
};

// What is known of an input before it is read.
struct InputDescription {
  std::string pipeline;             // Dataset::Describe of what input_fn returned
  int64_t examples_per_epoch = -1;  // Dataset::ExamplesPerEpoch
  // Calls Dataset::Advice, which looks at files. Only training shows it. Empty if there is none.
  std::function<std::vector<std::string>()> advice;
};
InputDescription DescribeInput(const Dataset& dataset);
// Of an input of one dataset for each replica.
// REQUIRES: at least one dataset.
InputDescription DescribeInput(const std::vector<Dataset>& datasets);

// The open input of a run. Used by one thread at a time.
class Feeder {
 public:
  virtual ~Feeder() = default;
  // The next step's input; nullopt at the end.
  virtual absl::StatusOr<std::optional<StepInput>> Next() = 0;
  // The position of the next step, for RestoreState of a feeder over the same dataset.
  virtual absl::StatusOr<std::string> SaveState() = 0;
  virtual absl::Status RestoreState(absl::string_view state) = 0;
  virtual const InputDescription& description() const = 0;
  // Iterator::StageTimes; those of several iterators are added up.
  virtual std::vector<StageTime> StageTimes() const = 0;
};

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_INPUT_STEP_INPUT_H_
