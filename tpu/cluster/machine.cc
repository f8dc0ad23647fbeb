#include "tpu/cluster/machine.h"

#include <cstdlib>
#include <fstream>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "estimator/base/file_system.h"
#include "estimator/base/path.h"
#include "estimator/base/status.h"

namespace estimator::tpu {
namespace {

constexpr char kGoogle[] = "0x1ae0";  // the PCI vendor

// Where tools/get_libtpu.sh installs it, below the user's cache.
constexpr char kInstalledLibtpu[] = "estimator-libtpu/0.0.51/libtpu/libtpu.so";

struct ChipModel {
  const char* device;  // the PCI device
  const char* version;
  int64_t devices_per_chip;
};
// v2 and v3 have one number.
constexpr ChipModel kModels[] = {{"0x0027", "v2 or v3", 2}, {"0x005e", "v4", 1},
                                 {"0x0062", "v5p", 1},      {"0x0063", "v5e", 1},
                                 {"0x006f", "v6e", 1},      {"0x0056", "unknown", 1}};

// The paths that match a pattern; none if the folder cannot be read.
std::vector<std::string> Matches(const std::string& pattern) {
  absl::StatusOr<std::vector<std::string>> paths = Glob(pattern);
  return paths.ok() ? *std::move(paths) : std::vector<std::string>();
}

}  // namespace

std::optional<std::string> EnvironmentVariable(const std::string& name) {
  const char* value = getenv(name.c_str());
  // An empty variable counts as not set. CUDA_VISIBLE_DEVICES is different, so its reader also asks
  // IsEmptyVariable.
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

bool IsEmptyVariable(const std::string& name) {
  const char* value = getenv(name.c_str());
  return value != nullptr && *value == '\0';
}

std::string Machine::Path(const std::string& relative) const { return JoinPath(root, relative); }

std::string Machine::FirstLine(const std::string& relative) const {
  std::ifstream file(Path(relative));
  std::string line;
  std::getline(file, line);
  return line;
}

TPUChips FindTPUChips(const Machine& machine) {
  TPUChips chips;
  const std::string bus = "sys/bus/pci/devices";
  for (const std::string& path : Matches(machine.Path(absl::StrCat(bus, "/*")))) {
    const std::string folder = absl::StrCat(bus, "/", Basename(path));
    if (machine.FirstLine(folder + "/vendor") != kGoogle) continue;
    const std::string number = machine.FirstLine(folder + "/device");
    for (const ChipModel& model : kModels) {
      if (number != model.device) continue;
      ++chips.num_chips;
      chips.version = model.version;
      chips.devices_per_chip = model.devices_per_chip;
    }
  }
  // The accel driver has one node a chip; with VFIO each chip is a group with a number.
  for (const char* pattern : {"dev/accel[0-9]*", "dev/vfio/[0-9]*"}) {
    const std::vector<std::string> nodes = Matches(machine.Path(pattern));
    if (nodes.empty()) continue;
    chips.device_node = nodes[0];
    break;
  }
  return chips;
}

absl::StatusOr<std::string> FindLibtpu(const Machine& machine, const std::string& given) {
  std::vector<std::string> paths;
  std::string installed;
  if (!given.empty()) {
    paths = {given};
  } else if (const auto variable = machine.variable("TPU_LIBRARY_PATH"); variable.has_value()) {
    paths = {*variable};
  } else {
    const std::string package = "lib/python3*/site-packages/libtpu/libtpu.so";
    // The package of an active environment comes before all others, as it does in Python.
    if (const auto environment = machine.variable("VIRTUAL_ENV"); environment.has_value()) {
      paths = Matches(JoinPath(*environment, package));
    }
    const auto add = [&paths](const std::string& pattern) {
      const std::vector<std::string> more = Matches(pattern);
      paths.insert(paths.end(), more.begin(), more.end());
    };
    if (const auto home = machine.variable("HOME"); home.has_value())
      add(JoinPath(*home, ".local/" + package));
    for (const char* pattern : {"usr/lib/libtpu.so", "lib/libtpu.so", "usr/local/lib/libtpu.so",
                                "usr/local/lib/python3*/dist-packages/libtpu/libtpu.so",
                                "usr/local/lib/python3*/site-packages/libtpu/libtpu.so",
                                "usr/lib/python3/dist-packages/libtpu/libtpu.so"}) {
      add(machine.Path(pattern));
    }
    const auto home = machine.variable("HOME");
    const std::string cache =
        machine.variable("XDG_CACHE_HOME").value_or(JoinPath(home.value_or(""), ".cache"));
    installed = JoinPath(cache, kInstalledLibtpu);
    paths.push_back(installed);
  }
  for (const std::string& path : paths) {
    if (Exists(path).value_or(false)) return path;
  }
  if (!installed.empty()) {
    return NotFound(
        "libtpu.so, the TPU's library, is not installed: run tools/get_libtpu.sh, "
        "which puts it at ",
        installed, ", or pip install libtpu, or name the file in TPU_LIBRARY_PATH");
  }
  return NotFound(
      "there is no file ", paths[0],
      given.empty() ? " (TPU_LIBRARY_PATH); correct the variable, or unset it to use the installed "
                      "libtpu.so"
                    : "; correct the path, or leave it out to use the installed libtpu.so");
}

bool HasMetadataServer(const Machine& machine) {
  // Without these variables, the server only exists on machines of Google's cloud.
  return machine.variable("GCE_METADATA_IP").has_value() ||
         machine.variable("GCE_METADATA_HOST").has_value() ||
         absl::StrContains(machine.FirstLine("sys/class/dmi/id/product_name"), "Google");
}

}  // namespace estimator::tpu
