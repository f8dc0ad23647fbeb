#include "estimator/training/report.h"

#include <sys/resource.h>
#include <unistd.h>

#include <cmath>
#include <ctime>
#include <limits>
#include <nlohmann/json.hpp>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "estimator/base/file.h"
#include "estimator/base/strings.h"

namespace estimator {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

std::string FormatMetric(const Array& value) {
  if (value.num_elements() != 1) return value.ToString();
  if (!IsFloating(value.dtype())) return absl::StrCat(static_cast<int64_t>(value.AsDouble()));
  const double number = value.AsDouble();
  const double size = std::abs(number);
  return size != 0 && (size < 1e-3 || size >= 1e6) ? absl::StrFormat("%.4e", number)
                                                   : absl::StrFormat("%.4f", number);
}

// Nine digits tell any two float32 apart, and most metrics are float32: 0.979139984 and not
// 0.9791399836540222. NaN and Inf become null in JSON.
double WithNineDigits(double number) {
  double rounded = number;
  return absl::SimpleAtod(absl::StrFormat("%.9g", number), &rounded) ? rounded : number;
}

// indent: -1 writes one line.
std::string Dump(const ReportFields& fields, int indent) {
  auto json = nlohmann::ordered_json::object();
  for (const auto& [name, value] : fields) {
    if (const auto* number = std::get_if<double>(&value)) {
      json[name] = WithNineDigits(*number);
    } else {
      std::visit([&, &name = name](const auto& other) { json[name] = other; }, value);
    }
  }
  // Bytes that are not UTF-8 become U+FFFD. By default they would be an exception.
  constexpr auto kReplace = nlohmann::ordered_json::error_handler_t::replace;
  return json.dump(indent, ' ', /*ensure_ascii=*/false, kReplace);
}

}  // namespace

std::string EvaluationTable(const EvalResult& result) {
  std::vector<std::vector<std::string>> rows = {{"metric", "value"}};
  for (const auto& [name, value] : result.values) {
    if (name == "global_step" || value.dtype() == DType::kString) continue;  // bytes of a summary
    rows.push_back({name, FormatMetric(value)});
  }
  return absl::StrCat("evaluated ", result.num_examples, " examples at step ", result.global_step(),
                      " in ", HumanDuration(result.seconds), "\n", FormatTable(rows));
}

ReportFields EvaluationFields(const EvalResult& result) {
  ReportFields fields;
  for (const auto& [name, value] : result.values) {
    if (value.num_elements() != 1 || value.dtype() == DType::kString) continue;
    const double number = value.AsDouble();
    fields.emplace_back(name, IsFloating(value.dtype())
                                  ? ReportValue(number)
                                  : ReportValue(static_cast<int64_t>(number)));
  }
  fields.emplace_back("examples_evaluated", result.num_examples);
  return fields;
}

std::string ToJson(const ReportFields& fields) { return Dump(fields, /*indent=*/2) + "\n"; }

std::string ToJsonLine(const ReportFields& fields) { return Dump(fields, /*indent=*/-1); }

absl::Status WriteResultJson(StringArg path, const ReportFields& fields) {
  return WriteFileAtomically(path, ToJson(fields));
}

std::string TensorBoardCommand(StringArg model_dir) {
  const bool plain = model_dir.find_first_not_of(
                         "abcdefghijklmnopqrstuvwxyz"
                         "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                         "0123456789/._-+=:,@%") == absl::string_view::npos;
  if (plain) return absl::StrCat("tensorboard --logdir=", model_dir);
  return absl::StrCat("tensorboard --logdir='", absl::StrReplaceAll(model_dir, {{"'", "'\\''"}}),
                      "'");
}

double SecondsSinceProcessStart() {
  // Field 22 is the start time in clock ticks since boot. Fields are counted from the end of the
  // program's name, because the name may contain blanks and brackets.
  const absl::StatusOr<std::string> stat = ReadFile("/proc/self/stat");
  double start = 0;
  if (stat.ok()) {
    const std::vector<absl::string_view> fields =
        absl::StrSplit(absl::string_view(*stat).substr(stat->rfind(')') + 2), ' ');
    if (fields.size() > 19 && !absl::SimpleAtod(fields[19], &start)) start = 0;
  }
  timespec now = {};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec) -
         start / static_cast<double>(sysconf(_SC_CLK_TCK));
}

double PeakRssMib() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;  // from KiB
}

double TrainingSpeedHook::examples_per_second() const {
  return seconds_ > 0 && num_examples_ > 0 ? num_examples_ / seconds_ : kUnknown;
}

double TrainingSpeedHook::first_step_seconds() const {
  return first_step_seconds_.value_or(kUnknown);
}

absl::Status TrainingSpeedHook::AfterCreateSession(Session& /*session*/) {
  last_run_end_.reset();
  return absl::OkStatus();
}

absl::Status TrainingSpeedHook::AfterRun(RunContext& context, const RunValues& values) {
  if (!first_step_seconds_) first_step_seconds_ = since_start_();
  const double now = clock_();
  if (last_run_end_) {
    seconds_ += now - *last_run_end_;
    num_examples_ += static_cast<double>(values.num_steps * context.session().examples_per_step());
  }
  last_run_end_ = now;
  return absl::OkStatus();
}

}  // namespace estimator
