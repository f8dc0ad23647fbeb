#include "estimator/training/input/single_feeder.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "estimator/base/status.h"
#include "estimator/training/input/batch_axis.h"

namespace estimator {
namespace {

class SingleFeeder : public Feeder {
 public:
  SingleFeeder(Mode mode, InputDescription description, std::unique_ptr<Iterator> iterator,
               std::vector<int64_t> batch_axis)
      : mode_(mode),
        description_(std::move(description)),
        iterator_(std::move(iterator)),
        batch_axis_(std::move(batch_axis)) {}

  absl::StatusOr<std::optional<StepInput>> Next() override {
    EST_ASSIGN_OR_RETURN(std::optional<Element> element, iterator_->Next());
    if (!element.has_value()) return std::optional<StepInput>();
    EST_RETURN_IF_ERROR(batch_axis_.Check(*element));
    StepInput input;
    input.num_examples = batch_axis_.NumRows(*element);
    if (full_rows_ < 0) full_rows_ = input.num_examples;
    input.full = mode_ == Mode::kTrain || input.num_examples == full_rows_;
    input.replicas.push_back(*std::move(element));
    return std::optional<StepInput>(std::move(input));
  }
  absl::StatusOr<std::string> SaveState() override { return iterator_->SaveState(); }
  absl::Status RestoreState(absl::string_view state) override {
    return iterator_->RestoreState(state);
  }
  const InputDescription& description() const override { return description_; }
  std::vector<StageTime> StageTimes() const override { return iterator_->StageTimes(); }

 private:
  const Mode mode_;
  const InputDescription description_;
  const std::unique_ptr<Iterator> iterator_;
  const BatchAxis batch_axis_;
  int64_t full_rows_ = -1;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Feeder>> MakeSingleFeeder(Mode mode, const Dataset& dataset,
                                                         absl::Span<const int64_t> batch_axis) {
  EST_ASSIGN_OR_RETURN(std::unique_ptr<Iterator> iterator, dataset.MakeIterator());
  return std::make_unique<SingleFeeder>(mode, DescribeInput(dataset), std::move(iterator),
                                        std::vector<int64_t>(batch_axis.begin(), batch_axis.end()));
}

}  // namespace estimator
