#include "tpu/feeders.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/data/pipeline/iterator_state.h"

namespace estimator::tpu {
namespace {

absl::Status WrongBatch(absl::string_view what, int64_t wanted, int64_t given) {
  return absl::InvalidArgumentError(
      absl::StrCat("input_fn returned a batch of ", given, " rows, but ", what, " takes ", wanted,
                   ": batch by params.batch_size; in training also set .drop_remainder or Repeat() "
                   "first, because shapes are static; if the batch is not axis 0 of every array, "
                   "set batch_axis"));
}

// The common part of all feeders: one or more iterators, whose states are saved together.
class IteratorsFeeder : public Feeder {
 public:
  IteratorsFeeder(InputDescription description, std::vector<std::unique_ptr<Iterator>> iterators,
                  std::vector<int64_t> batch_axis)
      : batch_axis_(std::move(batch_axis)),
        description_(std::move(description)),
        iterators_(std::move(iterators)) {}

  // For one iterator, returns its own state, so that a run on shards can continue locally, and vice
  // versa. For several, returns all states, sealed with the description of the whole input.
  // On disk: do not change.
  absl::StatusOr<std::string> SaveState() override {
    if (iterators_.size() == 1) return iterators_[0]->SaveState();
    StateWriter all;
    for (const auto& iterator : iterators_) {
      EST_ASSIGN_OR_RETURN(const std::string state, iterator->SaveState());
      all.Bytes(state);
    }
    return SealState(description_.pipeline, all.bytes());
  }
  absl::Status RestoreState(absl::string_view state) override {
    if (iterators_.size() == 1) return iterators_[0]->RestoreState(state);
    EST_ASSIGN_OR_RETURN(const absl::string_view parts, UnsealState(description_.pipeline, state));
    StateReader reader(parts);
    for (const auto& iterator : iterators_) {
      EST_ASSIGN_OR_RETURN(const absl::string_view part, reader.Bytes());
      EST_RETURN_IF_ERROR(iterator->RestoreState(part));
    }
    return absl::OkStatus();
  }
  const InputDescription& description() const override { return description_; }
  std::vector<StageTime> StageTimes() const override {
    std::vector<StageTime> sum = iterators_[0]->StageTimes();
    for (size_t i = 1; i < iterators_.size(); ++i) {
      const std::vector<StageTime> more = iterators_[i]->StageTimes();
      for (size_t k = 0; k < std::min(sum.size(), more.size()); ++k)
        sum[k].seconds += more[k].seconds;
    }
    return sum;
  }

 protected:
  Iterator& iterator(size_t i = 0) { return *iterators_[i]; }
  size_t num_iterators() const { return iterators_.size(); }
  const BatchAxis& batch_axis() const { return batch_axis_; }

 private:
  const BatchAxis batch_axis_;
  const InputDescription description_;
  const std::vector<std::unique_ptr<Iterator>> iterators_;
};

StepInput WholeRemainder(Element element, int64_t num_rows) {
  StepInput input;
  input.replicas.push_back(std::move(element));
  input.num_examples = num_rows;
  input.full = false;
  return input;
}

// An iterator over batches of all replicas together.
class GlobalBatchFeeder : public IteratorsFeeder {
 public:
  GlobalBatchFeeder(Mode mode, int num_replicas, int64_t global_batch, InputDescription description,
                    std::vector<std::unique_ptr<Iterator>> iterators,
                    std::vector<int64_t> batch_axis)
      : IteratorsFeeder(std::move(description), std::move(iterators), std::move(batch_axis)),
        mode_(mode),
        num_replicas_(num_replicas),
        global_batch_(global_batch) {}

  absl::StatusOr<std::optional<StepInput>> Next() override {
    EST_ASSIGN_OR_RETURN(std::optional<Element> element, iterator().Next());
    if (!element.has_value()) return std::optional<StepInput>();
    EST_RETURN_IF_ERROR(batch_axis().Check(*element));
    const int64_t num_rows = batch_axis().NumRows(*element);
    if (num_rows != global_batch_) {
      if (mode_ == Mode::kTrain || num_rows > global_batch_)
        return WrongBatch("a step", global_batch_, num_rows);
      return std::optional<StepInput>(WholeRemainder(*std::move(element), num_rows));
    }
    StepInput input;
    input.num_examples = num_rows;
    EST_ASSIGN_OR_RETURN(input.replicas, Distribute(*element));
    return std::optional<StepInput>(std::move(input));
  }

 protected:
  // Returns the part of a full batch for each replica.
  virtual absl::StatusOr<std::vector<Element>> Distribute(const Element& batch) const = 0;
  int num_replicas() const { return num_replicas_; }
  int64_t global_batch() const { return global_batch_; }

 private:
  const Mode mode_;
  const int num_replicas_;
  const int64_t global_batch_;
};

class SplitFeeder : public GlobalBatchFeeder {
 public:
  using GlobalBatchFeeder::GlobalBatchFeeder;

 protected:
  absl::StatusOr<std::vector<Element>> Distribute(const Element& batch) const override {
    const int64_t part = global_batch() / num_replicas();
    std::vector<Element> parts;
    for (int64_t i = 0; i < num_replicas(); ++i) {
      EST_ASSIGN_OR_RETURN(Element slice,
                           batch_axis().Slice(batch, i * part, (i + 1) * part, global_batch()));
      parts.push_back(std::move(slice));
    }
    return parts;
  }
};

class BroadcastFeeder : public GlobalBatchFeeder {
 public:
  using GlobalBatchFeeder::GlobalBatchFeeder;

 protected:
  absl::StatusOr<std::vector<Element>> Distribute(const Element& batch) const override {
    return std::vector<Element>(static_cast<size_t>(num_replicas()), batch);
  }
};

class ConsecutiveFeeder : public IteratorsFeeder {
 public:
  ConsecutiveFeeder(Mode mode, int num_replicas, int64_t replica_batch,
                    InputDescription description, std::vector<std::unique_ptr<Iterator>> iterators,
                    std::vector<int64_t> batch_axis)
      : IteratorsFeeder(std::move(description), std::move(iterators), std::move(batch_axis)),
        mode_(mode),
        num_replicas_(num_replicas),
        replica_batch_(replica_batch) {}

  absl::StatusOr<std::optional<StepInput>> Next() override {
    StepInput input;
    for (int i = 0; i < num_replicas_; ++i) {
      // One iterator for all replicas, or one for each.
      EST_ASSIGN_OR_RETURN(std::optional<Element> element,
                           iterator(num_iterators() == 1 ? 0 : static_cast<size_t>(i)).Next());
      if (!element.has_value()) break;
      EST_RETURN_IF_ERROR(batch_axis().Check(*element));
      const int64_t num_rows = batch_axis().NumRows(*element);
      if (num_rows > replica_batch_ || (num_rows < replica_batch_ && mode_ == Mode::kTrain)) {
        return WrongBatch("a replica", replica_batch_, num_rows);
      }
      input.num_examples += num_rows;
      input.replicas.push_back(*std::move(element));
      if (num_rows < replica_batch_) break;
    }
    if (input.num_examples == replica_batch_ * num_replicas_)
      return std::optional<StepInput>(std::move(input));
    // Training drops batches that do not fill a step.
    if (input.replicas.empty() || mode_ == Mode::kTrain) return std::optional<StepInput>();
    EST_ASSIGN_OR_RETURN(Element joined, batch_axis().Join(input.replicas));
    return std::optional<StepInput>(WholeRemainder(std::move(joined), input.num_examples));
  }

 private:
  const Mode mode_;
  const int num_replicas_;
  const int64_t replica_batch_;
};

absl::StatusOr<std::vector<std::unique_ptr<Iterator>>> Open(const std::vector<Dataset>& datasets) {
  std::vector<std::unique_ptr<Iterator>> iterators;
  for (const Dataset& dataset : datasets) {
    EST_ASSIGN_OR_RETURN(std::unique_ptr<Iterator> iterator, dataset.MakeIterator());
    iterators.push_back(std::move(iterator));
  }
  return iterators;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Feeder>> MakeSplitFeeder(Mode mode, const Dataset& dataset,
                                                        int num_replicas, int64_t global_batch,
                                                        std::vector<int64_t> batch_axis) {
  EST_ASSIGN_OR_RETURN(auto iterators, Open({dataset}));
  return std::make_unique<SplitFeeder>(mode, num_replicas, global_batch, DescribeInput(dataset),
                                       std::move(iterators), std::move(batch_axis));
}

absl::StatusOr<std::unique_ptr<Feeder>> MakeConsecutiveFeeder(Mode mode, const Dataset& dataset,
                                                              int num_replicas,
                                                              int64_t replica_batch,
                                                              std::vector<int64_t> batch_axis) {
  EST_ASSIGN_OR_RETURN(auto iterators, Open({dataset}));
  return std::make_unique<ConsecutiveFeeder>(mode, num_replicas, replica_batch,
                                             DescribeInput(dataset), std::move(iterators),
                                             std::move(batch_axis));
}

absl::StatusOr<std::unique_ptr<Feeder>> MakePerShardFeeder(const std::vector<Dataset>& datasets,
                                                           int64_t replica_batch,
                                                           std::vector<int64_t> batch_axis) {
  EST_ASSIGN_OR_RETURN(auto iterators, Open(datasets));
  return std::make_unique<ConsecutiveFeeder>(Mode::kTrain, static_cast<int>(datasets.size()),
                                             replica_batch, DescribeInput(datasets),
                                             std::move(iterators), std::move(batch_axis));
}

absl::StatusOr<std::unique_ptr<Feeder>> MakeBroadcastFeeder(Mode mode, const Dataset& dataset,
                                                            int num_replicas, int64_t global_batch,
                                                            std::vector<int64_t> batch_axis) {
  EST_ASSIGN_OR_RETURN(auto iterators, Open({dataset}));
  return std::make_unique<BroadcastFeeder>(mode, num_replicas, global_batch, DescribeInput(dataset),
                                           std::move(iterators), std::move(batch_axis));
}

}  // namespace estimator::tpu
