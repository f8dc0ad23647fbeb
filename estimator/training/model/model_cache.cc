#include "estimator/training/model/model_cache.h"

#include <utility>

#include "estimator/base/status.h"
#include "estimator/checkpoint/latest_checkpoint.h"

namespace estimator {

ModelCache::ModelCache(const Strategy& strategy, Mode mode, const std::string& model_dir,
                       std::optional<int64_t> seed, std::optional<WarmStartSettings> warm_start)
    : strategy_(strategy),
      mode_(mode),
      seed_(seed),
      warm_start_(std::move(warm_start)),
      newest_(model_dir),
      backend_(strategy.MakeBackend(mode, state_.store())),
      single_backend_(strategy.MakeSingleBackend(state_.store())) {}

absl::StatusOr<ModelCache::Entry*> ModelCache::For(const StepInput& input) {
  const std::vector<InputSlot> slots = SlotsOf(input.replicas[0], mode_);
  Backend* backend = input.full ? backend_.get() : single_backend_.get();
  for (const auto& entry : entries_) {
    if (entry->backend == backend && entry->model->slots == slots) return entry.get();
  }
  auto entry = std::make_unique<Entry>();
  entry->backend = backend;
  EST_ASSIGN_OR_RETURN(
      entry->model,
      BuildModel(strategy_, input.replicas[0],
                 {.mode = mode_, .seed = seed_, .num_replicas = backend->num_replicas()}));
  std::vector<Operation> updates;
  for (const auto& [name, metric] : entry->model->spec.eval_metric_ops)
    updates.push_back(metric.update);
  entry->step = std::make_unique<CompiledStep>(*entry->model, *backend, std::move(updates));
  entries_.push_back(std::move(entry));
  return entries_.back().get();
}

absl::StatusOr<std::string> ModelCache::NewestOrNone() {
  EST_ASSIGN_OR_RETURN(const std::optional<std::string> newest, newest_.Find());
  return newest.value_or("");
}

absl::StatusOr<std::string> ModelCache::EnsureVariables(const BuiltModel& model,
                                                        std::string checkpoint,
                                                        const ModelState* trained) {
  while (true) {
    const absl::Status status = Load(model, checkpoint, trained);
    if (status.ok()) return checkpoint;
    if (trained == nullptr || !newest_.PassOver(checkpoint, status)) return status;
    EST_ASSIGN_OR_RETURN(checkpoint, NewestOrNone());
  }
}

absl::Status ModelCache::Load(const BuiltModel& model, const std::string& checkpoint,
                              const ModelState* trained) {
  const bool ahead = trained != nullptr && trained->AheadOf(checkpoint);
  // A model_dir that was removed and trained again has other values under the same name.
  const double written = checkpoint.empty() ? 0 : CheckpointModifiedTimeSeconds(checkpoint);
  if (written != std::exchange(written_, written)) has_values_ = false;
  if (!ahead && has_values_ && !checkpoint.empty() && state_.checkpoint() == checkpoint)
    return absl::OkStatus();
  has_values_ = false;
  if (ahead) {
    EST_RETURN_IF_ERROR(state_.CopyFrom(*model.graph, *trained, model.scaffold));
  } else if (checkpoint.empty()) {
    EST_RETURN_IF_ERROR(state_.InitializeFresh(*model.graph, model.scaffold, warm_start_));
  } else if (trained == nullptr || trained->checkpoint() != checkpoint ||
             !state_.CopyFrom(*model.graph, *trained, model.scaffold).ok()) {
    // Also where a variable does not fit: the table of mismatches comes from here.
    EST_RETURN_IF_ERROR(state_.Restore(*model.graph, checkpoint, model.scaffold));
  }
  has_values_ = true;
  return absl::OkStatus();
}

}  // namespace estimator
