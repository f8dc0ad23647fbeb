#include "estimator/training/finders.h"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "estimator/base/available_memory.h"
#include "estimator/base/exit_code.h"
#include "estimator/base/file.h"
#include "estimator/base/status.h"
#include "estimator/base/strings.h"
#include "estimator/graph/needed_nodes.h"
#include "estimator/image/line_chart.h"
#include "estimator/image/png/png.h"
#include "estimator/kernels/flops.h"
#include "estimator/training/hooks/timer.h"
#include "estimator/training/trial.h"
#include "glog/logging.h"

namespace estimator {
namespace {

int64_t BytesOf(const TensorSpec& spec) {
  return spec.shape.num_elements() * static_cast<int64_t>(DTypeSize(spec.dtype));
}

int64_t BytesOf(const Element& element) {
  int64_t bytes = 0;
  for (const ArrayMap* arrays : {&element.features, &element.labels})
    for (const auto& [name, array] : *arrays) bytes += static_cast<int64_t>(array.num_bytes());
  return bytes;
}

}  // namespace

absl::StatusOr<FoundLearningRate> FindLearningRate(const EstimatorBase& estimator,
                                                   const InputFn& input,
                                                   const FindLearningRateOptions& options) {
  constexpr double kSmoothing = 0.98, kDivergence = 4;
  constexpr size_t kSkipBegin = 10, kSkipEnd = 1;
  if (!(options.min > 0 && options.max > options.min) || options.steps < 20) {
    return InvalidArgument("FindLearningRate: needs 0 < min < max and steps >= 20; given ",
                           options.min, ", ", options.max, " and ", options.steps);
  }
  const InputFn endless([input](const InputFn::Call& call) -> absl::StatusOr<Dataset> {
    EST_ASSIGN_OR_RETURN(const Dataset dataset, input(call));
    return dataset.Cardinality() == Dataset::kInfinite ? dataset : dataset.Repeat();
  });
  EST_ASSIGN_OR_RETURN(const auto trial, Trial::Open(estimator, endless));
  EST_RETURN_IF_ERROR(trial->Build(trial->first()));
  EST_RETURN_IF_ERROR(trial->LoadVariables());
  FoundLearningRate found;
  auto& curve = found.curve;
  if (const int64_t trained = trial->global_step(); trained > 0) {
    found.warnings.push_back(
        absl::StrCat("the model has been trained for ", trained,
                     " steps already, so its loss is low; use an empty model_dir for the rate of a "
                     "training from the beginning"));
  }
  double mean = 0, least = INFINITY, highest = 0;
  for (int64_t i = 0; i < options.steps; ++i) {
    const double part = static_cast<double>(i) / static_cast<double>(options.steps - 1);
    const double rate = options.min * std::pow(options.max / options.min, part);
    EST_RETURN_IF_ERROR(Annotate(trial->SetLearningRate(rate), "FindLearningRate"));
    EST_ASSIGN_OR_RETURN(const std::optional<StepInput> step, trial->Next());
    EST_ASSIGN_OR_RETURN(const double loss, trial->Step(step.value_or(trial->first())));
    mean = kSmoothing * mean + (1 - kSmoothing) * loss;
    const double smoothed = mean / (1 - std::pow(kSmoothing, i + 1));
    if (!std::isfinite(loss) || smoothed > kDivergence * least) break;
    least = std::min(least, smoothed);
    highest = std::max(highest, smoothed);
    curve.emplace_back(rate, smoothed);
  }
  // numpy.gradient and argmin.
  double steepest = 0;
  for (size_t i = kSkipBegin; i + kSkipEnd < curve.size(); ++i) {
    const size_t before = std::max(i - 1, kSkipBegin), after = std::min(i + 1, curve.size() - 2);
    if (after == before) break;
    const double gradient =
        (curve[after].second - curve[before].second) / static_cast<double>(after - before);
    if (gradient >= steepest) continue;
    steepest = gradient;
    found.suggestion = curve[i].first;
  }
  if (steepest == 0) {
    return FailedPrecondition("FindLearningRate: the loss does not fall in the ", curve.size(),
                              " steps from rate ", options.min,
                              " on; begin with a smaller rate, or "
                              "see with --overfit_batches=1 whether the model learns at all");
  }
  const double first = curve[0].second;
  if (first - least < kMinLossFall * std::abs(first)) {
    found.warnings.push_back(
        absl::StrFormat("the smoothed loss fell only from %.4g to %.4g, less than %.0f %%, so the "
                        "suggestion may be "
                        "noise; look at the curve, and use more steps or a larger batch",
                        first, least, 100 * kMinLossFall));
  }
  if (options.path.empty()) return found;
  const image::LineChart chart{
      .title = absl::StrFormat("smoothed loss; suggested learning rate %.2g", found.suggestion),
      .x_label = "learning rate",
      .curves = {curve, {{found.suggestion, 0}, {found.suggestion, highest}}},
      .log_x = true};
  EST_ASSIGN_OR_RETURN(const Array picture, image::DrawLineChart(chart));
  EST_ASSIGN_OR_RETURN(const std::string png, image::EncodePng(picture));
  EST_RETURN_IF_ERROR(WriteFileAtomically(options.path, png));
  return found;
}

absl::StatusOr<FoundBatchSize> FindBatchSize(const EstimatorBase& estimator, const InputFn& input,
                                             std::optional<int64_t> memory_bytes) {
  const std::optional<AvailableMemory> available = ReadAvailableMemory();
  const int64_t limit =
      memory_bytes.value_or(available.has_value() ? available->bytes / 10 * 9 : INT64_MAX);
  EST_ASSIGN_OR_RETURN(std::unique_ptr<Trial> trial, Trial::Open(estimator, input));
  int64_t fits = 0, too_large = 0, next = trial->rows();
  if (next == 0) return InvalidArgument("FindBatchSize: the input has no batch axis");
  const int64_t bytes_of_row = BytesOf(trial->first().replicas[0]) / next;
  const int64_t parts = trial->parts(), epoch = trial->examples_per_epoch();
  const int64_t most = std::max(next, epoch > 0 ? epoch / parts : 1 << 30);
  StepInput step;
  const auto build = [&](int64_t rows) -> absl::Status {
    trial = nullptr;  // frees the memory of the last size
    EST_ASSIGN_OR_RETURN(trial, Trial::Open(estimator, input));
    EST_ASSIGN_OR_RETURN(step, trial->FirstWithRows(rows));
    return Annotate(trial->Build(step),
                    absl::StrCat("FindBatchSize: with ", rows, " rows for a replica"));
  };
  FoundBatchSize found;
  while (next > fits) {
    const double begin = SteadyClock()();
    // The batch of the step, two that are read ahead, and one that is being made.
    int64_t bytes = 4 * bytes_of_row * parts * next;
    if (bytes <= limit) {
      EST_RETURN_IF_ERROR(build(next));
      const absl::StatusOr<Executable*> compiled = trial->Compile();
      if (!compiled.ok() && !absl::IsResourceExhausted(compiled.status())) return compiled.status();
      const ExecutableInfo info = compiled.ok() ? (*compiled)->info() : ExecutableInfo();
      if (compiled.ok() && info.planned_peak_bytes == 0)
        return Unimplemented(
            "FindBatchSize: the memory of devices is not planned here; "
            "--tpu_check_fill finds a batch for a TPU");
      bytes += info.planned_peak_bytes * info.num_replicas + info.planned_shared_bytes +
               info.planned_derived_bytes;
      for (const Variable& v : trial->model().graph->variables()) bytes += BytesOf(v.spec());
      if (!compiled.ok()) bytes = INT64_MAX;
    }
    const bool is_planned = bytes != INT64_MAX;
    LOG(INFO) << "batch size " << next * parts << ": a step takes "
              << (is_planned ? HumanBytes(bytes) : "more memory than there is") << ", which "
              << (bytes <= limit ? "fits into " : "does not fit into ") << HumanBytes(limit)
              << "; planned in " << HumanDuration(SteadyClock()() - begin);
    (bytes <= limit ? fits : too_large) = next;
    if (bytes <= limit) found.memory_bytes = bytes;
    if (fits == 0) {
      return absl::ResourceExhaustedError(
          absl::StrCat("FindBatchSize: the input's batch, ", next, " rows for a replica, does not ",
                       "fit into ", HumanBytes(limit), "; begin with a smaller one"));
    }
    next = too_large == 0 ? std::min(2 * fits, most) : (fits + too_large) / 2;
    if (next >= 64 && next != most) next -= next % 8;
  }
  EST_RETURN_IF_ERROR(build(fits));
  EST_RETURN_IF_ERROR(trial->LoadVariables());
  EST_RETURN_IF_ERROR(trial->Compile().status());
  LOG(INFO) << "batch size " << fits * parts << ": one step confirms it";
  const double start = SteadyClock()();
  EST_RETURN_IF_ERROR(trial->Step(step).status());
  found.step_seconds = SteadyClock()() - start;
  LOG(INFO) << "batch size " << fits * parts << ": the step took "
            << HumanDuration(found.step_seconds);
  found.batch_size = fits * parts;
  return found;
}

absl::StatusOr<std::vector<double>> OverfitBatches(const EstimatorBase& estimator,
                                                   const InputFn& input, int64_t batches,
                                                   int64_t max_steps,
                                                   std::optional<int64_t> memory_bytes) {
  if (batches < 1 || max_steps < 1)
    return InvalidArgument("OverfitBatches: given ", batches, " batches and ", max_steps, " steps");
  const std::optional<AvailableMemory> available = ReadAvailableMemory();
  const int64_t limit =
      memory_bytes.value_or(available.has_value() ? available->bytes / 2 : INT64_MAX);
  EST_ASSIGN_OR_RETURN(const auto trial, Trial::Open(estimator, input));
  // A repeated input has the same examples again after an epoch.
  const int64_t epoch = trial->examples_per_epoch(), rows = trial->rows() * trial->parts();
  if (epoch > 0 && rows > 0) batches = std::min(batches, std::max<int64_t>(1, epoch / rows));
  int64_t bytes_of_batch = 0;
  for (const Element& element : trial->first().replicas) bytes_of_batch += BytesOf(element);
  const int64_t fit = limit / std::max<int64_t>(1, bytes_of_batch);
  std::vector<StepInput> steps;
  for (int64_t i = 0; i < batches; ++i) {
    EST_ASSIGN_OR_RETURN(std::optional<StepInput> step, trial->Next());
    if (!step.has_value()) break;
    if (i == fit) {
      return ResourceExhausted("OverfitBatches: only ", fit, " batches of ",
                               HumanBytes(bytes_of_batch), " fit into ", HumanBytes(limit),
                               "; ask for no more (--overfit_batches=2)");
    }
    steps.push_back(*std::move(step));
  }
  EST_RETURN_IF_ERROR(trial->Build(trial->first()));
  EST_RETURN_IF_ERROR(trial->LoadVariables());
  std::vector<double> losses;
  for (int64_t done = 0; done < max_steps; done += static_cast<int64_t>(steps.size())) {
    double sum = 0;
    for (const StepInput& step : steps) {
      EST_ASSIGN_OR_RETURN(const double loss, trial->Step(step));
      sum += loss;
    }
    if (!std::isfinite(sum)) {
      return InvalidArgument("OverfitBatches: the loss of pass ", losses.size() + 1, " is ", sum,
                             "; try a smaller learning rate (--find_learning_rate)");
    }
    losses.push_back(sum / static_cast<double>(steps.size()));
    if (losses.back() < kOverfitRatio * losses[0]) break;
  }
  return losses;
}

absl::StatusOr<std::string> ModelSummary(const EstimatorBase& estimator, const InputFn& input,
                                         Mode mode) {
  EST_ASSIGN_OR_RETURN(const auto trial, Trial::Open(estimator, input, mode));
  EST_RETURN_IF_ERROR(trial->Build(trial->first()));
  const BuiltModel& model = trial->model();
  std::vector<Tensor> roots;
  if (mode != Mode::kPredict) roots = {model.spec.loss};
  for (const auto& [name, tensor] : model.spec.predictions) roots.push_back(tensor);

  struct Line {
    std::string name;
    TensorSpec output = {};  // that other layers read
    int64_t parameters = 0, flops = 0;
  };
  std::vector<Line> lines;
  std::map<std::string, size_t> number;
  const auto line = [&](const std::string& name) -> Line& {
    const auto [found, is_new] = number.try_emplace(name, lines.size());
    if (is_new) lines.push_back({.name = name});
    return lines[found->second];
  };
  // A layer owns variables, and its name is their scope; a variable without one is a layer.
  std::map<std::string, int64_t> owners;
  int64_t total = 0, trainable = 0, flops = 0;
  for (const Variable& variable : model.graph->ModelVariables()) {
    const std::string scope(Dirname(variable.name()));
    const int64_t parameters = variable.shape().num_elements();
    owners[scope.empty() ? variable.name() : scope] += parameters;
    total += parameters;
    if (variable.trainable()) trainable += parameters;
  }
  const auto layer_of = [&](const Node& node) {
    for (std::string scope = node.name(); !scope.empty(); scope = std::string(Dirname(scope))) {
      if (owners.count(scope) > 0) return scope;
    }
    return node.name();
  };
  for (const Node* node : NeededNodes(*model.graph, roots)) {
    const std::string layer = layer_of(*node);
    KernelSpec spec{.op = node->op(), .attrs = node->attrs(), .outputs = node->outputs()};
    for (const Tensor& from : node->inputs()) {
      spec.inputs.push_back(from.spec());
      const std::string source = layer_of(*from.node());
      // A scalar is a part of the loss.
      if (source != layer && from.rank() > 0) line(source).output = from.spec();
    }
    line(layer).flops += ProductFlops(spec).value_or(0);
  }
  for (const auto& [name, parameters] : owners) line(name).parameters = parameters;
  const auto of_example = [&](int64_t of_batch) {
    return HumanCount(static_cast<double>(of_batch / std::max<int64_t>(1, trial->rows())));
  };
  std::vector<std::vector<std::string>> table = {{"layer", "output", "parameters", "FLOPs"}};
  for (const Line& l : lines) {
    flops += l.flops;
    if (l.parameters > 0 || l.flops > 0)
      table.push_back(
          {l.name, l.output.ToString(), absl::StrCat(l.parameters), of_example(l.flops)});
  }
  return absl::StrCat(FormatTable(table), "Total params: ", total,
                      "\nTrainable params: ", trainable,
                      "\nNon-trainable params: ", total - trainable,
                      "\nFLOPs of one example: ", of_example(flops), "\n");
}

absl::Status RunFinderOfConfig(const EstimatorBase& estimator, const InputFn& input, Mode mode) {
  const RunConfig& config = estimator.config();
  if (!config.HasFinder()) return absl::OkStatus();
  if (mode != Mode::kTrain && !config.summary) {
    return FailedPrecondition(
        "a finder (find_learning_rate, find_batch_size, overfit_batches) needs a training, but the "
        "program begins with an evaluation or a prediction; start it so that it trains first");
  }
  std::string report;
  absl::Status end =
      FinishedEarly("the program ends here, because it had to print a report; it is on stdout");
  if (config.summary) {
    EST_ASSIGN_OR_RETURN(report, ModelSummary(estimator, input, mode));
  } else if (config.find_batch_size) {
    EST_ASSIGN_OR_RETURN(const FoundBatchSize found, FindBatchSize(estimator, input));
    report = absl::StrCat("batch size: ", found.batch_size, ", for which a step takes ",
                          HumanBytes(found.memory_bytes), " and ",
                          HumanDuration(found.step_seconds), "\n");
  } else if (config.overfit_batches > 0) {
    EST_ASSIGN_OR_RETURN(const std::vector<double> losses,
                         OverfitBatches(estimator, input, config.overfit_batches));
    for (size_t pass = 1; pass <= losses.size();
         pass = std::max(pass + 1, std::min(2 * pass, losses.size())))
      absl::StrAppend(&report, "pass ", pass, ": mean loss ", losses[pass - 1], "\n");
    const bool learned = losses.back() < kOverfitRatio * losses[0];
    if (learned) report += "the model overfits these batches, as it should\n";
    if (!learned)
      end = FailedPrecondition(
          "overfit_batches: the model does not learn these batches by heart; look for a mistake in "
          "the loss, the labels or the rate (--find_learning_rate), and switch dropout and weight "
          "decay off for this check");
  } else {
    EST_ASSIGN_OR_RETURN(const FoundLearningRate found,
                         FindLearningRate(estimator, input, {.path = config.find_learning_rate}));
    report = absl::StrFormat(
        "suggested learning rate: %.2g, where the loss of %d steps falls most "
        "steeply; the curve is in %s\n",
        found.suggestion, found.curve.size(), config.find_learning_rate);
    for (const std::string& warning : found.warnings)
      absl::StrAppend(&report, "warning: ", warning, "\n");
  }
  std::cout << report << std::flush;
  return end;
}

}  // namespace estimator
