#include "estimator/training/loop/default_hooks.h"

#include <algorithm>
#include <memory>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/training/callbacks/callback.h"
#include "estimator/training/hooks/checkpoint_saver_hook.h"
#include "estimator/training/hooks/graph_writer_hook.h"
#include "estimator/training/hooks/learning_rate_plot_hook.h"
#include "estimator/training/hooks/nan_tensor_hook.h"
#include "estimator/training/hooks/profiler_hook.h"
#include "estimator/training/hooks/progress_hook.h"
#include "estimator/training/hooks/step_counter_hook.h"
#include "estimator/training/hooks/summary_saver_hook.h"

namespace estimator {
namespace {

StepsOrSeconds CheckpointInterval(const RunConfig& config) {
  if (config.save_checkpoints_steps.value_or(0) > 0)
    return {.every_steps = config.save_checkpoints_steps, .every_secs = std::nullopt};
  const int64_t secs =
      config.save_checkpoints_secs.value_or(RunConfig::kDefaultSaveCheckpointsSecs);
  return {.every_steps = std::nullopt, .every_secs = static_cast<double>(secs)};
}

// The cadence of `period`, or of a field in steps, where 0 and nullopt mean never.
absl::StatusOr<std::optional<StepsOrSeconds>> IntervalOf(absl::string_view field,
                                                         const std::optional<Period>& period,
                                                         const std::optional<int64_t>& steps,
                                                         const InputSizes& sizes) {
  if (period.has_value()) {
    absl::StatusOr<StepsOrSeconds> cadence = period->ToStepsOrSeconds(sizes);
    if (!cadence.ok()) return Annotate(cadence.status(), absl::StrCat("RunConfig.", field));
    return *cadence;
  }
  if (steps.value_or(0) <= 0) return std::optional<StepsOrSeconds>();
  return StepsOrSeconds{.every_steps = steps, .every_secs = std::nullopt};
}

// Whether a callback among the hooks does what a default hook does.
bool HasCallback(const Hooks& hooks, bool (callbacks::Callback::*does)() const) {
  return std::any_of(hooks.begin(), hooks.end(), [does](const HookPtr& hook) {
    const auto* callback = dynamic_cast<const callbacks::Callback*>(hook.get());
    return callback != nullptr && (callback->*does)();
  });
}

// A hook of the chief on another rank, which compiles the same step.
class FetchOnly : public SessionRunHook {
 public:
  explicit FetchOnly(HookPtr hook) : hook_(std::move(hook)) {}
  absl::Status Begin(Graph& graph) override { return hook_->Begin(graph); }
  std::vector<Tensor> Fetches() override { return hook_->Fetches(); }

 private:
  const HookPtr hook_;
};

// On several replicas, the error of a NaN also names the shape of the batch.
class NanOnReplicasHook : public NanTensorHook {
 public:
  NanOnReplicasHook(const Tensor& loss, int64_t rows, int num_replicas)
      : NanTensorHook(loss), rows_(rows), num_replicas_(num_replicas) {}

  absl::Status AfterRun(RunContext& context, const RunValues& values) override {
    const absl::Status status = NanTensorHook::AfterRun(context, values);
    if (status.ok() || rows_ <= 0) return status;
    return absl::Status(
        status.code(),
        absl::StrCat(
            status.message(),
            ". On a TPU, the number of rows of each core is a possible cause too. Each of ",
            num_replicas_, " cores has ", rows_, " of the ", rows_ * num_replicas_,
            " rows of a batch, and ", rows_, " is ",
            rows_ % 8 == 0
                ? "a multiple of 8. If the NaN appears on a TPU only, try a multiple of 128"
                : "not a multiple of 8. Give each core a multiple of 8 rows, or better a "
                  "multiple of 128"));
  }

 private:
  const int64_t rows_;  // of one replica
  const int num_replicas_;
};

}  // namespace

absl::StatusOr<TrainIntervals> IntervalsOf(const RunConfig& config, const InputSizes& sizes) {
  TrainIntervals intervals;
  EST_ASSIGN_OR_RETURN(
      intervals.checkpoints,
      IntervalOf("save_checkpoints_every", config.save_checkpoints_every, std::nullopt, sizes));
  if (!intervals.checkpoints.has_value()) intervals.checkpoints = CheckpointInterval(config);
  // A 0 in either field turns checkpoints off, as in TensorFlow.
  if (!config.SavesCheckpoints()) intervals.checkpoints.reset();
  EST_ASSIGN_OR_RETURN(intervals.summaries,
                       IntervalOf("save_summary_every", config.save_summary_every,
                                  config.save_summary_steps, sizes));
  EST_ASSIGN_OR_RETURN(intervals.log_lines, IntervalOf("log_every", config.log_every,
                                                       config.log_step_count_steps, sizes));
  return intervals;
}

absl::StatusOr<Hooks> MakeTrainHooks(const TrainHookOptions& options) {
  const ModelSpec& spec = options.model.spec;
  EST_ASSIGN_OR_RETURN(const TrainIntervals intervals, IntervalsOf(options.config, options.sizes));
  std::shared_ptr<CheckpointSaverHook> saver;
  for (const Hooks* hooks :
       {&options.user_hooks, &spec.training_chief_hooks, &spec.training_hooks}) {
    for (const auto& hook : *hooks) {
      if (hook == nullptr)
        return InvalidArgument("All hooks must be SessionRunHook instances; one is null");
      if (saver == nullptr) saver = std::dynamic_pointer_cast<CheckpointSaverHook>(hook);
    }
  }
  const SavingListeners& listeners = options.saving_listeners;
  if (std::find(listeners.begin(), listeners.end(), nullptr) != listeners.end()) {
    return InvalidArgument(
        "saving_listeners must be CheckpointSaverListener instances; one is null");
  }
  // Two savers would write each checkpoint twice.
  const bool has_own_saver = saver != nullptr;
  if (!has_own_saver && intervals.checkpoints.has_value()) {
    saver = std::make_shared<CheckpointSaverHook>(
        CheckpointSaverHook::Options{.cadence = *intervals.checkpoints, .listeners = {}});
  }
  if (saver == nullptr && !listeners.empty()) {
    return InvalidArgument(
        "There should be a CheckpointSaverHook to use saving_listeners. Please set one of the "
        "RunConfig.save_checkpoints_steps "
        "or RunConfig.save_checkpoints_secs");
  }
  if (saver != nullptr) saver->AddListeners(listeners);

  Hooks hooks;
  const auto append = [&hooks](const Hooks& more) {
    hooks.insert(hooks.end(), more.begin(), more.end());
  };
  // The saver is first: its End runs before the hooks after it can fail.
  if (saver != nullptr && !has_own_saver) hooks.push_back(saver);
  if (options.write_graph && options.config.checkpoint_save_graph_def)
    hooks.push_back(std::make_shared<GraphWriterHook>());
  for (const HookPtr& hook : spec.training_chief_hooks)
    hooks.push_back(options.is_chief ? hook : std::make_shared<FetchOnly>(hook));
  if (intervals.log_lines.has_value()) {
    hooks.push_back(std::make_shared<StepCounterHook>(
        StepCounterHook::Options{.cadence = *intervals.log_lines, .output_dir = ""}));
  }
  if (intervals.summaries.has_value()) {
    hooks.push_back(std::make_shared<SummarySaverHook>(SummarySaverHook::Options{
        .cadence = *intervals.summaries, .loss = spec.loss, .output_dir = ""}));
  }
  if (options.config.profile_steps.has_value()) {
    hooks.push_back(std::make_shared<ProfilerHook>(
        ProfilerHook::Options{.steps = options.config.profile_steps}));
  }
  if (!options.config.plot_learning_rate.empty()) {
    const InputSizes& sizes = options.sizes;
    const bool has_epochs = sizes.examples_per_epoch > 0 && sizes.examples_per_step > 0;
    hooks.push_back(std::make_shared<LearningRatePlotHook>(LearningRatePlotHook::Options{
        .path = options.config.plot_learning_rate,
        .target_step = options.target_step,
        .steps_per_epoch = has_epochs ? static_cast<double>(sizes.examples_per_epoch) /
                                            static_cast<double>(sizes.examples_per_step)
                                      : 0}));
  }
  // The NaN guard is after the hooks of users, which may want to see the values of such a step.
  append(options.user_hooks);
  const auto cores = options.model.num_replicas / options.config.accumulate_steps;
  if (HasCallback(options.user_hooks, &callbacks::Callback::HandlesBadLoss)) {
    // TerminateOnNaN ends the training without an error.
  } else if (cores > 1) {
    hooks.push_back(std::make_shared<NanOnReplicasHook>(spec.loss, options.model.batch_size,
                                                        static_cast<int>(cores)));
  } else {
    hooks.push_back(std::make_shared<NanTensorHook>(spec.loss));
  }
  if (intervals.log_lines.has_value() &&
      !HasCallback(options.user_hooks, &callbacks::Callback::ShowsProgress)) {
    hooks.push_back(
        std::make_shared<ProgressHook>(ProgressHook::Options{.loss = spec.loss,
                                                             .cadence = *intervals.log_lines,
                                                             .target_step = options.target_step,
                                                             .terminal = std::nullopt}));
  }
  append(spec.training_hooks);
  for (HookPtr& hook : hooks) {
    if (!options.is_chief && hook->IsForChief()) hook = std::make_shared<FetchOnly>(hook);
  }
  return hooks;
}

absl::StatusOr<Hooks> MakeForwardHooks(const Hooks& user_hooks, const Hooks& spec_hooks,
                                       absl::string_view method) {
  Hooks hooks = user_hooks;
  hooks.insert(hooks.end(), spec_hooks.begin(), spec_hooks.end());
  if (std::find(hooks.begin(), hooks.end(), nullptr) != hooks.end())
    return InvalidArgument("a hook given to ", method, " is null");
  return hooks;
}

bool HasSaver(const Hooks& hooks) {
  return std::any_of(hooks.begin(), hooks.end(), [](const auto& hook) {
    return dynamic_cast<const CheckpointSaverHook*>(hook.get()) != nullptr;
  });
}

}  // namespace estimator
