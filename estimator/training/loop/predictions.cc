#include "estimator/training/loop/predictions.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "estimator/base/interrupt.h"
#include "estimator/base/status.h"
#include "estimator/checkpoint/latest_checkpoint.h"
#include "estimator/training/input/open_input.h"
#include "estimator/training/loop/forward_session.h"
#include "estimator/training/model/replica_reduce.h"
#include "glog/logging.h"

namespace estimator {
namespace {

// The predictions that `keys` ask for; all of them without any.
absl::StatusOr<std::map<std::string, Tensor>> Select(
    const std::map<std::string, Tensor>& predictions, const std::vector<std::string>& keys) {
  if (keys.empty()) return predictions;
  if (predictions.size() == 1 && predictions.count("") > 0) {
    return absl::InvalidArgumentError(
        "predict_keys need predictions with names; the spec has one bare tensor");
  }
  std::map<std::string, Tensor> selected;
  std::vector<std::string> names;
  for (const auto& [name, tensor] : predictions) {
    names.push_back(name);
    if (std::find(keys.begin(), keys.end(), name) != keys.end()) selected[name] = tensor;
  }
  if (selected.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("Expected to run at least one output from predictions, which has ",
                     absl::StrJoin(names, ", "), "; predict_keys are ", absl::StrJoin(keys, ", ")));
  }
  return selected;
}

}  // namespace

struct Predictions::State {
  PredictLoop& loop;
  InputFn input_fn;
  PredictOptions options;
  const ModelState& trained;
  std::unique_ptr<OpenInput> input;
  std::unique_ptr<ForwardSession> session;
  ModelCache::Entry* first = nullptr;
  Hooks hooks;
  Prediction batch;
  int64_t num_rows = 0;
  int64_t next_row = 0;
  bool ended = false;

  absl::Status Open();
  absl::Status RunBatch(const StepInput& input);
  absl::StatusOr<std::optional<Prediction>> Next();
};

Predictions::Predictions(std::unique_ptr<State> state, absl::Status status)
    : status_(std::move(status)), state_(std::move(state)) {}
Predictions::~Predictions() = default;
Predictions::Predictions(Predictions&&) noexcept = default;

absl::Status Predictions::State::Open() {
  const Strategy& strategy = loop.strategy_;
  EST_RETURN_IF_ERROR(strategy.Validate(Mode::kPredict));
  std::string checkpoint;
  if (options.checkpoint_path.has_value()) {
    EST_RETURN_IF_ERROR(Annotate(CheckCheckpoint(*options.checkpoint_path), "checkpoint_path"));
    checkpoint = *options.checkpoint_path;
  } else {
    EST_ASSIGN_OR_RETURN(checkpoint, loop.models_.NewestOrNone());
    if (checkpoint.empty() && !trained.AheadOf("")) {
      LOG(INFO) << "Could not find trained model in " << loop.model_dir_ << ": predicting with "
                << (loop.warm_started_ ? "warm-started" : "freshly initialized") << " variables";
    }
  }
  EST_ASSIGN_OR_RETURN(std::unique_ptr<Feeder> feeder,
                       strategy.OpenInput(Mode::kPredict, input_fn));
  input = std::make_unique<OpenInput>(std::move(feeder));
  EST_ASSIGN_OR_RETURN(const StepInput* peeked, input->Peek());
  if (peeked == nullptr) {
    ended = true;
    return absl::OkStatus();
  }
  EST_ASSIGN_OR_RETURN(first, loop.models_.For(*peeked));
  EST_RETURN_IF_ERROR(
      loop.models_
          .EnsureVariables(*first->model, checkpoint, options.checkpoint_path ? nullptr : &trained)
          .status());
  session = std::make_unique<ForwardSession>(*first->model->graph, loop.models_.state(),
                                             loop.model_dir_, peeked->num_examples);
  hooks = options.hooks;
  hooks.insert(hooks.end(), first->model->spec.prediction_hooks.begin(),
               first->model->spec.prediction_hooks.end());
  for (const auto& hook : hooks) {
    if (hook == nullptr) return absl::InvalidArgumentError("a hook given to Predict is null");
    EST_RETURN_IF_ERROR(hook->Begin(*first->model->graph));
  }
  for (const auto& hook : hooks) EST_RETURN_IF_ERROR(hook->AfterCreateSession(*session));
  return absl::OkStatus();
}

absl::Status Predictions::State::RunBatch(const StepInput& step_input) {
  EST_ASSIGN_OR_RETURN(ModelCache::Entry * entry, loop.models_.For(step_input));
  CompiledStep& step = *entry->step;
  EST_ASSIGN_OR_RETURN(const auto selected,
                       Select(entry->model->spec.predictions, options.predict_keys));
  std::map<std::string, size_t> fetches_by_name;
  for (const auto& [name, tensor] : selected) fetches_by_name[name] = step.Fetch(tensor);
  const std::optional<HostCall>& host_call = entry->model->spec.host_call;
  std::vector<size_t> host_call_fetches;
  if (host_call) {
    for (const Tensor& tensor : host_call->tensors) host_call_fetches.push_back(step.Fetch(tensor));
  }
  RunContext context(*session, loop.models_.state().global_step());
  std::vector<std::vector<size_t>> hook_fetches;
  for (const auto& hook : hooks) {
    std::vector<size_t> fetches;
    for (const Tensor& tensor : hook->BeforeRun(context)) {
      const Tensor here = entry == first ? tensor : entry->model->graph->FindTensor(tensor.name());
      if (here.valid()) fetches.push_back(step.Fetch(here));
    }
    hook_fetches.push_back(std::move(fetches));
  }
  EST_ASSIGN_OR_RETURN(Executable * executable, step.executable());
  EST_ASSIGN_OR_RETURN(const StepFeeds feeds, step.Feeds(step_input));
  std::vector<RunValues> hook_values(hooks.size());
  batch.clear();
  const bool broadcast = loop.strategy_.broadcast(Mode::kPredict);
  const Outfeed outfeed = [&](int64_t, const StepFetches& fetches) -> absl::Status {
    if (host_call) {
      std::vector<Array> values;
      for (const size_t index : host_call_fetches)
        values.push_back(ReduceReplicas(FetchOfReplicas(fetches, index, broadcast)));
      EST_RETURN_IF_ERROR(host_call->fn(values));
    }
    for (const auto& [name, index] : fetches_by_name)
      batch[name] = ReduceReplicas(FetchOfReplicas(fetches, index, broadcast));
    for (size_t i = 0; i < hooks.size(); ++i) {
      for (const size_t index : hook_fetches[i])
        hook_values[i].results.push_back(
            ReduceReplicas(FetchOfReplicas(fetches, index, broadcast)));
    }
    return absl::OkStatus();
  };
  EST_RETURN_IF_ERROR(executable
                          ->RunLoop(
                              1,
                              [&]() -> absl::StatusOr<std::optional<StepFeeds>> {
                                return std::optional<StepFeeds>(feeds);
                              },
                              outfeed)
                          .status());
  for (size_t i = 0; i < hooks.size(); ++i) {
    hook_values[i].global_step = context.global_step();
    hook_values[i].num_steps = 1;
    EST_RETURN_IF_ERROR(hooks[i]->AfterRun(context, hook_values[i]));
  }
  if (context.stop_requested()) ended = true;
  num_rows = -1;
  next_row = 0;
  if (!options.yield_single_examples) return absl::OkStatus();
  for (const auto& [name, array] : batch) {
    if (array.shape().rank() == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("prediction '", name, "' is a scalar; it has no row per example"));
    }
    if (num_rows < 0) num_rows = array.shape().dim(0);
    if (array.shape().dim(0) != num_rows) {
      return absl::InvalidArgumentError(
          absl::StrCat("Batch length of predictions should be same. '", name, "' has batch length ",
                       array.shape().dim(0), ", others have ", num_rows,
                       "; or ask for whole batches with .yield_single_examples = false"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::optional<Prediction>> Predictions::State::Next() {
  if (input == nullptr) EST_RETURN_IF_ERROR(Open());
  if (next_row >= num_rows) {
    std::optional<StepInput> next;
    if (!ended) {
      EST_ASSIGN_OR_RETURN(next, input->Next());
    }
    if (InterruptRequested()) return absl::CancelledError("interrupted while predicting");
    if (!next.has_value()) {
      if (!ended || session != nullptr) {
        for (const auto& hook : hooks) EST_RETURN_IF_ERROR(hook->End(*session));
        hooks.clear();
      }
      ended = true;
      return std::optional<Prediction>();
    }
    EST_RETURN_IF_ERROR(RunBatch(*next));
    if (!options.yield_single_examples) return std::optional<Prediction>(std::exchange(batch, {}));
  }
  Prediction row;
  for (const auto& [name, array] : batch) row[name] = array.Row(next_row);
  ++next_row;
  return std::optional<Prediction>(std::move(row));
}

absl::StatusOr<std::optional<Prediction>> Predictions::Next() {
  if (!status_.ok()) return status_;
  absl::StatusOr<std::optional<Prediction>> next = state_->Next();
  status_ = next.status();
  return next;
}

absl::StatusOr<std::vector<Prediction>> Predictions::All() {
  std::vector<Prediction> rows;
  while (true) {
    EST_ASSIGN_OR_RETURN(std::optional<Prediction> row, Next());
    if (!row.has_value()) return rows;
    rows.push_back(*std::move(row));
  }
}

PredictLoop::PredictLoop(const Strategy& strategy, const RunConfig& config,
                         const std::optional<WarmStartSettings>& warm_start)
    : strategy_(strategy),
      model_dir_(*config.model_dir),
      models_(strategy, Mode::kPredict, model_dir_, config.tf_random_seed, warm_start),
      warm_started_(warm_start.has_value()) {}

Predictions PredictLoop::Predict(const InputFn& input_fn, PredictOptions options,
                                 const ModelState& trained) {
  return Predictions(
      std::unique_ptr<Predictions::State>(new Predictions::State{.loop = *this,
                                                                 .input_fn = input_fn,
                                                                 .options = std::move(options),
                                                                 .trained = trained,
                                                                 .input = nullptr,
                                                                 .session = nullptr,
                                                                 .hooks = {},
                                                                 .batch = {}}),
      absl::OkStatus());
}

Predictions PredictLoop::Failed(absl::Status status) {
  return Predictions(nullptr, std::move(status));
}

}  // namespace estimator
