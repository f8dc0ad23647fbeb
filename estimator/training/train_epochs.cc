// EstimatorBase::TrainEpochs.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "estimator/base/status.h"
#include "estimator/training/epochs/epoch_options.h"
#include "estimator/training/estimator_base.h"
#include "estimator/training/loop/epoch_loop.h"

namespace estimator {
namespace {

// The same input without an end. It is another input than `input` for calls of Train.
//   pass_steps: gets the steps of one pass; -1 if they are not known.
//   global_batch_size: of one of the `accumulated` batches of a step; 0 if it is not known.
InputFn RepeatedInput(const InputFn& input, const std::shared_ptr<int64_t>& pass_steps,
                      int64_t global_batch_size, int64_t accumulated) {
  return InputFn(
      [=](const InputFn::Call& call) -> absl::StatusOr<Dataset> {
        EST_ASSIGN_OR_RETURN(const Dataset dataset, input(call));
        const int64_t batches = dataset.Cardinality();
        // With PER_HOST_V2, a step takes an element for each replica.
        const int64_t rows = call.batch_size * call.num_invocations;
        const int64_t batches_of_step =
            rows > 0 ? std::max<int64_t>(1, global_batch_size / rows) : 1;
        *pass_steps = batches >= 0 ? batches / (batches_of_step * accumulated) : -1;
        return batches == Dataset::kInfinite ? dataset : dataset.Repeat();
      },
      static_cast<const char*>(input.identity()) + 1);
}

}  // namespace

absl::Status EpochSettings::Validate() const {
  std::vector<std::string> wrong;
  const auto check = [&wrong](const char* name, int64_t value, int64_t least) {
    if (value < least)
      wrong.push_back(absl::StrCat(name, " must be at least ", least, ", given: ", value));
  };
  check("epochs", epochs, 1);
  check("initial_epoch", initial_epoch, 0);
  check("steps_per_epoch", steps_per_epoch.value_or(1), 1);
  check("validation_steps", validation_steps.value_or(1), 1);
  check("validation_freq", validation_freq, 1);
  if (wrong.empty()) return absl::OkStatus();
  return InvalidArgument("TrainEpochs: ", absl::StrJoin(wrong, "; "));
}

absl::StatusOr<History> EstimatorBase::TrainEpochs(const InputFn& input, const InputFn& validation,
                                                   const EpochSettings& given) {
  EST_RETURN_IF_ERROR(status_);
  EST_RETURN_IF_ERROR(given.Validate());
  EST_RETURN_IF_ERROR(MayBegin({.mode = Mode::kTrain, .input = input, .num_steps_given = true}));
  EpochSettings settings = given;
  if (config_.dry_run) {
    settings.epochs = settings.initial_epoch + 1;
    settings.steps_per_epoch = settings.validation_steps = settings.validation_freq = 1;
    settings.hooks = settings.validation_hooks = {};
  }
  EpochLoopOptions options{.kind = EpochLoopOptions::Kind::kTrainEpochs,
                           .epochs = settings.epochs,
                           .initial_epoch = settings.initial_epoch,
                           .steps_per_epoch = settings.steps_per_epoch,
                           .pass_steps = pass_steps_,
                           .hooks = settings.hooks,
                           .validation_freq = settings.validation_freq};
  if (validation.valid()) {
    options.validate = [this, validation, &settings](Session& session) {
      return EvaluateInMemory(validation,
                              {.steps = settings.validation_steps,
                               .hooks = settings.validation_hooks,
                               .checkpoint_path = std::nullopt,
                               .name = settings.validation_name},
                              session);
    };
    const auto steps = [this, settings](int64_t) {
      return settings.steps_per_epoch.value_or(*pass_steps_) * settings.validation_freq;
    };
    settings.hooks.push_back(MakeSanityHook(validation, steps));
  }
  const auto epochs = std::make_shared<EpochLoop>(std::move(options));
  EST_RETURN_IF_ERROR(trainer_->Train(
      RepeatedInput(input, pass_steps_, strategy_->batch_size(Mode::kTrain),
                    config_.accumulate_steps),
      TrainLength(),
      {.hooks = settings.hooks, .saving_listeners = settings.saving_listeners, .epochs = epochs}));
  // The chief has kept it.
  return peers_->is_chief() ? epochs->history() : ReadHistory(model_dir());
}

}  // namespace estimator
