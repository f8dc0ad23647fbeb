// Topology: compiles programs for devices that this machine does not have, as libtpu does for the
// slices of a TPU.
#ifndef TPU_PJRT_TOPOLOGY_H_
#define TPU_PJRT_TOPOLOGY_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "estimator/base/string_arg.h"
#include "tpu/pjrt/plugin.h"

namespace estimator::tpu::pjrt {

// What the compiler tells about a program, for one device. Fields that a plugin does not fill in
// are empty.
struct CompiledProgram {
  struct Memory {  // bytes in the device's memory
    int64_t arguments = 0;
    int64_t outputs = 0;  // without those that take the place of arguments
    int64_t temporaries = 0;
    int64_t code = 0;
    int64_t total() const { return arguments + outputs + temporaries + code; }
  };
  std::optional<Memory> memory;
  // The compiler's cost analysis by its names: "flops", "bytes accessed", ...
  std::map<std::string, double> costs;
};

// Thread-compatible.
class Topology {
 public:
  // `name` is the plugin's: "v3:2x2x1" for libtpu.
  // Errors: the plugin's, as for a name that it does not know.
  static absl::StatusOr<std::unique_ptr<Topology>> Create(std::shared_ptr<const Plugin> plugin,
                                                          StringArg name);
  ~Topology();
  Topology(const Topology&) = delete;
  Topology& operator=(const Topology&) = delete;

  int64_t num_devices() const { return num_devices_; }
  // Compiles StableHLO text with one replica on each of the first `num_replicas` devices.
  // Errors: INVALID_ARGUMENT if there are fewer devices; the compiler's: RESOURCE_EXHAUSTED if the
  // program does not fit into a device's memory. libtpu aborts the process for some programs (one
  // with a dynamic shape): compile in a child process (compile_child.h).
  absl::StatusOr<CompiledProgram> Compile(StringArg stablehlo, int64_t num_replicas) const;

 private:
  Topology(std::shared_ptr<const Plugin> plugin, c_api::Topology* topology)
      : plugin_(std::move(plugin)), topology_(topology) {}

  const std::shared_ptr<const Plugin> plugin_;
  c_api::Topology* const topology_;
  int64_t num_devices_ = 0;
};

}  // namespace estimator::tpu::pjrt

#endif  // TPU_PJRT_TOPOLOGY_H_
