#include "estimator/training/model/model_cache.h"

#include <utility>
#include <vector>

#include "estimator/base/status.h"
#include "estimator/checkpoint/latest_checkpoint.h"
#include "glog/logging.h"

namespace estimator {

ModelCache::ModelCache(const Strategy& strategy, Mode mode, const std::string& model_dir,
                       std::optional<int64_t> seed, std::optional<WarmStartSettings> warm_start,
                       int64_t max_shapes, double learning_rate_scale)
    : strategy_(strategy),
      mode_(mode),
      seed_(seed),
      warm_start_(std::move(warm_start)),
      learning_rate_scale_(learning_rate_scale),
      model_dir_(model_dir),
      start_(model_dir),
      backend_(strategy.MakeBackend(mode, state_.store())),
      single_backend_(strategy.MakeSingleBackend(state_.store())),
      shapes_(mode, max_shapes) {}

absl::StatusOr<CompiledShapePtr> ModelCache::For(const StepInput& input) {
  // The last, smaller batch is whole, and runs on one replica.
  Backend& backend = input.full ? *backend_ : *single_backend_;
  return shapes_.For(input, backend, [&]() -> absl::StatusOr<CompiledShapePtr> {
    const auto shape = std::make_shared<CompiledShape>();
    shape->backend = &backend;
    EST_ASSIGN_OR_RETURN(shape->model,
                         BuildModel(strategy_, input.replicas[0],
                                    {.mode = mode_,
                                     .seed = seed_,
                                     .num_replicas = input.full ? strategy_.num_replicas(mode_) : 1,
                                     .learning_rate_scale = learning_rate_scale_}));
    std::vector<Operation> updates;
    for (const auto& [name, metric] : shape->model->spec.eval_metric_ops)
      updates.push_back(metric.update);
    shape->step = std::make_unique<CompiledStep>(*shape->model, backend, std::move(updates));
    return shape;
  });
}

absl::StatusOr<CheckpointChoice> ModelCache::ChooseCheckpoint(
    const std::optional<std::string>& checkpoint_path, const ModelState& trained,
    absl::string_view doing) {
  // Values in memory that are newer than every checkpoint are no reason for the warning.
  EST_ASSIGN_OR_RETURN(CheckpointChoice choice, start_.Choose(checkpoint_path));
  if (choice.prefix.empty() && trained.RelativeTo("") != MemoryState::kAhead) {
    if (warm_start_.has_value()) {
      LOG(INFO) << "Could not find trained model in model_dir: " << model_dir_ << ", " << doing
                << " warm-started variables";
    } else {
      // As in TensorFlow, which raised an error until 1.4, this is no error.
      LOG(WARNING) << "Could not find trained model in model_dir: " << model_dir_ << ", " << doing
                   << " freshly initialized variables; train first, or set model_dir to the folder "
                      "of a trained model";
    }
  }
  return choice;
}

absl::StatusOr<std::string> ModelCache::EnsureVariables(const BuiltModel& model,
                                                        const CheckpointChoice& choice,
                                                        const ModelState& trained) {
  const bool by_caller = choice.by == CheckpointChoice::By::kCaller;
  return start_.Start(choice, [&](CheckpointAttempt& attempt) {
    return Load(model, attempt, by_caller ? nullptr : &trained);
  });
}

absl::Status ModelCache::CopyVariables(const BuiltModel& model, const ModelState& trained) {
  has_values_ = false;  // of a checkpoint
  return state_.CopyFrom(*model.graph, trained, model.scaffold);
}

absl::Status ModelCache::Load(const BuiltModel& model, CheckpointAttempt& attempt,
                              const ModelState* trained) {
  const std::string& checkpoint = attempt.prefix();
  const MemoryState memory =
      trained == nullptr ? MemoryState::kOther : trained->RelativeTo(checkpoint);
  // If model_dir was removed and trained again, other values have the same checkpoint name.
  const double written = checkpoint.empty() ? 0 : CheckpointModifiedTimeSeconds(checkpoint);
  if (written != std::exchange(written_, written)) has_values_ = false;
  if (memory != MemoryState::kAhead && has_values_ &&
      state_.RelativeTo(checkpoint) == MemoryState::kAtCheckpoint)
    return absl::OkStatus();
  has_values_ = false;
  if (memory == MemoryState::kAhead) {
    EST_RETURN_IF_ERROR(state_.CopyFrom(*model.graph, *trained, model.scaffold));
  } else if (checkpoint.empty()) {
    EST_RETURN_IF_ERROR(state_.InitializeFresh(*model.graph, model.scaffold, warm_start_));
  } else if (memory != MemoryState::kAtCheckpoint ||
             !state_.CopyFrom(*model.graph, *trained, model.scaffold).ok()) {
    // Also if a variable in memory does not fit: Restore's error has the table of mismatches.
    EST_RETURN_IF_ERROR(attempt.Reading(state_.Restore(*model.graph, checkpoint, model.scaffold)));
  }
  has_values_ = true;
  return absl::OkStatus();
}

}  // namespace estimator
