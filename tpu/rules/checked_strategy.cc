#include "tpu/rules/checked_strategy.h"

#include <iostream>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "estimator/base/exit_code.h"
#include "estimator/base/interrupt.h"
#include "estimator/base/status.h"
#include "estimator/nn/replica_scope.h"
#include "estimator/training/compiled_model.h"
#include "glog/logging.h"
#include "tpu/rules/checked_model.h"
#include "tpu/rules/graph_rules.h"
#include "tpu/rules/input_rules.h"
#include "tpu/rules/layout_rules.h"
#include "tpu/rules/spec_rules.h"
#include "tpu/rules/topology_check.h"

namespace estimator::tpu {
namespace {

constexpr absl::string_view kRulesOnly = "rules";

class CheckedStrategy : public Strategy {
 public:
  CheckedStrategy(std::unique_ptr<Strategy> strategy, ReplicasStrategyOptions options)
      : strategy_(std::move(strategy)), options_(std::move(options)) {}

  int num_replicas(Mode mode) const override { return strategy_->num_replicas(mode); }
  std::shared_ptr<ProcessGroup> process_group(Mode mode) const override {
    return strategy_->process_group(mode);
  }
  bool on_replicas() const override { return strategy_->on_replicas(); }
  int64_t iterations_per_loop() const override { return strategy_->iterations_per_loop(); }
  void ObserveRun(int64_t num_steps, double seconds) override {
    strategy_->ObserveRun(num_steps, seconds);
  }
  int64_t host_call_every_n_steps() const override { return strategy_->host_call_every_n_steps(); }
  bool broadcast(Mode mode) const override { return strategy_->broadcast(mode); }
  int64_t batch_size(Mode mode) const override { return strategy_->batch_size(mode); }
  std::vector<int64_t> batch_axis(Mode mode) const override { return strategy_->batch_axis(mode); }
  absl::Status Validate(Mode mode) const override { return strategy_->Validate(mode); }
  std::unique_ptr<Backend> MakeBackend(Mode mode, VariableStore& store) const override {
    return strategy_->MakeBackend(mode, store);
  }
  std::unique_ptr<Backend> MakeSingleBackend(VariableStore& store) const override {
    return strategy_->MakeSingleBackend(store);
  }
  absl::StatusOr<std::unique_ptr<Feeder>> OpenInput(Mode mode,
                                                    const InputFn& input_fn) const override {
    return strategy_->OpenInput(mode, input_fn);
  }

  absl::StatusOr<ModelSpec> CallModelFn(const Features& features, const Labels& labels, Mode mode,
                                        int64_t batch_size) const override {
    absl::StatusOr<ModelSpec> spec = strategy_->CallModelFn(features, labels, mode, batch_size);
    // The builder explains a spec of another mode.
    if (!spec.ok() || spec->mode != mode) return spec;
    if (building_ != nullptr) {
      CheckModel(*spec, batch_size);
    } else if (const absl::Status status = CheckRun(*spec, batch_size); !status.ok()) {
      return status;
    }
    return spec;
  }

  absl::Status MayBegin(const Call& call) override;

 private:
  // A model that Check builds.
  struct Building {
    Report& report;
    std::vector<double> learning_rates = {};
    size_t num_nodes = 0;
    bool scalar_outfeed = false;  // the spec is refused because of what the report has
  };

  CheckedModel ModelOf(const ModelSpec& spec, int64_t rows) const {
    const Mode mode = spec.mode;
    return {.mode = mode,
            .graph = Graph::Current(),
            .spec = spec,
            .rows = rows,
            .num_replicas = num_replicas(mode),
            .broadcast = broadcast(mode),
            .core_memory_gib = CoreMemoryGib(options_.tpu_config.check)};
  }
  void CheckModel(ModelSpec& spec, int64_t rows) const;
  absl::Status CheckRun(const ModelSpec& spec, int64_t rows) const;
  absl::StatusOr<std::unique_ptr<BuiltModel>> Build(Mode mode, const Element& element,
                                                    Building& building) const;
  void CheckMode(Mode mode, const Element& element, bool own_input, Report& report) const;
  void CheckLearningRate(const Element& element, const std::vector<double>& rates,
                         Report& report) const;
  void CheckTopology(const BuiltModel& model, Mode mode, Report& report) const;
  int64_t RowsOfCore(Mode mode) const {
    const int64_t accumulated = mode == Mode::kTrain ? options_.accumulate_steps : 1;
    return broadcast(mode) ? batch_size(mode) : batch_size(mode) * accumulated / num_replicas(mode);
  }

  const std::unique_ptr<Strategy> strategy_;
  const ReplicasStrategyOptions options_;
  mutable Building* building_ = nullptr;  // not null while Check builds a model
  mutable std::set<Mode> logged_;
};

// All rules of a model that Check builds, while its graph exists.
void CheckedStrategy::CheckModel(ModelSpec& spec, int64_t rows) const {
  Report& report = building_->report;
  const CheckedModel model = ModelOf(spec, rows);
  // After an error of the graph, the spec's handles are not valid, and the error is the finding.
  if (Graph::Current().status().ok()) CheckSpecRules(model, report);
  CheckGraphRules(model, report);
  CheckLayoutRules(model, report);
  building_->num_nodes = ProgramNodes(model).all().size();
  const auto has_scalar = [](const auto& function) {
    if (!function.has_value()) return false;
    for (const Tensor& tensor : function->tensors) {
      if (tensor.valid() && tensor.rank() == 0) return true;
    }
    return false;
  };
  building_->scalar_outfeed = has_scalar(spec.host_call) || has_scalar(spec.eval_metrics);
  if (spec.mode == Mode::kTrain)
    building_->learning_rates = LearningRateConstants(Graph::Current());
  if (!spec.scaffold_fn) return;
  // The builder calls it right after this function, with the same graph.
  spec.scaffold_fn = [this, rows, mode = spec.mode, scaffold_fn = spec.scaffold_fn] {
    ModelSpec of_mode;
    of_mode.mode = mode;
    const CheckedModel of_scaffold = ModelOf(of_mode, rows);
    return CallScaffoldFn(of_scaffold, scaffold_fn, building_->report);
  };
}

// The rules of a model that is about to run on the replicas.
absl::Status CheckedStrategy::CheckRun(const ModelSpec& spec, int64_t rows) const {
  const Mode mode = spec.mode;
  // The last, smaller batch of an evaluation runs on one replica.
  if (ReplicaScope::Current().num_replicas != num_replicas(mode) || num_replicas(mode) <= 1)
    return absl::OkStatus();
  if (!Graph::Current().status().ok()) return absl::OkStatus();  // the builder returns it
  const CheckedModel model = ModelOf(spec, rows);
  Report report;
  if (mode == Mode::kPredict) CheckPredictions(model, report);
  CheckGraphRules(model, report);
  CheckLayoutRules(model, report);
  if (const std::string refusals = report.Refusals(); !refusals.empty()) {
    return InvalidArgument("the model breaks rules of TPUs (--tpu_check=rules explains them): ",
                           refusals);
  }
  // A program that trains in a loop builds its models once, but evaluation builds one for each
  // batch size.
  if (!logged_.insert(mode).second) return absl::OkStatus();
  std::set<std::string> notes;
  for (const Finding& finding : report.findings()) {
    if (finding.rule->severity == Severity::kViolation) {
      LOG(WARNING) << "A TPU would not run this program: [" << finding.rule->id << "] "
                   << finding.where << ": " << finding.what << "; " << finding.cure;
    } else {
      notes.insert(finding.rule->id);
    }
  }
  LOG_IF(INFO, !notes.empty())
      << "Notes on " << ModeName(mode) << " on a TPU: " << absl::StrJoin(notes, ", ")
      << "; TPUConfig::check = \"rules\" (--tpu_check=rules) explains them";
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<BuiltModel>> CheckedStrategy::Build(Mode mode,
                                                                   const Element& element,
                                                                   Building& building) const {
  // CallModelFn has no argument for it: the builder of models calls it.
  building_ = &building;
  absl::StatusOr<std::unique_ptr<BuiltModel>> model =
      BuildModel(*this, element, {.mode = mode, .num_replicas = num_replicas(mode)});
  building_ = nullptr;
  return model;
}

//   own_input: `element` is of the input of this mode, not of the training's.
void CheckedStrategy::CheckMode(Mode mode, const Element& element, bool own_input,
                                Report& report) const {
  const int64_t rows = RowsOfCore(mode);
  const Element of_mode = WithRows(element, rows, batch_axis(mode));
  Building building{.report = report};
  const absl::StatusOr<std::unique_ptr<BuiltModel>> model = Build(mode, of_mode, building);
  if (!model.ok()) {
    const std::string message(model.status().message());
    // The report has the cause already, under a rule of its own.
    if (building.scalar_outfeed) return;
    if (!own_input) {
      report.AddChecked(absl::StrCat(ModeName(mode),
                                     ": not checked, because model_fn does not take the training's "
                                     "input there: ",
                                     message, "; run a program that only calls ",
                                     mode == Mode::kEval ? "Evaluate" : "Predict"));
    } else if (absl::StrContains(message, "shapes are static")) {
      report.Add("dynamic-shape", absl::StrCat(ModeName(mode), ": model_fn"), message,
                 "compute shapes from static sizes, such as tensor.dim(1), or mask values instead "
                 "of removing them");
    } else {
      report.Add("model-error", absl::StrCat(ModeName(mode), ": model_fn"), message,
                 "correct model_fn for params.use_tpu = true");
    }
    return;
  }
  report.AddChecked(absl::StrCat(ModeName(mode), ": checked with ", rows, " rows on each of ",
                                 num_replicas(mode), " cores, ", building.num_nodes, " ops",
                                 own_input ? "" : ", with the signature of the training's input"));
  if ((*model)->summed_bare_optimizer) {
    report.Add("bare-optimizer", absl::StrCat(ModeName(mode), ": ", (*model)->spec.train_op.name()),
               "model_fn does not wrap the optimizer",
               "wrap it: tpu::CrossShardOptimizer(optimizer), which is harmless on the CPU");
  }
  if (mode == Mode::kTrain) CheckLearningRate(element, building.learning_rates, report);
  if (options_.tpu_config.check != kRulesOnly) CheckTopology(**model, mode, report);
}

// Builds the training of a batch of twice the size. Its learning rate should differ.
void CheckedStrategy::CheckLearningRate(const Element& element, const std::vector<double>& rates,
                                        Report& report) const {
  // With scale_learning_rate the loop multiplies the rate, and the model has that of one replica.
  if (rates.empty() || num_replicas(Mode::kTrain) <= 1 || options_.scale_learning_rate) return;
  const int64_t rows = 2 * RowsOfCore(Mode::kTrain);
  Report of_twice;
  Building building{.report = of_twice};
  if (!Build(Mode::kTrain, WithRows(element, rows, batch_axis(Mode::kTrain)), building).ok()) {
    return;  // a model that is tied to one batch size
  }
  if (building.learning_rates != rates) return;
  report.Add(
      "learning-rate-not-scaled", "train: learning rate",
      absl::StrCat("model_fn gives the optimizer the same learning rate for ",
                   batch_size(Mode::kTrain), " and for ", 2 * batch_size(Mode::kTrain), " rows"),
      "set RunConfig.scale_learning_rate (--scale_learning_rate) if the rate is that of one "
      "replica, or multiply it by params.batch_size * params.context.num_replicas / (the batch "
      "that it was tuned for); ignore this note if the program scales it before model_fn");
}

void CheckedStrategy::CheckTopology(const BuiltModel& model, Mode mode, Report& report) const {
  const std::string& topology = options_.tpu_config.check;
  const std::string heading = absl::StrCat(ModeName(mode), " on ", topology, ": ");
  const TopologyCheck* const check = FindTopologyCheck();
  if (check == nullptr) {
    report.AddSection(absl::StrCat(heading,
                                   "not compiled, because this program is built without the TPU "
                                   "compiler; depend on //tpu/compile_check, or use "
                                   "--tpu_check=rules"),
                      /*passed=*/false);
    return;
  }
  const absl::StatusOr<TopologyCheckResult> result =
      (*check)({.topology = topology,
                .mode = mode,
                .strategy = *this,
                .model = model,
                .iterations_per_loop = mode == Mode::kTrain ? iterations_per_loop() : 1,
                .compute_dtype = options_.compile_options.compute_dtype,
                .settings = GetTopologyCheckSettings()});
  if (!result.ok()) {
    report.AddSection(absl::StrCat(heading, result.status().message()), /*passed=*/false);
  } else {
    report.AddSection(result->text, result->passed);
  }
}

absl::Status CheckedStrategy::MayBegin(const Call& call) {
  if (options_.tpu_config.check.empty()) return absl::OkStatus();
  Report report;
  CheckConfig(options_, call.mode, call.num_steps_given, report);
  std::optional<Element> element;
  // Without a batch size, input_fn cannot be called.
  if (batch_size(call.mode) > 0) element = CheckInput(*strategy_, call.mode, call.input, report);
  if (element.has_value()) {
    for (const Mode mode : {Mode::kTrain, Mode::kEval, Mode::kPredict}) {
      if (InterruptRequested()) break;
      // A check of training also builds the other modes, for which the training's input stands in.
      if (mode != call.mode && call.mode != Mode::kTrain) continue;
      if (batch_size(mode) <= 0) {
        report.AddChecked(absl::StrCat(ModeName(mode), ": not checked, because ", ModeName(mode),
                                       "_batch_size is not given"));
      } else if (mode == Mode::kEval && !options_.eval_on_tpu) {
        report.AddChecked("eval: not checked, because eval_on_tpu is false");
      } else {
        CheckMode(mode, *element, mode == call.mode, report);
      }
    }
  }
  std::cout << report.ToString() << std::flush;
  if (InterruptRequested()) {
    return absl::CancelledError(
        "a signal stopped the TPU check; the report on stdout has what was checked before");
  }
  if (report.passed()) {
    return FinishedEarly(
        absl::StrCat("the TPU check found no violation; the program ends here, "
                     "because TPUConfig::check is \"",
                     options_.tpu_config.check, "\""));
  }
  const int violations = report.num_violations();
  if (violations == 0) {
    return FailedPrecondition(
        "the TPU check failed: no rule is violated, but not every step compiles for ",
        options_.tpu_config.check, "; the report on stdout says why");
  }
  return FailedPrecondition("the TPU check failed: ", violations,
                            violations == 1 ? " violation" : " violations",
                            " of rules; the report on stdout names each one and its cure");
}

}  // namespace

std::unique_ptr<Strategy> MakeCheckedStrategy(std::unique_ptr<Strategy> strategy,
                                              ReplicasStrategyOptions options) {
  return std::make_unique<CheckedStrategy>(std::move(strategy), std::move(options));
}

}  // namespace estimator::tpu
