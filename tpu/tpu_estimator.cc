#include "tpu/tpu_estimator.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "estimator/base/status.h"
#include "glog/logging.h"
#include "tpu/rules/checked_strategy.h"

namespace estimator::tpu {
namespace {

constexpr absl::string_view kPjrtPrefix = "pjrt:";

// The path of the PJRT plugin that RunConfig.master names; empty if it names none.
std::string PjrtPluginOf(const RunConfig& config) {
  const absl::string_view master = config.master;
  return std::string(
      absl::StripPrefix(absl::StartsWith(master, kPjrtPrefix) ? master : "", kPjrtPrefix));
}

// Logs the fields of the config that a program set and nothing reads.
void WarnOfUnusedFields(const RunConfig& config) {
  const std::pair<const char*, const std::string&> fields[] = {
      {"RunConfig.master", config.master},
      {"RunConfig.evaluation_master", config.evaluation_master},
      {"TPUConfig.tpu_job_name", config.tpu_config.tpu_job_name}};
  for (const auto& [name, value] : fields) {
    LOG_IF(WARNING, !value.empty() && !absl::StartsWith(value, kPjrtPrefix))
        << name << " = \"" << value << "\" has no effect: this program does not connect to TPUs; "
        << "with use_tpu, " << config.tpu_config.replicas() << " replicas run in this process";
  }
}

}  // namespace

absl::Status ValidateSettings(const TPUEstimatorSettings& settings, bool has_model_fn,
                              const Params& params) {
  WarnOfUnusedFields(settings.config);
  EST_RETURN_IF_ERROR(settings.config.Validate());
  std::vector<std::string> violations;
  if (!has_model_fn) violations.push_back("model_fn must be given");
  if (params.batch_size != 0) {
    violations.push_back(
        "params.batch_size must not be set, because the framework sets it; set train_batch_size, "
        "eval_batch_size and predict_batch_size instead");
  }
  const auto check = [&](const char* name, int64_t value, bool required) {
    if (value < 0 || (required && value == 0)) {
      violations.push_back(value < 0 ? absl::StrCat(name, " must be > 0, given ", value)
                                     : absl::StrCat(name, " must be given when use_tpu is true"));
    }
  };
  const absl::string_view master = settings.config.master;
  if (absl::StartsWith(master, kPjrtPrefix) && !settings.use_tpu) {
    violations.push_back(absl::StrCat("RunConfig.master = \"", master,
                                      "\" needs use_tpu = true: its devices run replicas"));
  }
  if (master == kPjrtPrefix) {
    violations.push_back(
        "RunConfig.master = \"pjrt:\" needs the path of a plugin: pjrt:/path/to/libtpu.so");
  }
  // A check reports it with everything else.
  check("train_batch_size", settings.batch_sizes.train,
        settings.use_tpu && settings.config.tpu_config.check.empty());
  check("eval_batch_size", settings.batch_sizes.eval, false);
  check("predict_batch_size", settings.batch_sizes.predict, false);
  for (const int64_t axis : settings.batch_axis) {
    if (axis < 0) {
      violations.push_back(absl::StrCat("batch_axis must be >= 0, given ",
                                        absl::StrJoin(settings.batch_axis, ", "),
                                        "; count from the first axis"));
      break;
    }
  }
  if (violations.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("TPUEstimator: ", absl::StrJoin(violations, "; ")));
}

std::unique_ptr<Strategy> MakeStrategy(ModelCall model_call, const TPUEstimatorSettings& settings) {
  if (!settings.use_tpu) {
    return MakeLocalStrategy(std::move(model_call), settings.batch_sizes, settings.compile_options,
                             settings.batch_axis);
  }
  const TPUConfig& config = settings.config.tpu_config;
  const bool checks = !config.check.empty();
  return MakeCheckedStrategy(
      MakeShardedStrategy(std::move(model_call),
                          {.tpu_config = config,
                           .batch_sizes = checks ? DivisibleBatchSizes(settings.batch_sizes, config)
                                                 : settings.batch_sizes,
                           .batch_axis = settings.batch_axis,
                           .eval_on_tpu = settings.eval_on_tpu,
                           .compile_options = settings.compile_options,
                           .pjrt_plugin = PjrtPluginOf(settings.config)}),
      {.tpu_config = config,
       .batch_sizes = settings.batch_sizes,
       .batch_axis = settings.batch_axis,
       .eval_on_tpu = settings.eval_on_tpu});
}

void FillParams(const TPUEstimatorSettings& settings, Mode mode, int64_t batch_size,
                Params& params) {
  params.batch_size = batch_size;
  params.use_tpu = settings.use_tpu && (mode != Mode::kEval || settings.eval_on_tpu);
  params.context.num_replicas =
      params.use_tpu ? static_cast<int>(settings.config.tpu_config.replicas()) : 1;
  params.context.num_of_replicas_per_host = params.context.num_replicas / params.context.num_hosts;
}

void FillParams(const TPUEstimatorSettings& settings, const InputFn::Call& call, Params& params) {
  FillParams(settings, call.mode, call.batch_size, params);
  params.context.invocation = call.invocation;
  params.context.num_invocations = call.num_invocations;
  params.context.replicas_fed = params.context.num_replicas / call.num_invocations;
}

ExportPass MakeExportPass(ModelCall model_call, bool use_tpu, const BatchSizes& batch_sizes) {
  ExportPass pass = {.strategy = MakeLocalStrategy(std::move(model_call), batch_sizes),
                     .predict_only = use_tpu};
  if (use_tpu) pass.extra_tags = {"tpu"};
  return pass;
}

}  // namespace estimator::tpu
