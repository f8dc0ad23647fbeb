// Machine: the environment variables and the files in which detection looks. Tests replace both.
#ifndef TPU_CLUSTER_MACHINE_H_
#define TPU_CLUSTER_MACHINE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "absl/status/statusor.h"

namespace estimator::tpu {

// The value of an environment variable. nullopt: it is not set, or empty.
std::optional<std::string> EnvironmentVariable(const std::string& name);

// Whether an environment variable is set, to nothing.
bool IsEmptyVariable(const std::string& name);

struct Machine {
  std::function<std::optional<std::string>(const std::string& name)> variable = EnvironmentVariable;
  std::function<bool(const std::string& name)> is_empty = IsEmptyVariable;
  // The folder that contains dev, sys and usr.
  std::string root = "/";

  // The path of a file of the machine: Path("dev/accel0") is "/dev/accel0".
  std::string Path(const std::string& relative) const;
  // The first line of a small file without its newline; "" if the file cannot be read.
  std::string FirstLine(const std::string& relative) const;
};

// The TPU chips on the PCI bus of the machine.
struct TPUChips {
  int64_t num_chips = 0;
  // Devices of PJRT on each chip: 2 for TPU v2 and v3, whose cores are separate; 1 for later ones.
  int64_t devices_per_chip = 1;
  std::string version = "";      // "v5e"; "v2 or v3"; "" if there is no chip
  std::string device_node = "";  // "/dev/accel0"; "" if this process sees no device node
};
// Source: PCI numbers as in jax/_src/hardware_utils.py.
TPUChips FindTPUChips(const Machine& machine);

// The path of libtpu.so: `given` if it is not empty, else TPU_LIBRARY_PATH, else the first
// of: the Python package, the places of Cloud TPU VMs, and what tools/get_libtpu.sh installs in the
// user's cache. Errors: NOT_FOUND with the file, or with what to do.
absl::StatusOr<std::string> FindLibtpu(const Machine& machine, const std::string& given);

// Whether this is a virtual machine of Google Compute Engine, which has a metadata server. True
// also if GCE_METADATA_IP or GCE_METADATA_HOST is set.
bool HasMetadataServer(const Machine& machine);

}  // namespace estimator::tpu

#endif  // TPU_CLUSTER_MACHINE_H_
