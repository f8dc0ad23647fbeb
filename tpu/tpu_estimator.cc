#include "tpu/tpu_estimator.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "estimator/base/status.h"
#include "glog/logging.h"
#include "tpu/cluster/master_name.h"
#include "tpu/cluster/resolve_masters.h"
#include "tpu/rules/checked_strategy.h"

namespace estimator::tpu {
namespace {

// The path of the PJRT plugin that RunConfig.master names; empty if it names none.
std::string PjrtPluginOf(const RunConfig& config) {
  return IsPluginMaster(config.master) ? config.master.substr(std::strlen(kPluginPrefix)) : "";
}

// Logs the fields of the config that a program set and that a run without replicas does not use.
void WarnOfUnusedFields(const RunConfig& config) {
  const std::pair<const char*, std::string> fields[] = {
      {"RunConfig.master", config.master},
      {"RunConfig.evaluation_master", config.evaluation_master},
      {"RunConfig.cluster", config.cluster.has_value() ? config.cluster->tpu : ""},
      {"TPUConfig.tpu_job_name", config.tpu_config.tpu_job_name}};
  for (const auto& [name, value] : fields) {
    LOG_IF(WARNING, !value.empty()) << name << " = \"" << value
                                    << "\" has no effect with use_tpu = false: the model runs on "
                                       "the CPU, without replicas";
  }
}

}  // namespace

TPUContext::ReplicaDevice TPUContext::device_for_replica(int replica) const {
  return {.host_device = tpu_host_placement_function(replica / num_of_replicas_per_host),
          .ordinal = replica % num_of_replicas_per_host};
}

std::string TPUContext::tpu_host_placement_function(int host) const {
  return absl::StrCat(job.empty() ? "" : "/job:", job, "/task:", host, "/device:CPU:0");
}

void CompleteConfig(TPUEstimatorSettings& settings) {
  RunConfig& config = settings.config;
  settings.compile_options.bfloat16_operands |= config.tpu_config.tpu_numerics;
  if (settings.use_tpu) {
    settings.masters = ResolveMasters(config);
    // An invalid config stays as it is, so that its error is the one that is reported.
  } else if (config.tpu_config.Validate().ok()) {
    config.tpu_config.num_shards = 1;
  }
}

absl::Status ValidateSettings(const TPUEstimatorSettings& settings, bool has_model_fn,
                              const Params& params) {
  // Scripts pass such flags to all programs, so they are no error.
  if (!settings.use_tpu) WarnOfUnusedFields(settings.config);
  EST_RETURN_IF_ERROR(settings.config.Validate());
  EST_RETURN_IF_ERROR(settings.masters);
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
  if (settings.config.master == kPluginPrefix) {
    violations.push_back(
        "RunConfig.master = \"pjrt:\" needs the path of a plugin: pjrt:/path/to/libtpu.so");
  }
  // A check reports it with everything else.
  check("train_batch_size", settings.batch_sizes.train,
        settings.use_tpu && settings.config.tpu_config.check.empty());
  check("eval_batch_size", settings.batch_sizes.eval, false);
  check("predict_batch_size", settings.batch_sizes.predict, false);
  if (!settings.use_tpu && !settings.config.tpu_config.dump_stablehlo.empty()) {
    violations.push_back(
        "TPUConfig.dump_stablehlo writes the step of the replicas: set use_tpu to true");
  }
  for (const int64_t axis : settings.batch_axis) {
    if (axis < 0) {
      violations.push_back(absl::StrCat("batch_axis must be >= 0, given ",
                                        absl::StrJoin(settings.batch_axis, ", "),
                                        "; count from the first axis"));
      break;
    }
  }
  if (violations.empty()) return absl::OkStatus();
  return InvalidArgument("TPUEstimator: ", absl::StrJoin(violations, "; "));
}

std::unique_ptr<Strategy> MakeStrategy(ModelCall model_call, const TPUEstimatorSettings& settings) {
  if (!settings.use_tpu) {
    return MakeLocalStrategy(std::move(model_call), settings.batch_sizes, settings.compile_options,
                             settings.batch_axis, settings.config.accumulate_steps,
                             settings.config.process_group);
  }
  const ReplicasStrategyOptions given = {
      .tpu_config = settings.config.tpu_config,
      .batch_sizes = settings.batch_sizes,
      .batch_axis = settings.batch_axis,
      .eval_on_tpu = settings.eval_on_tpu,
      .compile_options = settings.compile_options,
      .pjrt_plugin = PjrtPluginOf(settings.config),
      .accumulate_steps = std::max<int64_t>(1, settings.config.accumulate_steps),
      .scale_learning_rate = settings.config.scale_learning_rate,
      .process_group = settings.config.process_group};
  ReplicasStrategyOptions run = given;
  // A check reports sizes that do not divide, and checks the rest of the program with some that do.
  if (!run.tpu_config.check.empty())
    run.batch_sizes = DivisibleBatchSizes(run.batch_sizes, run.tpu_config);
  return MakeCheckedStrategy(MakeReplicasStrategy(std::move(model_call), run), given);
}

void FillParams(const TPUEstimatorSettings& settings, Mode mode, int64_t batch_size,
                Params& params) {
  params.batch_size = batch_size;
  params.use_tpu = settings.use_tpu && (mode != Mode::kEval || settings.eval_on_tpu);
  // Without replicas, each process that trains computes what one of them does.
  const ProcessGroup* const group = settings.config.process_group.get();
  params.context.num_hosts =
      group != nullptr && (params.use_tpu || mode == Mode::kTrain) ? group->size() : 1;
  params.context.num_replicas = params.use_tpu
                                    ? static_cast<int>(settings.config.tpu_config.replicas())
                                    : params.context.num_hosts;
  params.context.num_of_replicas_per_host = params.context.num_replicas / params.context.num_hosts;
  params.context.job = params.use_tpu ? settings.config.tpu_config.tpu_job_name : "";
}

void FillParams(const TPUEstimatorSettings& settings, const InputFn::Call& call, Params& params) {
  FillParams(settings, call.mode, call.batch_size, params);
  params.context.num_hosts = call.num_hosts;
  params.context.current_host = call.current_host;
  params.context.num_of_replicas_per_host = params.context.num_replicas / call.num_hosts;
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
