#include "estimator/training/hooks/profiler_hook.h"

#include <nlohmann/json.hpp>
#include <set>

#include "absl/strings/str_cat.h"
#include "estimator/base/file.h"
#include "estimator/base/path.h"
#include "estimator/base/saturating.h"
#include "estimator/base/status.h"
#include "glog/logging.h"

namespace estimator {
namespace {

using Json = nlohmann::ordered_json;

// One event, on one line. Bytes that are not UTF-8 become U+FFFD.
std::string Line(const Json& event) {
  return event.dump(/*indent=*/-1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
}

// The name of a process or of a lane.
Json Named(const char* what, int lane, const std::string& name) {
  return {{"name", what}, {"ph", "M"}, {"pid", 0}, {"tid", lane}, {"args", {{"name", name}}}};
}

}  // namespace

std::string TraceToChromeJson(const Trace& trace) {
  std::string json = "{\"traceEvents\": [\n" + Line(Named("process_name", 0, "ops"));
  std::set<int> replicas;
  for (const TraceEvent& event : trace.events) replicas.insert(event.replica);
  for (const int replica : replicas) {
    absl::StrAppend(&json, ",\n",
                    Line(Named("thread_name", replica, absl::StrCat("replica ", replica))));
  }
  // The clock of the events begins at an arbitrary time.
  const int64_t origin = trace.events.empty() ? 0 : trace.events[0].start_us;
  for (const TraceEvent& event : trace.events) {
    absl::StrAppend(&json, ",\n",
                    Line({{"name", event.op},
                          {"cat", "Op"},
                          {"ph", "X"},
                          {"pid", 0},
                          {"tid", event.replica},
                          {"ts", event.start_us - origin},
                          {"dur", event.duration_us},
                          {"args",
                           {{"name", event.name},
                            {"op", event.op},
                            {"kernel", event.reference ? "reference" : "fast"}}}}));
  }
  absl::StrAppend(&json, "\n]}\n");
  return json;
}

absl::Status ProfilerHook::Begin(Graph&) {
  timer_.Reset();
  trace_ = nullptr;
  written_ = false;
  if (!options_.steps.has_value()) return options_.cadence.Validate("ProfilerHook");
  if (options_.cadence.every_steps.has_value() || options_.cadence.every_secs.has_value())
    return InvalidArgument("ProfilerHook: give either a cadence or steps, not both");
  return options_.steps->Validate("ProfilerHook: steps");
}

std::vector<Tensor> ProfilerHook::BeforeRun(RunContext& context) {
  const int64_t step_after =
      SaturatingAdd(context.global_step(), context.session().steps_per_run());
  const bool has_range = options_.steps.has_value();
  // Without a range the first run is not traced: it compiles, so its times would be misleading.
  const bool traced = has_range
                          ? !written_ && options_.steps->Overlaps(context.global_step(), step_after)
                          : timer_.last_triggered_step() && timer_.ShouldTriggerForStep(step_after);
  if (!traced) return {};
  // All runs of a range are in one trace.
  if (!has_range || trace_ == nullptr) trace_ = std::make_shared<Trace>();
  // It ends with the run: an evaluation between two runs of training is not traced.
  SetThreadTrace(trace_);
  return {};
}

absl::Status ProfilerHook::AfterRun(RunContext& context, const RunValues& values) {
  if (!timer_.last_triggered_step().has_value())
    timer_.UpdateLastTriggeredStep(context.global_step());
  if (trace_ == nullptr) return absl::OkStatus();
  SetThreadTrace(nullptr);
  // The runs that are left of a range are added to its trace.
  if (options_.steps.has_value() && values.global_step < options_.steps->last)
    return absl::OkStatus();
  timer_.UpdateLastTriggeredStep(values.global_step);
  return Write(context.session(), values.global_step);
}

absl::Status ProfilerHook::End(Session& session) {
  if (!options_.steps.has_value() || written_) return absl::OkStatus();
  if (trace_ != nullptr) return Write(session, session.global_step());
  LOG(WARNING) << "no step was profiled: training ended at step " << session.global_step()
               << " and had none of the steps " << options_.steps->ToString();
  return absl::OkStatus();
}

absl::Status ProfilerHook::Write(Session& session, int64_t global_step) {
  const std::shared_ptr<Trace> trace = std::move(trace_);
  written_ = true;
  const std::string& directory =
      options_.output_dir.empty() ? session.model_dir() : options_.output_dir;
  EST_RETURN_IF_ERROR(CreateDirectories(directory));
  const std::string path = JoinPath(directory, absl::StrCat("timeline-", global_step, ".json"));
  EST_RETURN_IF_ERROR(WriteDerivedFile(path, TraceToChromeJson(*trace)));
  LOG(INFO) << "Saved the timeline of the run up to step " << global_step << " into " << path;
  return absl::OkStatus();
}

}  // namespace estimator
