#include "estimator/training/input/feeder.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "estimator/base/status.h"
#include "estimator/data/pipeline/iterator_state.h"

namespace estimator {
namespace {

InputDescription Describe(const std::vector<Dataset>& datasets) {
  const Dataset& first = datasets[0];
  InputDescription all = {
      .pipeline = first.Describe(),
      .examples_per_epoch = first.ExamplesPerEpoch(),
      .endless = std::any_of(
          datasets.begin(), datasets.end(),
          [](const Dataset& dataset) { return dataset.Cardinality() == Dataset::kInfinite; }),
      .advice = [first] { return first.Advice(); }};
  if (datasets.size() == 1) return all;
  all.pipeline = absl::StrCat(datasets.size(), " x ", all.pipeline);
  for (size_t i = 1; i < datasets.size(); ++i) {
    const int64_t n = datasets[i].ExamplesPerEpoch();
    all.examples_per_epoch = n < 0 || all.examples_per_epoch < 0 ? -1 : all.examples_per_epoch + n;
  }
  return all;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Feeder>> Feeder::Open(const std::vector<Dataset>& datasets,
                                                     FeederOptions options) {
  std::vector<std::unique_ptr<Iterator>> iterators;
  for (const Dataset& dataset : datasets) {
    EST_ASSIGN_OR_RETURN(std::unique_ptr<Iterator> iterator, dataset.MakeIterator());
    iterators.push_back(std::move(iterator));
  }
  return std::unique_ptr<Feeder>(new Feeder(datasets, std::move(iterators), std::move(options)));
}

Feeder::Feeder(const std::vector<Dataset>& datasets,
               std::vector<std::unique_ptr<Iterator>> iterators, FeederOptions options)
    : options_(std::move(options)),
      batch_axis_(options_.batch_axis),
      description_(Describe(datasets)),
      iterators_(std::move(iterators)) {
  if (options_.element_rows > 0) full_rows_ = options_.element_rows;
}

absl::StatusOr<const StepInput*> Feeder::Peek() {
  if (!peeked_.has_value()) {
    EST_ASSIGN_OR_RETURN(peeked_, Read());
  }
  return peeked_.has_value() ? &*peeked_ : nullptr;
}

absl::StatusOr<std::optional<StepInput>> Feeder::Next() {
  if (!peeked_.has_value()) return Read();
  return std::exchange(peeked_, std::nullopt);
}

absl::StatusOr<std::string> Feeder::Position() {
  if (peeked_.has_value()) return peeked_->position;
  if (!position_.has_value()) {
    EST_ASSIGN_OR_RETURN(position_, SaveIterators());
  }
  return *position_;
}

absl::StatusOr<std::optional<StepInput>> Feeder::Read() {
  EST_RETURN_IF_ERROR(error_);
  // The position is taken before every step, because an iterator that has failed cannot give it. It
  // is small, so this costs little.
  EST_ASSIGN_OR_RETURN(std::string position, Position());
  absl::StatusOr<std::optional<StepInput>> step = ReadStep();
  error_ = step.status();
  if (!step.ok()) return step;
  position_.reset();
  if (step->has_value()) (*step)->position = std::move(position);
  return step;
}

absl::StatusOr<std::optional<StepInput>> Feeder::ReadStep() {
  EST_ASSIGN_OR_RETURN(std::optional<StepInput> step, ReadOnce());
  if (options_.mode != Mode::kTrain || !step.has_value()) return step;
  const int64_t rows = step->num_examples;
  for (int64_t i = 1; i < options_.accumulate_steps; ++i) {
    EST_ASSIGN_OR_RETURN(std::optional<StepInput> next, ReadOnce());
    // What does not fill a step is dropped, as a smaller batch is.
    if (!next.has_value()) return next;
    if (next->num_examples != rows) {
      return InvalidArgument("input_fn returned batches of ", rows, " and of ", next->num_examples,
                             " rows, but those of accumulate_steps must be equal: set "
                             ".drop_remainder, or Repeat() before Batch()");
    }
    step->num_examples += rows;
    std::move(next->replicas.begin(), next->replicas.end(), std::back_inserter(step->replicas));
  }
  return step;
}

absl::StatusOr<std::optional<StepInput>> Feeder::ReadOnce() {
  const bool in_turn = options_.distribution == Distribution::kInTurn;
  const int num_elements = in_turn ? options_.num_replicas : 1;
  StepInput step;
  for (int i = 0; i < num_elements; ++i) {
    // One iterator for all replicas, or one for each.
    Iterator& iterator = *iterators_[iterators_.size() == 1 ? 0 : static_cast<size_t>(i)];
    EST_ASSIGN_OR_RETURN(std::optional<Element> element, iterator.Next());
    if (!element.has_value()) break;
    EST_RETURN_IF_ERROR(batch_axis_.Check(*element));
    const int64_t rows = batch_axis_.NumRows(*element);
    EST_RETURN_IF_ERROR(CheckRows(rows));
    if (!full_rows_.has_value()) full_rows_ = rows;
    step.num_examples += rows;
    step.replicas.push_back(*std::move(element));
    if (rows < *full_rows_) break;  // the last batch
  }
  if (step.replicas.empty()) return std::nullopt;
  const bool trains = options_.mode == Mode::kTrain;
  step.full =
      step.num_examples == *full_rows_ * num_elements || (trains && options_.element_rows == 0);
  if (!step.full) {
    // Its shape would need another program, which is not worth its time in training.
    if (trains) return std::nullopt;
    // Such a batch is one element, because it runs whole on one replica.
    if (in_turn) {
      EST_ASSIGN_OR_RETURN(Element joined, batch_axis_.Join(step.replicas));
      step.replicas.assign(1, std::move(joined));
    }
  } else if (options_.distribution == Distribution::kSplit) {
    EST_ASSIGN_OR_RETURN(step.replicas, Split(step.replicas[0]));
  } else if (options_.distribution == Distribution::kWhole) {
    // Copies of an array share its bytes.
    step.replicas.resize(static_cast<size_t>(options_.num_replicas), step.replicas[0]);
  }
  if (step.full && options_.num_kept > 0) {
    const auto first = step.replicas.begin() + options_.first_kept;
    step.replicas = std::vector<Element>(first, first + options_.num_kept);
  }
  return std::optional<StepInput>(std::move(step));
}

absl::Status Feeder::CheckRows(int64_t rows) const {
  const int64_t wanted = options_.element_rows;
  // In evaluation and prediction, the last batch may be smaller.
  if (wanted == 0 || rows == wanted || (rows < wanted && options_.mode != Mode::kTrain))
    return absl::OkStatus();
  return InvalidArgument(
      "input_fn returned a batch of ", rows, " rows, but ",
      options_.distribution == Distribution::kInTurn ? "a replica" : "a step", " takes ", wanted,
      ": batch by params.batch_size; in training also set .drop_remainder or Repeat() first, "
      "because shapes are static; if the batch is not axis 0 of every array, set batch_axis");
}

absl::StatusOr<std::vector<Element>> Feeder::Split(const Element& batch) const {
  const int64_t part = *full_rows_ / options_.num_replicas;
  std::vector<Element> parts;
  for (int64_t i = 0; i < options_.num_replicas; ++i) {
    EST_ASSIGN_OR_RETURN(Element slice,
                         batch_axis_.Slice(batch, i * part, (i + 1) * part, *full_rows_));
    parts.push_back(std::move(slice));
  }
  return parts;
}

// For one iterator, returns its own state, so that a run on replicas can continue locally, and vice
// versa. For several, returns all states, sealed with the description of the whole input.
// On disk: do not change.
absl::StatusOr<std::string> Feeder::SaveIterators() {
  if (iterators_.size() == 1) return iterators_[0]->SaveState();
  StateWriter all;
  for (const auto& iterator : iterators_) {
    EST_ASSIGN_OR_RETURN(const std::string state, iterator->SaveState());
    all.Bytes(state);
  }
  return SealState(description_.pipeline, all.bytes());
}

absl::Status Feeder::Restore(absl::string_view position) {
  if (iterators_.size() == 1) {
    EST_RETURN_IF_ERROR(iterators_[0]->RestoreState(position));
  } else {
    EST_ASSIGN_OR_RETURN(const SealedState all, ReadSealedState(position));
    // Each iterator checks its own pipeline, so only their number is checked here.
    absl::string_view pipeline = all.description;
    if (!absl::ConsumePrefix(&pipeline, absl::StrCat(iterators_.size(), " x ")))
      return UnsealState(description_.pipeline, position).status();
    StateReader reader(all.nodes);
    for (const auto& iterator : iterators_) {
      EST_ASSIGN_OR_RETURN(const absl::string_view part, reader.Bytes());
      EST_RETURN_IF_ERROR(iterator->RestoreState(part));
    }
  }
  peeked_.reset();
  position_.reset();
  error_ = absl::OkStatus();
  return absl::OkStatus();
}

absl::Status Feeder::Skip(int64_t num_elements) {
  if (iterators_.size() != 1) return Unimplemented("the input has several datasets");
  EST_ASSIGN_OR_RETURN(const int64_t skipped, iterators_[0]->Skip(num_elements));
  if (skipped < num_elements)
    return absl::OutOfRangeError(absl::StrCat("the input has only ", skipped, " batches"));
  peeked_.reset();
  position_.reset();
  return absl::OkStatus();
}

std::vector<StageTime> Feeder::StageTimes() const {
  std::vector<StageTime> sum = iterators_[0]->StageTimes();
  for (size_t i = 1; i < iterators_.size(); ++i) {
    const std::vector<StageTime> more = iterators_[i]->StageTimes();
    for (size_t k = 0; k < std::min(sum.size(), more.size()); ++k)
      sum[k].seconds += more[k].seconds;
  }
  return sum;
}

}  // namespace estimator
