#include "estimator/training/loop/predictions.h"

#include <algorithm>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_join.h"
#include "estimator/base/interrupt.h"
#include "estimator/base/status.h"
#include "estimator/data/pipeline/element_bytes.h"
#include "estimator/data/pipeline/read_gate.h"
#include "estimator/training/input/feeder.h"
#include "estimator/training/input/prefetch_steps.h"
#include "estimator/training/loop/default_hooks.h"
#include "estimator/training/loop/forward_session.h"
#include "estimator/training/loop/step_runner.h"
#include "estimator/training/model/start_checkpoint.h"

namespace estimator {
namespace {

// The predictions that `keys` name; all of them if there are no keys.
absl::StatusOr<std::map<std::string, Tensor>> Select(
    const std::map<std::string, Tensor>& predictions, const std::vector<std::string>& keys) {
  if (keys.empty()) return predictions;
  if (predictions.size() == 1 && predictions.count("") > 0) {
    return InvalidArgument(
        "predict_keys need predictions with names; the spec has one bare tensor");
  }
  std::map<std::string, Tensor> selected;
  std::vector<std::string> names;
  for (const auto& [name, tensor] : predictions) {
    names.push_back(name);
    if (std::find(keys.begin(), keys.end(), name) != keys.end()) selected[name] = tensor;
  }
  if (selected.empty()) {
    return InvalidArgument("Expected to run at least one output from predictions, which has ",
                           absl::StrJoin(names, ", "), "; predict_keys are ",
                           absl::StrJoin(keys, ", "));
  }
  return selected;
}

// Arrays that pass beside the model, and the step without them.
struct PassedFeatures {
  Prediction arrays;
  StepInput step;
};

// broadcast: every replica has the whole batch.
absl::StatusOr<PassedFeatures> Take(const std::vector<std::string>& names, const StepInput& step,
                                    bool broadcast) {
  PassedFeatures passed = {.arrays = {}, .step = step};
  for (const std::string& name : names) {
    std::vector<Array> parts;
    for (Element& element : passed.step.replicas) {
      const absl::StatusOr<Array> array = element.features.Get(name);
      if (!array.ok()) return Annotate(array.status(), "PredictOptions::pass_features");
      element.features.erase(name);
      if (parts.empty() || !broadcast) parts.push_back(*array);
    }
    if (parts[0].shape().rank() == 0) {
      return InvalidArgument("PredictOptions::pass_features: feature '", name, "' is ",
                             parts[0].TypeString(), ", but it needs the examples on axis 0");
    }
    passed.arrays[name] = parts.size() == 1 ? parts[0].Clone() : Concatenate(parts);
  }
  if (passed.step.replicas[0].features.empty()) {
    return InvalidArgument("PredictOptions::pass_features: ", absl::StrJoin(names, ", "),
                           " are all features, and none is left for model_fn");
  }
  return passed;
}

}  // namespace

struct Predictions::State {
  PredictLoop& loop;
  InputFn input_fn;
  PredictOptions options;
  const ModelState& trained;
  // Lets the thread that reads ahead read only while a call of Next runs a batch. So a function of
  // the input never runs while the program uses the rows.
  std::shared_ptr<ReadGate> gate;
  std::unique_ptr<Feeder> input = nullptr;
  CompiledShapePtr first = nullptr;  // the model of the first batch, whose graph the hooks see
  std::unique_ptr<ForwardSession> session = nullptr;
  // Null before Open, for an empty input, and after the end.
  std::unique_ptr<StepRunner> runner = nullptr;
  Prediction batch = {};  // of the step that ran last
  int64_t num_rows = 0;   // of `batch`, if rows are asked for
  int64_t next_row = 0;
  bool ended = false;  // no more steps: the input ended, or a hook asked to stop

  ~State() { gate->Close(); }
  absl::Status Open();
  // What the model does not get of `step`, and the rest.
  absl::StatusOr<PassedFeatures> Pass(const StepInput& step) const {
    return Take(options.pass_features, step, loop.strategy_.broadcast(Mode::kPredict));
  }
  // Runs `next`, the next batch of the input.
  absl::Status RunBatch(const StepInput& next);
  // The rows of all peers.
  absl::Status GatherRows(Prediction& arrays);
  absl::Status CountRows();
  absl::StatusOr<std::optional<Prediction>> Next();
};

Predictions::Predictions(std::unique_ptr<State> state, absl::Status status)
    : status_(std::move(status)), state_(std::move(state)) {}
Predictions::~Predictions() = default;
Predictions::Predictions(Predictions&&) noexcept = default;

absl::Status Predictions::State::Open() {
  const Strategy& strategy = loop.strategy_;
  EST_RETURN_IF_ERROR(strategy.Validate(Mode::kPredict));
  if (!options.pass_features.empty() && !strategy.batch_axis(Mode::kPredict).empty()) {
    return InvalidArgument(
        "PredictOptions::pass_features are joined on axis 0, and batch_axis is set: leave one of "
        "them out");
  }
  absl::StatusOr<CheckpointChoice> choice =
      loop.models_.ChooseCheckpoint(options.checkpoint_path, trained, "predicting with");
  if (loop.divided_) choice = CheckpointOfChief(loop.peers_, loop.model_dir_, std::move(choice));
  EST_RETURN_IF_ERROR(choice.status());
  EST_ASSIGN_OR_RETURN(
      input,
      strategy.OpenInput(Mode::kPredict, PrefetchStepsUnlessInputWaits(
                                             input_fn, strategy.batch_size(Mode::kPredict), gate)));
  EST_ASSIGN_OR_RETURN(const StepInput* peeked, input->Peek());
  if (peeked == nullptr) {
    ended = true;
    return absl::OkStatus();
  }
  EST_ASSIGN_OR_RETURN(const PassedFeatures passed, Pass(*peeked));
  EST_ASSIGN_OR_RETURN(first, loop.models_.For(passed.step));
  EST_RETURN_IF_ERROR(loop.models_.EnsureVariables(*first->model, *choice, trained).status());
  session = std::make_unique<ForwardSession>(*first->model->graph, loop.models_.state(),
                                             loop.model_dir_, peeked->num_examples);
  EST_ASSIGN_OR_RETURN(
      Hooks hooks, MakeForwardHooks(options.hooks, first->model->spec.prediction_hooks, "Predict"));
  runner = std::make_unique<StepRunner>(
      *session, std::move(hooks),
      StepRunner::Options{.broadcast = strategy.broadcast(Mode::kPredict),
                          .peers = loop.divided_ ? &loop.peers_ : nullptr});
  EST_RETURN_IF_ERROR(runner->Begin(*first->model->graph));
  return runner->AfterCreateSession();
}

absl::Status Predictions::State::GatherRows(Prediction& arrays) {
  if (arrays.empty()) return absl::OkStatus();
  Element mine;
  for (const auto& [name, array] : arrays) mine.features[name] = array;
  EST_ASSIGN_OR_RETURN(
      const std::vector<std::string> all,
      loop.peers_.Exchange("the rows of pass_features", absl::OkStatus(), ElementToBytes(mine)));
  std::map<std::string, std::vector<Array>> parts;
  for (const std::string& bytes : all) {
    EST_ASSIGN_OR_RETURN(const Element element, ElementFromBytes(bytes));
    for (const auto& [name, array] : element.features) parts[name].push_back(array);
  }
  for (const auto& [name, of_ranks] : parts) arrays[name] = Concatenate(of_ranks);
  return absl::OkStatus();
}

absl::Status Predictions::State::RunBatch(const StepInput& next) {
  const bool next_is_full = next.full;
  EST_ASSIGN_OR_RETURN(PassedFeatures passed, Pass(next));
  EST_ASSIGN_OR_RETURN(const CompiledShapePtr entry, loop.models_.For(passed.step));
  for (const std::string& name : options.pass_features) {
    if (entry->model->spec.predictions.count(name) == 0) continue;
    return InvalidArgument("PredictOptions::pass_features: '", name,
                           "' is a prediction of the model as well; rename one of them");
  }
  EST_ASSIGN_OR_RETURN(const auto selected,
                       Select(entry->model->spec.predictions, options.predict_keys));
  std::vector<Tensor> fetches;
  for (const auto& [name, tensor] : selected) fetches.push_back(tensor);
  // After an error, no rows of the batch before may be returned.
  batch.clear();
  const auto on_step = [&](const StepOutput& step) -> absl::StatusOr<StepVerdict> {
    size_t i = 0;
    for (const auto& [name, tensor] : selected) batch[name] = step.values[i++];
    return StepVerdict::kApply;
  };
  EST_ASSIGN_OR_RETURN(const StepRun run, runner->Run({.step = *entry->step,
                                                       .input = *input,
                                                       .fetches = std::move(fetches),
                                                       .on_each_rank = !next_is_full,
                                                       .on_step = on_step,
                                                       .keeps_values = true}));
  if (run.stop_requested) ended = true;
  // The model of this process has got the rows of its own replicas.
  if (loop.divided_ && next_is_full && !loop.strategy_.broadcast(Mode::kPredict))
    EST_RETURN_IF_ERROR(GatherRows(passed.arrays));
  batch.merge(passed.arrays);
  return CountRows();
}

absl::Status Predictions::State::CountRows() {
  num_rows = -1;
  next_row = 0;
  if (!options.yield_single_examples) return absl::OkStatus();
  for (const auto& [name, array] : batch) {
    if (array.shape().rank() == 0) {
      return InvalidArgument("prediction '", name, "' is a scalar; it has no row per example");
    }
    if (num_rows < 0) num_rows = array.shape().dim(0);
    if (array.shape().dim(0) != num_rows) {
      return InvalidArgument("Batch length of predictions should be same. '", name,
                             "' has batch length ", array.shape().dim(0), ", others have ",
                             num_rows,
                             "; or ask for whole batches with .yield_single_examples = false");
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::optional<Prediction>> Predictions::State::Next() {
  if (next_row >= num_rows) {
    gate->Open();
    const absl::Cleanup pause = [this] { gate->Pause(); };
    // Opened here and not in Predict, which is lazy: nothing runs before the first Next.
    if (input == nullptr) EST_RETURN_IF_ERROR(Open());
    const StepInput* next = nullptr;
    if (!ended) {
      EST_ASSIGN_OR_RETURN(next, input->Peek());
    }
    // The input may have waited for long, so a signal is looked for after it.
    if (InterruptRequested()) return absl::CancelledError("interrupted while predicting");
    if (next == nullptr) {
      ended = true;
      if (runner != nullptr) EST_RETURN_IF_ERROR(runner->End());
      runner = nullptr;  // End is called once
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
  PredictLoop& loop = state_->loop;
  if (loop.divided_) loop.peers_.Begin();
  absl::StatusOr<std::optional<Prediction>> next = state_->Next();
  if (loop.divided_) {
    if (const absl::Status status = loop.peers_.Finish(next.status()); !status.ok()) next = status;
  }
  // An error is final: another call returns it again.
  status_ = next.status();
  return next;
}

StatusOrRange<std::vector<Prediction>> Predictions::All() {
  std::vector<Prediction> rows;
  while (true) {
    EST_ASSIGN_OR_RETURN(std::optional<Prediction> row, Next());
    if (!row.has_value()) return rows;
    rows.push_back(*std::move(row));
  }
}

PredictLoop::PredictLoop(const Strategy& strategy, const RunConfig& config, Peers& peers,
                         const std::optional<WarmStartSettings>& warm_start)
    : strategy_(strategy),
      peers_(peers),
      divided_(!peers.alone() && strategy.process_group(Mode::kPredict) != nullptr),
      model_dir_(*config.model_dir),
      models_(strategy, Mode::kPredict, model_dir_, config.tf_random_seed, warm_start,
              config.max_compiled_shapes) {}

Predictions PredictLoop::Predict(const InputFn& input_fn, PredictOptions options,
                                 const ModelState& trained) {
  return Predictions(std::unique_ptr<Predictions::State>(
                         new Predictions::State{.loop = *this,
                                                .input_fn = input_fn,
                                                .options = std::move(options),
                                                .trained = trained,
                                                .gate = std::make_shared<ReadGate>()}),
                     absl::OkStatus());
}

Predictions PredictLoop::Failed(absl::Status status) {
  return Predictions(nullptr, std::move(status));
}

}  // namespace estimator
