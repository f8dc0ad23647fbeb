#include "models/common/loop_cost.h"

#include <algorithm>
#include <compare>
#include <cstddef>
#include <limits>

#include "estimator/base/status.h"

namespace estimator {
namespace {

constexpr int64_t kBlockSteps = 10;

// NaN without values.
double Median(std::vector<double> values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  // A ratio of two times of 0 is NaN, which `<` has no place for.
  std::sort(values.begin(), values.end(),
            [](double a, double b) { return std::is_lt(std::strong_order(a, b)); });
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

}  // namespace

ReportFields LoopCostHook::Fields() const {
  constexpr double kMilliseconds = 1e3, kPercent = 100;
  std::vector<double> ratios;
  for (size_t i = 0; i < loop_seconds_.size(); ++i)
    ratios.push_back(loop_seconds_[i] / program_seconds_[i]);
  return {{"loop_percent", (Median(ratios) - 1) * kPercent},
          {"loop_ms", Median(loop_seconds_) * kMilliseconds},
          {"program_ms", Median(program_seconds_) * kMilliseconds},
          {"measured_steps", static_cast<int64_t>(loop_seconds_.size()) * kBlockSteps}};
}

absl::Status LoopCostHook::Begin(Graph& graph) {
  for (const auto& node : graph.nodes()) {
    if (node->op() == "Placeholder") placeholders_.push_back(graph.FindTensor(node->name()));
  }
  return absl::OkStatus();
}

absl::Status LoopCostHook::Prepare(const Session& session, const std::vector<Array>& batch) {
  for (const Array& array : batch) batch_.push_back(array.Clone());
  CompileOptions compile = compile_;
  compile.single_replica = true;
  EST_ASSIGN_OR_RETURN(program_, Program::Compile(session.graph(),
                                                  {.feeds = placeholders_,
                                                   .fetches = {parts_->loss},
                                                   .updates = {parts_->train_op}},
                                                  compile));
  EST_ASSIGN_OR_RETURN(run_, ProgramRun::Create(program_, variables_, 0, 1));
  return absl::OkStatus();
}

absl::StatusOr<double> LoopCostHook::RunBlock(VariableStore& variables) {
  // The values of the loop: many steps on one batch would lead to numbers that training never has.
  for (const auto& [name, spec] : program_->variables()) {
    EST_ASSIGN_OR_RETURN(const Array value, variables.Get(name));
    EST_RETURN_IF_ERROR(variables_.Set(name, value));
  }
  const double begin = clock_();
  for (int64_t step = 0; step < kBlockSteps; ++step) {
    EST_RETURN_IF_ERROR(run_->SetFeeds(batch_));
    const int64_t global_step = run_->GlobalStep().value_or(0);
    for (int segment = 0; segment < program_->num_segments(); ++segment)
      EST_RETURN_IF_ERROR(run_->RunSegment(segment, global_step));
    EST_RETURN_IF_ERROR(run_->ApplyUpdates());
  }
  return (clock_() - begin) / static_cast<double>(kBlockSteps);
}

absl::Status LoopCostHook::AfterRun(RunContext& context, const RunValues& values) {
  const double now = clock_();
  VariableStore& variables = context.session().variables();
  if (run_ == nullptr) {
    EST_RETURN_IF_ERROR(Prepare(context.session(), values.results));
    EST_RETURN_IF_ERROR(RunBlock(variables).status());  // not measured
  }
  steps_done_ += values.num_steps;
  if (steps_done_ <= options_.warmup_steps) {
    block_begin_ = clock_();
    return absl::OkStatus();
  }
  block_steps_ += values.num_steps;
  if (block_steps_ < kBlockSteps) return absl::OkStatus();
  loop_seconds_.push_back((now - block_begin_) / static_cast<double>(block_steps_));
  EST_ASSIGN_OR_RETURN(const double seconds, RunBlock(variables));
  program_seconds_.push_back(seconds);
  block_steps_ = 0;
  block_begin_ = clock_();
  measured_seconds_ += kBlockSteps * (loop_seconds_.back() + seconds);
  if (static_cast<int64_t>(loop_seconds_.size()) * kBlockSteps >= options_.steps ||
      (options_.seconds > 0 && measured_seconds_ >= options_.seconds))
    context.RequestStop();
  return absl::OkStatus();
}

}  // namespace estimator
