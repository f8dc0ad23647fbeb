#include "tools/replay/replay.h"

#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "estimator/base/status.h"
#include "estimator/base/strings.h"
#include "estimator/runtime/trace.h"
#include "estimator/runtime/variable_store.h"
#include "estimator/training/compiled_model.h"
#include "estimator/training/strategies.h"
#include "tools/replay/closeness.h"
#include "tools/replay/first_step.h"
#include "tools/replay/reference.h"
#include "tools/replay/variables.h"
#include "tpu/replicas_strategy.h"

namespace estimator::replay {
namespace {

std::unique_ptr<Strategy> MakeStrategy(const Model& model, const ReplayOptions& options) {
  const int num_shards = options.num_shards;
  ModelCall call = [model, num_shards](const Features& features, const Labels& labels, Mode mode,
                                       int64_t batch_size) {
    return model.Call(features, labels, mode, batch_size, num_shards);
  };
  if (num_shards == 1) return MakeLocalStrategy(std::move(call), {}, options.compile_options);
  tpu::ReplicasStrategyOptions replicas;
  replicas.tpu_config.num_shards = num_shards;
  replicas.compile_options = options.compile_options;
  return tpu::MakeReplicasStrategy(std::move(call), std::move(replicas));
}

// The Euclidean norm, summed in f64 as in the reference.
double Norm(const Array& array) {
  double sum = 0;
  for (int64_t i = 0; i < array.num_elements(); ++i) sum += array.AsDouble(i) * array.AsDouble(i);
  return std::sqrt(sum);
}

class Replayer {
 public:
  Replayer(const Model& model, Reference reference, const ReplayOptions& options)
      : reference_(std::move(reference)),
        options_(options),
        num_steps_(options.num_steps.value_or(reference_.num_steps())),
        strategy_(MakeStrategy(model, options)) {
    const Tolerances& own = reference_.tolerances();
    tolerances_ = {.rtol = options.rtol.value_or(own.rtol),
                   .variable_rtol = options.variable_rtol.value_or(own.variable_rtol),
                   .atol = options.atol.value_or(own.atol)};
  }

  absl::StatusOr<ReplayReport> Run() {
    EST_RETURN_IF_ERROR(Build());
    EST_RETURN_IF_ERROR(CheckVariables(*model_->graph, reference_));
    EST_RETURN_IF_ERROR(SetInitialValues(*model_->graph, reference_, store_));
    report_.reference = reference_.folder();
    report_.made_by = reference_.made_by();
    report_.backend = backend_->name();
    EST_RETURN_IF_ERROR(CompareForward());
    std::vector<Operation> updates;
    if (model_->spec.mode == Mode::kTrain) {
      updates = model_->graph->update_ops();
      updates.push_back(model_->spec.train_op);
    }
    CompiledStep step(*model_, *backend_, std::move(updates));
    const auto trace = std::make_shared<Trace>();
    for (int64_t i = 0; i < num_steps_ && finite_; ++i) {
      if (options_.profile && i == 1) SetThreadTrace(trace);  // step 0 compiles
      EST_RETURN_IF_ERROR(RunStep(step, i));
    }
    SetThreadTrace(nullptr);
    if (options_.profile) report_.op_table = OpTable(*trace, report_.num_steps - 1);
    EST_RETURN_IF_ERROR(CheckSomethingCompared());
    return std::move(report_);
  }

 private:
  absl::Status Build() {
    if (num_steps_ < 1 || num_steps_ > reference_.num_steps()) {
      return InvalidArgument(reference_.folder(), " has ", reference_.num_steps(),
                             " steps, but num_steps is ", num_steps_);
    }
    backend_ = strategy_->MakeBackend(reference_.mode(), store_);
    EST_ASSIGN_OR_RETURN(const StepInput first, Input(0));
    EST_ASSIGN_OR_RETURN(model_, BuildModel(*strategy_, first.replicas[0],
                                            {.mode = reference_.mode(),
                                             .seed = reference_.random_seed(),
                                             .num_replicas = options_.num_shards}));
    return absl::OkStatus();
  }

  // Returns the batch of a step, split for the replicas.
  absl::StatusOr<StepInput> Input(int64_t step) const {
    const Element batch = reference_.Batch(step);
    StepInput input;
    input.num_examples = NumRows(batch);
    if (options_.num_shards == 1) {
      input.replicas.push_back(batch);
      return input;
    }
    const int64_t part = input.num_examples / options_.num_shards;
    if (part == 0 || input.num_examples % options_.num_shards != 0) {
      return InvalidArgument("the batches of ", reference_.folder(), ", of ", input.num_examples,
                             " rows, cannot be split over ", options_.num_shards,
                             " replicas; take a divisor of the batch size");
    }
    for (int64_t i = 0; i < options_.num_shards; ++i) {
      absl::StatusOr<Element> replica =
          BatchAxis().Slice(batch, i * part, (i + 1) * part, input.num_examples);
      EST_RETURN_IF_ERROR(Annotate(replica.status(), reference_.folder()));
      input.replicas.push_back(*std::move(replica));
    }
    return input;
  }

  // Runs step 1 without its updates, and compares the forward tensors. The gradients are compared
  // after the loss, which RunStep computes.
  absl::Status CompareForward() {
    EST_ASSIGN_OR_RETURN(const StepInput input, Input(0));
    EST_ASSIGN_OR_RETURN(FirstStep first, RunFirstStep(*model_, *backend_, input, reference_));
    report_.notes = std::move(first.notes);
    gradients_ = std::move(first.gradients);
    return HoldForward(first.forward);
  }

  absl::Status RunOneStep(CompiledStep& step, int64_t index,
                          const std::function<absl::Status(const StepFetches&)>& outfeed) {
    EST_ASSIGN_OR_RETURN(Executable* const executable, step.executable());
    EST_ASSIGN_OR_RETURN(const StepInput input, Input(index));
    EST_ASSIGN_OR_RETURN(feeds_, step.Feeds(input));
    return executable
        ->RunLoop(
            1, [this]() -> absl::StatusOr<std::optional<StepFeeds>> { return feeds_; },
            [&outfeed](int64_t, const StepFetches& fetches) { return outfeed(fetches); })
        .status();
  }

  // Runs and compares step `index`, which counts from 0.
  absl::Status RunStep(CompiledStep& step, int64_t index) {
    Array loss;
    std::map<std::string, Array> predictions;
    if (model_->spec.loss.valid()) step.Fetch(model_->spec.loss);
    for (const auto& [name, tensor] : model_->spec.predictions) step.Fetch(tensor);
    const absl::Status status = RunOneStep(step, index, [&](const StepFetches& fetches) {
      for (const auto& [name, tensor] : model_->spec.predictions)
        predictions[name] = ReduceReplicasToCopy(FetchOfReplicas(fetches, step.Fetch(tensor)));
      if (!model_->spec.loss.valid()) return absl::OkStatus();
      loss = ReduceReplicasToCopy(FetchOfReplicas(fetches, step.Fetch(model_->spec.loss)));
      finite_ = std::isfinite(loss.AsDouble());
      // The error prevents the updates, so that the cause of the NaN can still be found.
      return finite_ ? absl::OkStatus() : absl::AbortedError("the loss is not finite");
    });
    if (finite_) EST_RETURN_IF_ERROR(status);
    report_.num_steps = index + 1;
    for (const std::string& name : reference_.Names("prediction/")) {
      EST_ASSIGN_OR_RETURN(const Array expected,
                           reference_.Expected(absl::StrCat("prediction/", name)));
      const auto found = predictions.find(name);
      if (found == predictions.end()) {
        return NotFound(reference_.folder(), " has predictions '", name,
                        "', but this model does not");
      }
      EST_ASSIGN_OR_RETURN(const Array row, RowOf(expected, index, name));
      Hold({.step = index + 1, .stage = Stage::kPrediction, .name = name}, found->second, row,
           tolerances_.rtol);
    }
    if (loss.valid() && reference_.Has("loss")) EST_RETURN_IF_ERROR(HoldLoss(index, loss));
    if (reference_.mode() != Mode::kTrain) return absl::OkStatus();
    if (index == 0)
      EST_RETURN_IF_ERROR(HoldAll(Stage::kGradient, gradients_, tolerances_.variable_rtol));
    // A step that had no updates says nothing about them, and the loss has told the difference.
    if (!finite_ && !report_.ok()) return absl::OkStatus();
    if (index == 0) EST_RETURN_IF_ERROR(CompareVariables(index, Stage::kVariable, "step_1/"));
    EST_RETURN_IF_ERROR(CompareVariables(index, Stage::kNorm, "norm/"));
    if (index + 1 == reference_.num_steps())
      EST_RETURN_IF_ERROR(CompareVariables(index, Stage::kVariable, "final/"));
    return absl::OkStatus();
  }

  // Without this check, a run that compares nothing would count as a match.
  absl::Status CheckSomethingCompared() const {
    if (!report_.ok() || !report_.matches.empty()) return absl::OkStatus();
    const std::vector<std::string> names = reference_.Names("");
    return InvalidArgument(
        "nothing was compared in ", num_steps_, " of ", reference_.num_steps(), " steps of ",
        reference_.folder(), ", which expects ",
        names.empty() ? std::string("nothing") : JoinSome(names, kNamesInReport),
        "; if it has only final/, run all steps; else record a loss, or predictions in PREDICT",
        report_.notes.empty() ? "" : "; ", absl::StrJoin(report_.notes, "; "));
  }

  absl::Status HoldLoss(int64_t index, const Array& loss) {
    EST_ASSIGN_OR_RETURN(const Array losses, reference_.Expected("loss"));
    EST_ASSIGN_OR_RETURN(const Array expected, RowOf(losses, index, "loss"));
    const Comparison& held = Hold({.step = index + 1, .stage = Stage::kLoss}, loss.Reshaped({}),
                                  expected, tolerances_.rtol);
    report_.losses.push_back({.actual = loss.AsDouble(),
                              .expected = expected.AsDouble(),
                              .of_tolerance = held.of_tolerance});
    return absl::OkStatus();
  }

  // Compares the variables, or with Stage::kNorm their norms, after step `index`.
  //   prefix: of the names in the reference.
  absl::Status CompareVariables(int64_t index, Stage stage, absl::string_view prefix) {
    for (const Variable& variable : model_->graph->variables()) {
      const std::string name = absl::StrCat(prefix, variable.name());
      if (variable.local() || !reference_.Has(name)) continue;
      Array actual = *store_.Peek(variable.name());
      EST_ASSIGN_OR_RETURN(Array expected, reference_.Expected(name));
      if (stage == Stage::kNorm) {  // the reference has the norms of all steps
        actual = Array::Scalar(Norm(actual));
        EST_ASSIGN_OR_RETURN(expected, RowOf(expected, index, name));
      }
      Hold({.step = index + 1, .stage = stage, .name = variable.name()}, actual, expected,
           tolerances_.variable_rtol);
    }
    return absl::OkStatus();
  }

  absl::StatusOr<Array> RowOf(const Array& all, int64_t index, absl::string_view name) const {
    if (all.shape().rank() > 0 && index < all.shape().dim(0)) return all.Row(index);
    return InvalidArgument(reference_.folder(), ": '", name, "' is ", all.TypeString(),
                           ", but there are ", reference_.num_steps(), " steps");
  }

  absl::Status HoldAll(Stage stage, const std::vector<FirstStep::Value>& values, double rtol) {
    for (const FirstStep::Value& value : values) {
      EST_ASSIGN_OR_RETURN(const Array expected, reference_.Expected(value.expected));
      Hold({.step = 1, .stage = stage, .name = value.name}, value.value, expected, rtol);
    }
    return absl::OkStatus();
  }

  // As HoldAll. A port may give a layer's output another shape, such as [N, S, H] for [N * S, H].
  // It matches with the same values in the same order. Else it cannot be compared, which is a
  // note: what depends on a wrong shape differs too.
  absl::Status HoldForward(const std::vector<FirstStep::Value>& values) {
    std::vector<FirstStep::Value> comparable;
    std::vector<std::string> others;
    for (FirstStep::Value value : values) {
      EST_ASSIGN_OR_RETURN(const Array expected, reference_.Expected(value.expected));
      if (!(value.value.shape() == expected.shape())) {
        const bool same_size = value.value.num_elements() == expected.num_elements();
        const Array& actual = value.value;
        const Array reshaped = same_size ? actual.Reshaped(expected.shape()) : actual;
        if (HoldAgainst(reshaped, expected, tolerances_.rtol, tolerances_.atol).of_tolerance > 1) {
          others.push_back(absl::StrCat(value.name, " (", actual.TypeString(), " here, ",
                                        expected.TypeString(), " in the reference)"));
          continue;
        }
        value.value = reshaped;
      }
      comparable.push_back(std::move(value));
    }
    if (!others.empty()) {
      report_.notes.push_back(
          absl::StrCat("forward tensors of another shape, which are not "
                       "compared: ",
                       JoinSome(others, kNamesInReport)));
    }
    return HoldAll(Stage::kForward, comparable, tolerances_.rtol);
  }

  // Returns the comparison, which is in the report.
  const Comparison& Hold(Comparison comparison, const Array& actual, const Array& expected,
                         double rtol) {
    Closeness closeness = HoldAgainst(actual, expected, rtol, tolerances_.atol);
    comparison.max_absolute = closeness.max_absolute;
    comparison.of_tolerance = closeness.of_tolerance;
    comparison.report = std::move(closeness.report);
    if (comparison.of_tolerance <= 1) {
      report_.matches.push_back(std::move(comparison));
      return report_.matches.back();
    }
    if (comparison.stage == Stage::kLoss && !finite_) {
      absl::StrAppend(&comparison.report, "\n  first tensor that is not finite: ",
                      FirstNonFiniteTensor(*model_, *backend_, feeds_));
    }
    if (report_.ok()) {
      report_.num_matches_before = report_.matches.size();
      report_.first_difference = std::move(comparison);
      return *report_.first_difference;
    }
    report_.more_differences.push_back(std::move(comparison));
    return report_.more_differences.back();
  }

  const Reference reference_;
  const ReplayOptions options_;
  const int64_t num_steps_;
  const std::unique_ptr<Strategy> strategy_;
  Tolerances tolerances_;
  VariableStore store_;
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<BuiltModel> model_;
  std::vector<FirstStep::Value> gradients_;
  StepFeeds feeds_;     // of the last step that ran
  bool finite_ = true;  // whether the loss of that step is finite
  ReplayReport report_;
};

}  // namespace

absl::StatusOr<ReplayReport> Replay(const Model& model, absl::string_view folder,
                                    const ReplayOptions& options) {
  if (options.num_shards < 1) {
    return InvalidArgument("num_shards must be 1 or more, given ", options.num_shards);
  }
  for (const std::optional<double>& tolerance :
       {options.rtol, options.variable_rtol, options.atol}) {
    if (tolerance.has_value() && !(*tolerance >= 0)) {
      return InvalidArgument("a tolerance must be 0 or more, given ", *tolerance);
    }
  }
  EST_ASSIGN_OR_RETURN(Reference reference, Reference::Load(folder));
  return Replayer(model, std::move(reference), options).Run();
}

}  // namespace estimator::replay
