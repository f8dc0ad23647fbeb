#include "models/common/run_flags.h"

#include <glog/logging.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "estimator/base/flag_spelling.h"
#include "tpu/cluster/detect_accelerator.h"
#include "tpu/cluster/machine.h"
#include "tpu/cluster/resolve_masters.h"
#include "tpu/cluster/tpu_slice.h"
#include "tpu/rules/topology_check.h"

DEFINE_bool(use_tpu, true,
            "run on --num_shards replicas in this process, or on --master; false: run on the CPU "
            "without replicas; auto: on the TPU or the GPUs that are found, else as false");
DEFINE_bool(detect_accelerator, false, "the same as --use_tpu=auto");
DEFINE_string(iterations, "50", "steps between hook calls on the replicas, or a time such as 30s");
DEFINE_int64(num_shards, 8, "number of replicas (a TPU device has 8 cores)");
DEFINE_string(tpu_check, "",
              "print what a TPU would refuse or punish, and exit without training: rules, or a "
              "topology such as v3-8, for which the program is also compiled; empty: no check");
DEFINE_double(tpu_check_seconds, estimator::tpu::TopologyCheckSettings().seconds,
              "with --tpu_check=TOPOLOGY: seconds for the compilations of each mode");
DEFINE_bool(tpu_check_fill, false,
            "with --tpu_check=TOPOLOGY: if the batch fits, also compile larger ones, to find one "
            "that fills the memory of a device");
DEFINE_string(dump_stablehlo, "",
              "write the StableHLO of the training step to this file, and beside it that of "
              "evaluation and prediction of whole batches; needs --use_tpu; empty: none");
DEFINE_string(tpu, "",
              "the TPU to run on: \"local\" for the one of this machine, or a name or an address "
              "grpc://HOST:PORT, which must be this machine's");
DEFINE_string(tpu_zone, "", "zone of the TPU that --tpu names; empty: that of this machine");
DEFINE_string(gcp_project, "", "project of the TPU that --tpu names; empty: that of this machine");
DEFINE_string(master, "",
              "the devices to run on: \"\" or local for replicas in this process, or pjrt:PATH for "
              "those of a PJRT plugin, such as pjrt:/lib/libtpu.so");
DEFINE_bool(tpu_numerics, false,
            "round the operands of matrix products and convolutions to bfloat16, as a TPU does");

// Of group_flags.cc.
DECLARE_int32(num_processes);

namespace estimator {
namespace {

const FlagSpelling kAuto("use_tpu=auto", "detect_accelerator=true");

// Whether the program looks for devices: --use_tpu=auto, or --tpu without --use_tpu=false.
bool Detects() { return FLAGS_detect_accelerator || (FLAGS_use_tpu && !FLAGS_tpu.empty()); }

// What was found, once per process. Sets --use_tpu, unless the user did.
const absl::StatusOr<tpu::Accelerator>& Detected() {
  static const auto& detected = *new absl::StatusOr<tpu::Accelerator>(tpu::DetectAccelerator(
      {.tpu = FLAGS_tpu, .zone = FLAGS_tpu_zone, .project = FLAGS_gcp_project}));
  if (detected.ok()) {
    gflags::SetCommandLineOptionWithMode("use_tpu", detected->use_tpu() ? "true" : "false",
                                         gflags::SET_FLAGS_DEFAULT);
  }
  return detected;
}

// Whether the program runs on what was found. A check is of the program on a TPU, so that of a
// machine without one is for --num_shards cores.
bool RunsOnDetected() {
  return Detected().ok() && (!OnlyChecks() || Detected()->kind == tpu::Accelerator::Kind::kTpu);
}

// Adds the flags of this file.
//   detect: whether to look for accelerators if the flags ask for it.
tpu::RunConfig WithTPUFlags(const RunConfig& run_config, bool detect) {
  tpu::RunConfig config;
  static_cast<RunConfig&>(config) = run_config;
  config.master = FLAGS_master;
  config.tpu_config.iterations_per_loop = FLAGS_iterations;
  config.tpu_config.num_shards = FLAGS_num_shards;
  config.tpu_config.check = FLAGS_tpu_check;
  config.tpu_config.dump_stablehlo = FLAGS_dump_stablehlo;
  config.tpu_config.tpu_numerics = FLAGS_tpu_numerics;
  if (!detect) return config;
  if (!Detects()) {
    if (!FLAGS_use_tpu && !OnlyChecks()) config.tpu_config.num_shards = 1;
  } else if (Detected().ok()) {
    if (RunsOnDetected()) Detected()->Configure(config);
  } else {  // RequireFlags reports the error; in a program without it, TPUEstimator does
    config.cluster = tpu::TPUClusterResolver{
        .tpu = FLAGS_tpu, .zone = FLAGS_tpu_zone, .project = FLAGS_gcp_project};
  }
  return config;
}

// Whether --master names devices that this program can drive.
absl::Status CheckMaster() {
  if (!FLAGS_use_tpu || Detects()) return absl::OkStatus();  // it has no effect, or is refused
  if (FLAGS_master == "pjrt:") {
    return absl::InvalidArgumentError(
        "pjrt: needs the path of a plugin, as in pjrt:/path/to/libtpu.so");
  }
  tpu::RunConfig config;
  config.master = FLAGS_master;
  const absl::Status status = tpu::ResolveMasters(TaskConfig(), config);
  return {status.code(), absl::StrReplaceAll(status.message(), {{" (from RunConfig.master)", ""}})};
}

bool ChecksTopology() { return OnlyChecks() && FLAGS_tpu_check != "rules"; }

// Flags that exclude each other, or need another one.
std::vector<FlagRequirement> TPURequirements() {
  std::vector<FlagRequirement> requirements;
  const auto require = [&](const char* flag, bool holds, const std::string& problem) {
    requirements.push_back({flag, holds, "", problem});
  };
  const bool named = !FLAGS_tpu.empty() || FLAGS_detect_accelerator;
  const std::string needs_tpu =
      "needs --tpu, whose address it helps to find, or --use_tpu=auto; add one of them";
  require("tpu_zone", FLAGS_tpu_zone.empty() || named, needs_tpu);
  require("gcp_project", FLAGS_gcp_project.empty() || named, needs_tpu);
  requirements.push_back(StatusRequirement("master", CheckMaster()));
  require("master", FLAGS_master.empty() || FLAGS_tpu.empty(),
          "is given with --tpu, and both choose the devices; leave one out");
  const std::string needs_topology =
      "needs a topology, for which the program is compiled: add --tpu_check=v3-8 or another one";
  require("tpu_check_seconds", ChecksTopology() || !FlagWasGiven("tpu_check_seconds"),
          needs_topology);
  require("tpu_check_fill", ChecksTopology() || !FLAGS_tpu_check_fill, needs_topology);
  if (Detects()) {
    // Its default may have been set again, from a flag with the same meaning.
    const auto replicas = gflags::GetCommandLineFlagInfoOrDie("num_shards");
    require("num_shards", replicas.current_value == replicas.default_value,
            "is given with --tpu or --use_tpu=auto, which set it to the number of devices; leave "
            "one out");
  }
  require("num_processes",
          FLAGS_num_processes <= 1 || !FLAGS_use_tpu || Detects() ||
              FLAGS_num_shards % FLAGS_num_processes == 0,
          absl::StrCat("must divide --num_shards (", FLAGS_num_shards,
                       "): each process has the same number of replicas"));
  if (FLAGS_detect_accelerator) {
    require("use_tpu", !FlagWasGiven("use_tpu"),
            "is given as auto and as true or false; leave one out");
    require("master", FLAGS_master.empty(),
            "is given with --use_tpu=auto, and both choose the devices; leave one out");
  }
  return requirements;
}

}  // namespace

tpu::RunConfig RunConfigFromFlags() {
  LOG_IF(WARNING, !FLAGS_use_tpu && !FLAGS_detect_accelerator && !FLAGS_tpu.empty())
      << "--tpu has no effect with --use_tpu=false: the model runs on the CPU";
  tpu::SetTopologyCheckSettings({.seconds = FLAGS_tpu_check_seconds, .fill = FLAGS_tpu_check_fill});
  return WithTPUFlags(EstimatorRunConfigFromFlags(), /*detect=*/true);
}

int64_t NumReplicasFromFlags() {
  if (Detects() && RunsOnDetected()) return Detected()->num_replicas;
  if (OnlyChecks()) return FLAGS_num_shards;
  return FLAGS_use_tpu && !Detects() ? FLAGS_num_shards : 1;
}

bool OnlyChecks() { return !FLAGS_tpu_check.empty(); }

absl::Status RequireFlags(const std::vector<FlagRequirement>& requirements) {
  std::vector<FlagRequirement> all = requirements;
  all.push_back({"dump_stablehlo", CanBeFile(FLAGS_dump_stablehlo),
                 "a file in a folder that can be written"});
  all.push_back({"dump_stablehlo", FLAGS_dump_stablehlo.empty() || FLAGS_use_tpu, "",
                 "the step of the replicas is written: add --use_tpu"});
  all.push_back({"tpu_check_seconds",
                 FLAGS_tpu_check_seconds > 0 && std::isfinite(FLAGS_tpu_check_seconds),
                 "positive and finite"});
  // The error of an unknown topology is that of the RunConfig.
  const std::vector<std::string> topologies = tpu::TopologyNames();
  if (std::find(topologies.begin(), topologies.end(), FLAGS_tpu_check) != topologies.end()) {
    all.push_back(StatusRequirement("tpu_check", tpu::FindLibtpu(tpu::Machine(), "").status()));
  }
  for (FlagRequirement& requirement : TPURequirements()) all.push_back(std::move(requirement));
  if (Detects()) {
    all.push_back(
        StatusRequirement(FLAGS_detect_accelerator ? "use_tpu=auto" : "tpu", Detected().status()));
  }
  return RequireRunConfigFlags(all, [](const RunConfig& config) {
    return WithTPUFlags(config, /*detect=*/false).Validate();
  });
}

FlagRequirement BatchRequirement(const std::string& flag, int64_t batch_size) {
  const int64_t replicas = NumReplicasFromFlags();
  // RunConfig reports a num_shards that is not positive, and a check a batch that is not divisible.
  if (replicas <= 1 || OnlyChecks()) return {flag, batch_size > 0, "positive"};
  return {flag, batch_size > 0 && batch_size % replicas == 0,
          absl::StrCat("positive and divisible by the ", replicas,
                       Detects() ? " replicas of the accelerator" : " replicas (--num_shards)")};
}

}  // namespace estimator
