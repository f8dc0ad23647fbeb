#include "estimator/training/model/local_strategy.h"

#include <utility>

#include "estimator/base/status.h"
#include "estimator/runtime/cpu_backend.h"
#include "estimator/training/input/batch_axis.h"

namespace estimator {
namespace {

class SingleFeeder : public Feeder {
 public:
  SingleFeeder(Mode mode, std::string description, std::unique_ptr<Iterator> iterator,
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
  std::string Describe() const override { return description_; }

 private:
  const Mode mode_;
  const std::string description_;
  const std::unique_ptr<Iterator> iterator_;
  const BatchAxis batch_axis_;
  int64_t full_rows_ = -1;
};

class LocalStrategy : public Strategy {
 public:
  LocalStrategy(ModelCall model_call, BatchSizes batch_sizes, CompileOptions compile_options,
                std::vector<int64_t> batch_axis)
      : model_call_(std::move(model_call)),
        batch_sizes_(batch_sizes),
        compile_options_(compile_options),
        batch_axis_(std::move(batch_axis)) {}

  std::string name() const override { return "CPU"; }
  int num_replicas(Mode) const override { return 1; }
  int64_t iterations_per_loop() const override { return 1; }
  int64_t batch_size(Mode mode) const override { return batch_sizes_.of(mode); }
  absl::Span<const int64_t> batch_axis(Mode mode) const override {
    return mode == Mode::kPredict ? absl::Span<const int64_t>() : batch_axis_;
  }
  absl::Status Validate(Mode) const override { return absl::OkStatus(); }

  std::unique_ptr<Backend> MakeBackend(Mode, VariableStore& store) const override {
    return MakeCpuBackend(store, compile_options_);
  }
  std::unique_ptr<Backend> MakeSingleBackend(VariableStore& store) const override {
    return MakeCpuBackend(store, compile_options_);
  }
  absl::StatusOr<std::unique_ptr<Feeder>> OpenInput(Mode mode,
                                                    const InputFn& input_fn) const override {
    EST_ASSIGN_OR_RETURN(const Dataset dataset,
                         input_fn({.mode = mode, .batch_size = batch_sizes_.of(mode)}));
    return MakeSingleFeeder(mode, dataset, batch_axis(mode));
  }
  absl::StatusOr<ModelSpec> CallModelFn(const Features& features, const Labels& labels, Mode mode,
                                        int64_t batch_size) const override {
    return model_call_(features, labels, mode, batch_size);
  }

 private:
  const ModelCall model_call_;
  const BatchSizes batch_sizes_;
  const CompileOptions compile_options_;
  const std::vector<int64_t> batch_axis_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Feeder>> MakeSingleFeeder(Mode mode, const Dataset& dataset,
                                                         absl::Span<const int64_t> batch_axis) {
  EST_ASSIGN_OR_RETURN(std::unique_ptr<Iterator> iterator, dataset.MakeIterator());
  return std::make_unique<SingleFeeder>(mode, dataset.Describe(), std::move(iterator),
                                        std::vector<int64_t>(batch_axis.begin(), batch_axis.end()));
}

std::unique_ptr<Strategy> MakeLocalStrategy(ModelCall model_call, BatchSizes batch_sizes,
                                            CompileOptions compile_options,
                                            std::vector<int64_t> batch_axis) {
  return std::make_unique<LocalStrategy>(std::move(model_call), batch_sizes, compile_options,
                                         std::move(batch_axis));
}

}  // namespace estimator
