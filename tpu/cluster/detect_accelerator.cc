#include "tpu/cluster/detect_accelerator.h"

#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "estimator/base/file_system.h"
#include "estimator/base/status.h"
#include "glog/logging.h"
#include "tpu/cluster/master_name.h"
#include "tpu/cluster/tpu_cluster_resolver.h"
#include "tpu/cluster/tpu_slice.h"

namespace estimator::tpu {
namespace {

constexpr char kNamesAndPaths[] = "PJRT_NAMES_AND_LIBRARY_PATHS";

std::string Plural(int64_t count, const char* noun) {
  return absl::StrCat(count, " ", noun, count == 1 ? "" : "s");
}

// Variables that name a TPU or say that this machine belongs to one.
bool EnvironmentNamesATPU(const Machine& machine) {
  for (const char* name : {"KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS", "TPU_NAME", "TPU_CONFIG"}) {
    if (machine.variable(name).has_value()) return true;
  }
  return false;
}

// Whether the process is set up to use the chips of its own host alone, as libtpu reads it.
bool UsesOneHost(const Machine& machine) {
  return machine.variable("TPU_PROCESS_BOUNDS").value_or("") == "1,1,1" ||
         machine.variable("TPU_HOST_BOUNDS").value_or("") == "1,1,1";
}

class Detector {
 public:
  explicit Detector(const DetectAcceleratorOptions& options)
      : options_(options), machine_(options.machine) {}

  absl::StatusOr<Accelerator> Run() {
    EST_ASSIGN_OR_RETURN(std::optional<Accelerator> found, FindTPU());
    // A TPU that the user named must not be replaced by a GPU or the CPU without a word.
    if (!found.has_value() && !options_.tpu.empty()) {
      return NotFound("the TPU \"", options_.tpu, "\" cannot be used here: ", notes_.back());
    }
    // A TPU is preferred, because programs of TPUEstimator are written for it.
    if (!found.has_value()) found = FindGPU();
    if (!found.has_value()) found = Accelerator();
    found->notes = std::move(notes_);
    return *std::move(found);
  }

 private:
  // nullopt: there is none, and the reason is in notes_.
  absl::StatusOr<std::optional<Accelerator>> FindTPU() {
    const TPUChips chips = FindTPUChips(machine_);
    TPUCluster cluster;
    if (!options_.tpu.empty() || EnvironmentNamesATPU(machine_)) {
      EST_ASSIGN_OR_RETURN(cluster, (TPUClusterResolver{.tpu = options_.tpu,
                                                        .zone = options_.zone,
                                                        .project = options_.project,
                                                        .machine = machine_}
                                         .Resolve()));
      // An error, because a run on local replicas would not be the run that was asked for.
      if (!cluster.local) return CannotDrive(cluster.Master(), cluster.source);
    } else if (chips.num_chips > 0) {
      EST_ASSIGN_OR_RETURN(cluster,
                           (TPUClusterResolver{.tpu = "local", .machine = machine_}.Resolve()));
    }
    const absl::StatusOr<std::string> libtpu = FindLibtpu(machine_, options_.libtpu);
    if (chips.num_chips == 0) {
      notes_.push_back(libtpu.ok()
                           ? absl::StrCat("there is ", *libtpu, ", but no TPU chip on the PCI bus")
                           : "there is no TPU chip on the PCI bus");
      return std::nullopt;
    }
    const std::string found =
        absl::StrCat(chips.num_chips == 1 ? "there is " : "there are ",
                     Plural(chips.num_chips, "TPU chip"), " (", chips.version, ")");
    if (chips.device_node.empty()) {
      notes_.push_back(absl::StrCat(found,
                                    ", but no device node /dev/accel* or /dev/vfio/*: load the "
                                    "driver, or start the container with --privileged"));
      return std::nullopt;
    }
    if (!libtpu.ok()) {
      notes_.push_back(absl::StrCat(found, ", but no libtpu.so",
                                    options_.libtpu.empty() ? "" : " at " + options_.libtpu,
                                    ": install it (pip install libtpu), and set TPU_LIBRARY_PATH "
                                    "if it is in no usual place"));
      return std::nullopt;
    }
    Accelerator accelerator = {.kind = Accelerator::Kind::kTpu,
                               .num_replicas = chips.num_chips * chips.devices_per_chip,
                               .master = absl::StrCat(kPluginPrefix, *libtpu),
                               .description = ""};
    const std::string& type = cluster.accelerator_type;
    const absl::StatusOr<TPUSlice> slice = ParseAcceleratorType(type);
    const int64_t num_hosts =
        slice.ok() ? slice->num_hosts : static_cast<int64_t>(cluster.workers.size());
    // libtpu would wait for the other hosts without end.
    if (num_hosts > 1 && !UsesOneHost(machine_)) {
      return Unimplemented(
          "this machine is one of the ", num_hosts, " hosts of a TPU ", type,
          ", and this program runs on one host: create a slice of one host, such as v3-8 or "
          "v5litepod-8, or set TPU_PROCESS_BOUNDS=1,1,1 and TPU_VISIBLE_CHIPS to use the chips of "
          "this host alone");
    }
    accelerator.description = absl::StrCat("TPU ", type.empty() ? chips.version : type, ": ",
                                           Plural(chips.num_chips, "chip"), ", ", *libtpu);
    if (const auto visible = machine_.variable("TPU_VISIBLE_CHIPS"); visible.has_value()) {
      const std::vector<std::string> list = absl::StrSplit(*visible, ',', absl::SkipEmpty());
      accelerator.num_replicas = static_cast<int64_t>(list.size()) * chips.devices_per_chip;
      absl::StrAppend(&accelerator.description, ", of which TPU_VISIBLE_CHIPS=", *visible);
    }
    return accelerator;
  }

  std::optional<Accelerator> FindGPU() {
    int64_t num_gpus = 0;
    // The driver numbers the devices without gaps, and asking it would need its library.
    while (Exists(machine_.Path(absl::StrCat("dev/nvidia", num_gpus))).value_or(false)) ++num_gpus;
    std::string how;
    if (const char* name = "CUDA_VISIBLE_DEVICES"; num_gpus > 0) {
      // An empty list hides all GPUs.
      const auto visible = machine_.variable(name);
      if (visible.has_value() || machine_.is_empty(name)) {
        num_gpus = NumVisible(visible.value_or(""), num_gpus);
        how = absl::StrCat(" (CUDA_VISIBLE_DEVICES=", visible.value_or(""), ")");
      }
    }
    const std::string plugin = GpuPlugin();
    if (num_gpus == 0) {
      notes_.push_back(how.empty() ? "there is no GPU: no device /dev/nvidia0"
                                   : absl::StrCat("no GPU may be used", how));
      return std::nullopt;
    }
    const std::string found =
        absl::StrCat(num_gpus == 1 ? "there is " : "there are ", Plural(num_gpus, "GPU"), how);
    if (plugin.empty()) {
      notes_.push_back(absl::StrCat(
          found, ", but no PJRT plugin is named: set ", kNamesAndPaths,
          "=cuda:PATH to the xla_cuda_plugin.so of the Python package jax-cuda12-pjrt"));
      return std::nullopt;
    }
    if (!FileExists(plugin)) {
      notes_.push_back(absl::StrCat(found, ", but the PJRT plugin ", plugin,
                                    " does not exist: correct its path"));
      return std::nullopt;
    }
    return Accelerator{.kind = Accelerator::Kind::kGpu,
                       .num_replicas = num_gpus,
                       .master = absl::StrCat(kPluginPrefix, plugin),
                       .description = absl::StrCat(Plural(num_gpus, "GPU"), how, ", ", plugin)};
  }

  // The devices before the first entry that CUDA does not accept, such as -1.
  static int64_t NumVisible(const std::string& list, int64_t num_gpus) {
    int64_t visible = 0;
    for (absl::string_view entry : absl::StrSplit(list, ',')) {
      entry = absl::StripAsciiWhitespace(entry);
      int64_t index = 0;
      const bool number = absl::SimpleAtoi(entry, &index);
      if (entry.empty() || (number && (index < 0 || index >= num_gpus))) break;
      ++visible;
    }
    return visible;
  }

  std::string GpuPlugin() const {
    if (!options_.gpu_plugin.empty()) return options_.gpu_plugin;
    const std::string list = machine_.variable(kNamesAndPaths).value_or("");
    for (const absl::string_view entry : absl::StrSplit(list, ',', absl::SkipEmpty())) {
      const std::vector<std::string> parts = absl::StrSplit(entry, absl::MaxSplits(':', 1));
      if (parts.size() == 2 && (parts[0] == "cuda" || parts[0] == "rocm" || parts[0] == "gpu"))
        return parts[1];
    }
    return "";
  }

  const DetectAcceleratorOptions& options_;
  const Machine& machine_;
  std::vector<std::string> notes_;
};

}  // namespace

void Accelerator::Configure(RunConfig& config) const {
  config.master = master;
  config.tpu_config.num_shards = num_replicas;
}

absl::StatusOr<Accelerator> DetectAccelerator(const DetectAcceleratorOptions& options) {
  EST_ASSIGN_OR_RETURN(const Accelerator accelerator, Detector(options).Run());
  for (const std::string& note : accelerator.notes) LOG(INFO) << "Accelerators: " << note;
  LOG(INFO) << "Running on " << accelerator.description
            << "; number of replicas: " << accelerator.num_replicas;
  return accelerator;
}

}  // namespace estimator::tpu
