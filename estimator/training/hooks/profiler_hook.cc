#include "estimator/training/hooks/profiler_hook.h"

#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "estimator/base/file.h"
#include "estimator/base/path.h"
#include "estimator/base/status.h"
#include "glog/logging.h"

namespace estimator {
namespace {

std::string Quoted(absl::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out.push_back('\\');
    if (static_cast<unsigned char>(c) < 0x20) {
      absl::StrAppendFormat(&out, "\\u%04x", static_cast<int>(c));
    } else {
      out.push_back(c);
    }
  }
  out.push_back('"');
  return out;
}

}  // namespace

std::string TraceToChromeJson(const Trace& trace) {
  std::string json =
      "{\"traceEvents\": [\n{\"name\": \"process_name\", \"ph\": \"M\", \"pid\": 0, \"args\": "
      "{\"name\": \"ops\"}}";
  std::set<int> replicas;
  for (const TraceEvent& event : trace.events) replicas.insert(event.replica);
  for (const int replica : replicas) {
    absl::StrAppend(&json,
                    ",\n{\"name\": \"thread_name\", \"ph\": \"M\", \"pid\": 0, \"tid\": ", replica,
                    ", \"args\": {\"name\": \"replica ", replica, "\"}}");
  }
  const int64_t origin = trace.events.empty() ? 0 : trace.events[0].start_us;
  for (const TraceEvent& event : trace.events) {
    absl::StrAppend(&json, ",\n{\"name\": ", Quoted(event.op),
                    ", \"cat\": \"Op\", \"ph\": \"X\", \"pid\": 0, \"tid\": ", event.replica,
                    ", \"ts\": ", event.start_us - origin, ", \"dur\": ", event.duration_us,
                    ", \"args\": {\"name\": ", Quoted(event.name), ", \"op\": ", Quoted(event.op),
                    "}}");
  }
  absl::StrAppend(&json, "\n]}\n");
  return json;
}

absl::Status ProfilerHook::Begin(Graph&) {
  timer_.Reset();
  trace_ = nullptr;
  return options_.cadence.Validate("ProfilerHook");
}

std::vector<Tensor> ProfilerHook::BeforeRun(RunContext& context) {
  const int64_t step_after = context.global_step() + context.session().steps_per_run();
  if (timer_.last_triggered_step().has_value() && timer_.ShouldTriggerForStep(step_after)) {
    trace_ = std::make_shared<Trace>();
    SetThreadTrace(trace_);
  }
  return {};
}

absl::Status ProfilerHook::AfterRun(RunContext& context, const RunValues& values) {
  if (!timer_.last_triggered_step().has_value())
    timer_.UpdateLastTriggeredStep(context.global_step());
  if (trace_ == nullptr) return absl::OkStatus();
  const std::shared_ptr<Trace> trace = std::move(trace_);
  SetThreadTrace(nullptr);
  timer_.UpdateLastTriggeredStep(values.global_step);
  const std::string& directory =
      options_.output_dir.empty() ? context.session().model_dir() : options_.output_dir;
  EST_RETURN_IF_ERROR(CreateDirectories(directory));
  const std::string path =
      JoinPath(directory, absl::StrCat("timeline-", values.global_step, ".json"));
  EST_RETURN_IF_ERROR(WriteFileAtomically(path, TraceToChromeJson(*trace)));
  LOG(INFO) << "Saved the timeline of the run up to step " << values.global_step << " into "
            << path;
  return absl::OkStatus();
}

}  // namespace estimator
