#include "models/common/record_run.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "estimator/base/file.h"
#include "estimator/base/status.h"
#include "estimator/summary/event_file_writer.h"
#include "estimator/training/hooks.h"

DEFINE_bool(record_run, false,
            "record the flags, the rate, where the time goes and what is predicted in model_dir, "
            "for tools/report");

namespace estimator {
namespace {

constexpr int64_t kStepsBetweenRecords = 20, kMaxRunFileBytes = int64_t{1} << 30;

// The flags of the program, without those of gflags and glog.
std::string RunLine(int64_t step, double steps_per_epoch) {
  std::vector<gflags::CommandLineFlagInfo> flags;
  gflags::GetAllFlags(&flags);
  nlohmann::json line = {{"step", step}, {"flags", {}}, {"defaults", {}}};
  if (steps_per_epoch > 0) line["steps_per_epoch"] = steps_per_epoch;
  line["time"] =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  for (const gflags::CommandLineFlagInfo& flag : flags) {
    const absl::string_view file = Basename(flag.filename);
    if (absl::StartsWith(file, "gflags") || file == "logging.cc" || file == "vlog_is_on.cc" ||
        file == "utilities.cc")
      continue;
    // gflags prints 0.1 with all its digits.
    double number = 0;
    const bool is_number = flag.type == "double" && absl::SimpleAtod(flag.current_value, &number);
    line[flag.is_default ? "defaults" : "flags"][flag.name] =
        is_number ? absl::StrCat(number) : flag.current_value;
  }
  return line.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace) + "\n";
}

class RunRecorder : public SessionRunHook {
 public:
  explicit RunRecorder(int64_t examples_per_epoch) : examples_per_epoch_(examples_per_epoch) {}
  bool IsForChief() const override { return true; }
  absl::Status AfterCreateSession(Session& session) override {
    timer_.Reset();
    timer_.UpdateLastTriggeredStep(session.global_step());
    start_ = clock_();
    const std::string path = JoinPath(session.model_dir(), kRunFile);
    absl::StatusOr<std::string> lines = ReadFile(path, kMaxRunFileBytes);
    if (absl::IsNotFound(lines.status())) lines = "";
    EST_RETURN_IF_ERROR(lines.status());
    // Not appended: what is behind a link stays as it is.
    return WriteDerivedFile(
        path, absl::StrCat(*lines, RunLine(session.global_step(),
                                           static_cast<double>(examples_per_epoch_) /
                                               static_cast<double>(std::max<int64_t>(
                                                   1, session.examples_per_step())))));
  }
  absl::Status AfterRun(RunContext& context, const RunValues& values) override {
    if (values.loss_not_finite || !timer_.ShouldTriggerForStep(values.global_step))
      return absl::OkStatus();
    return Record(context.session());
  }
  absl::Status End(Session& session) override {
    return timer_.last_triggered_step() == session.global_step() ? absl::OkStatus()
                                                                 : Record(session);
  }

 private:
  absl::Status Record(Session& session) {
    const int64_t step = session.global_step();
    timer_.UpdateLastTriggeredStep(step);
    EST_ASSIGN_OR_RETURN(const auto writer, EventFileWriter::ForDirectory(session.model_dir()));
    // A model may have no rate, or one that depends on the input.
    if (const auto rate = session.LearningRate(); rate.ok())
      EST_RETURN_IF_ERROR(writer->AddScalar(kRateTag, static_cast<float>(*rate), step));
    const LoopTimes& times = session.times();
    for (const auto& [name, seconds] :
         std::vector<std::pair<const char*, double>>{{"compute", times.compute},
                                                     {"input", times.input},
                                                     {"checkpoint", times.checkpoint},
                                                     {"evaluation", times.evaluation},
                                                     {"all", clock_() - start_}}) {
      EST_RETURN_IF_ERROR(
          writer->AddScalar(absl::StrCat(kSecondsTags, name), static_cast<float>(seconds), step));
    }
    return writer->Flush();
  }

  const int64_t examples_per_epoch_;
  const Clock clock_ = SteadyClock();
  double start_ = 0;
  SecondOrStepTimer timer_{{.every_steps = kStepsBetweenRecords}};
};

}  // namespace

HookPtr RecordRunHook(int64_t examples_per_epoch) {
  if (FLAGS_record_run) return std::make_shared<RunRecorder>(examples_per_epoch);
  return std::make_shared<SessionRunHook>();
}

}  // namespace estimator
