#include "estimator/training/hooks/logging_tensor_hook.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "estimator/base/status.h"
#include "glog/logging.h"

namespace estimator {

LoggingTensorHook::LoggingTensorHook(Options options)
    : options_(std::move(options)),
      only_at_end_(options_.at_end && !options_.every_n_iter && !options_.every_n_secs),
      timer_({.every_steps = options_.every_n_iter, .every_secs = options_.every_n_secs},
             options_.clock) {}

absl::Status LoggingTensorHook::Begin(Graph&) {
  timer_.Reset();
  // As in TensorFlow, every_n_iter counts the runs of this call, and not global steps.
  iteration_ = 0;
  for (const auto& [tag, tensor] : options_.tensors) {
    if (!tensor.valid()) return InvalidArgument("LoggingTensorHook: '", tag, "' is not a tensor");
  }
  // Without an interval there is nothing more to check.
  if (only_at_end_) return absl::OkStatus();
  return StepsOrSeconds{options_.every_n_iter, options_.every_n_secs}.Validate(
      "LoggingTensorHook (every_n_iter, every_n_secs)");
}

std::vector<Tensor> LoggingTensorHook::Fetches() {
  std::vector<Tensor> tensors;
  for (const auto& [tag, tensor] : options_.tensors) tensors.push_back(tensor);
  return tensors;
}

std::vector<Tensor> LoggingTensorHook::BeforeRun(RunContext&) {
  // BeginRun also notes when the run begins, so it is called even if at_end asks for all tensors.
  wanted_ = (!only_at_end_ && timer_.BeginRun(iteration_)) || options_.at_end;
  if (wanted_) return Fetches();
  return {};
}

absl::Status LoggingTensorHook::AfterRun(RunContext&, const RunValues& values) {
  if (wanted_ && values.results.size() != options_.tensors.size()) {
    return absl::InternalError(absl::StrCat("LoggingTensorHook asked for ", options_.tensors.size(),
                                            " tensors, and the loop gave ", values.results.size()));
  }
  size_t i = 0;
  if (wanted_) {
    for (const auto& [tag, tensor] : options_.tensors) latest_[tag] = values.results[i++];
  }
  if (!only_at_end_ && timer_.EndRun(iteration_)) Print();
  ++iteration_;
  return absl::OkStatus();
}

absl::Status LoggingTensorHook::End(Session&) {
  if (options_.at_end && !latest_.empty()) Print();
  return absl::OkStatus();
}

void LoggingTensorHook::Print() {
  const auto elapsed = timer_.UpdateLastTriggeredStep(iteration_);
  std::string line;
  if (options_.formatter) {
    line = options_.formatter(latest_);
  } else {
    line = absl::StrJoin(latest_, ", ", [](std::string* out, const auto& entry) {
      absl::StrAppend(out, entry.first, " = ", entry.second.ToString());
    });
    if (elapsed.has_value()) absl::StrAppendFormat(&line, " (%.3f sec)", elapsed->seconds);
  }
  if (options_.sink) {
    options_.sink(line);
  } else {
    LOG(INFO) << line;
  }
}

}  // namespace estimator
