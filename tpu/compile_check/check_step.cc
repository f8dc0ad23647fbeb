// Compiles the very steps of a TPUEstimator for the topology of --tpu_check, as the rules ask for
// it.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "estimator/base/status.h"
#include "estimator/training/compiled_model.h"
#include "estimator/training/strategies.h"
#include "glog/logging.h"
#include "tpu/cluster/machine.h"
#include "tpu/compile_check/compile_report.h"
#include "tpu/compile_check/largest_batch.h"
#include "tpu/rules/input_rules.h"
#include "tpu/rules/topology_check.h"
#include "tpu/stablehlo/lower_step.h"

namespace estimator::tpu {
namespace {

// A batch that fits may be hundreds of times smaller than the largest one, whose exact size matters
// little then.
constexpr int kCompilesToFill = 4;
constexpr double kResolutionToFill = 1.0 / 8;

// The step that the loop of the mode compiles, without the tensors of hooks.
ProgramSpec SpecOf(const BuiltModel& model, Mode mode) {
  ProgramSpec spec{.feeds = model.placeholders, .fetches = {}, .updates = {}};
  // First, because the guard of training is fetch 0.
  if (model.spec.loss.valid() && mode != Mode::kPredict) spec.fetches.push_back(model.spec.loss);
  if (mode == Mode::kTrain) {
    spec.updates = model.graph->update_ops();
    spec.updates.push_back(model.spec.train_op);
  }
  const auto fetch_all = [&](const std::vector<Tensor>& tensors) {
    spec.fetches.insert(spec.fetches.end(), tensors.begin(), tensors.end());
  };
  if (model.spec.host_call.has_value()) fetch_all(model.spec.host_call->tensors);
  if (mode == Mode::kEval && model.spec.eval_metrics.has_value())
    fetch_all(model.spec.eval_metrics->tensors);
  if (mode == Mode::kEval) {
    for (const auto& [name, metric] : model.spec.eval_metric_ops)
      spec.updates.push_back(metric.update);
  }
  if (mode == Mode::kPredict) {
    for (const auto& [name, tensor] : model.spec.predictions) spec.fetches.push_back(tensor);
  }
  return spec;
}

absl::StatusOr<std::string> Lower(const TopologyCheckRequest& request, const BuiltModel& model) {
  const bool train = request.mode == Mode::kTrain;
  EST_ASSIGN_OR_RETURN(
      stablehlo::StepModule module,
      stablehlo::LowerStep(
          *model.graph, SpecOf(model, request.mode),
          {.num_replicas = request.strategy.num_replicas(request.mode),
           .iterations = train ? std::max<int64_t>(request.iterations_per_loop, 1) : 1,
           .guard_fetch = train ? std::optional<size_t>(0) : std::nullopt,
           .compute_dtype = request.compute_dtype}));
  return std::move(module.text);
}

// The model for another number of rows: its inputs are those of `model` with another batch axis.
// nullopt if model_fn refuses it.
absl::StatusOr<std::optional<std::string>> LowerForRows(const TopologyCheckRequest& request,
                                                        int64_t rows) {
  Element element;
  for (const InputSlot& slot : request.model.slots) {
    ArrayMap& arrays = slot.is_label ? element.labels : element.features;
    arrays[slot.name] = Array(slot.spec.dtype, slot.spec.shape);
  }
  const absl::StatusOr<std::unique_ptr<BuiltModel>> model = BuildModel(
      request.strategy, WithRows(element, rows, request.strategy.batch_axis(request.mode)),
      {.mode = request.mode, .num_replicas = request.strategy.num_replicas(request.mode)});
  if (!model.ok()) return std::optional<std::string>();
  EST_ASSIGN_OR_RETURN(std::string text, Lower(request, **model));
  return std::optional<std::string>(std::move(text));
}

absl::StatusOr<TopologyCheckResult> CheckTopology(const TopologyCheckRequest& request) {
  EST_ASSIGN_OR_RETURN(const CompileTarget target, FindCompileTarget(request.topology));
  absl::StatusOr<std::string> text = Lower(request, request.model);
  // A step that cannot be lowered is a finding in the report. It does not end the check.
  if (!text.ok()) {
    return TopologyCheckResult{.passed = false,
                               .text = absl::StrCat(ModeName(request.mode), " on ", target.name,
                                                    ": ", text.status().message(), "\n")};
  }
  // After the lowering, whose findings need no libtpu.
  EST_ASSIGN_OR_RETURN(const std::string libtpu, FindLibtpu(Machine(), ""));
  const int64_t rows = request.model.batch_size;
  const CompileRequest compile{.libtpu = libtpu,
                               .stablehlo = *std::move(text),
                               .target = target,
                               .num_replicas = request.strategy.num_replicas(request.mode),
                               .timeout_seconds = request.settings.seconds};
  LOG(INFO) << "Compiling " << ModeName(request.mode) << " for " << target.name
            << "; this takes seconds to minutes, at most " << request.settings.seconds << " s";
  EST_ASSIGN_OR_RETURN(const CompileOutcome outcome, CompileInChild(compile));
  LOG(INFO) << "The compiler of " << target.name << " ended"
            << absl::StrFormat(" (%.1f s)", outcome.seconds);
  const CompileReport report = ReportOn(compile, outcome);
  TopologyCheckResult result{.passed = report.passed,
                             .text = absl::StrCat(ModeName(request.mode), " on ", report.text)};
  if (request.mode != Mode::kTrain || rows <= 0) return result;
  // The compilations of a mode share one limit of time, and the first one is over.
  SearchLimits limits{.seconds = request.settings.seconds - outcome.seconds};
  if (outcome.status.ok() && !request.settings.fill) {
    const int64_t estimate = EstimateRows(compile, outcome, rows);
    if (estimate > 0) {
      absl::StrAppend(&result.text, "  estimated from its memory, a batch of ", estimate,
                      " rows a replica, ", estimate * compile.num_replicas,
                      " in all, would fill a device; this one has ", rows, " and ",
                      rows * compile.num_replicas, "; --tpu_check_fill compiles larger ones\n");
    }
    return result;
  }
  if (outcome.status.ok()) {
    limits.max_compiles = kCompilesToFill;
    limits.resolution = kResolutionToFill;
  } else if (!absl::IsResourceExhausted(outcome.status)) {
    return result;  // the report says why; another batch would not tell more
  }
  const LargestBatch largest = FindLargestBatch(
      compile, outcome, rows, [&](int64_t count) { return LowerForRows(request, count); }, limits);
  absl::StrAppend(&result.text, LargestBatchLine(largest, rows, compile.num_replicas));
  return result;
}

[[maybe_unused]] const bool registered = RegisterTopologyCheck(CheckTopology);

}  // namespace
}  // namespace estimator::tpu
