// Client: the devices of a PJRT plugin, and what lives on them. Every class here owns one object of
// the plugin, destroys it at its end, and keeps the client alive.
#ifndef TPU_PJRT_CLIENT_H_
#define TPU_PJRT_CLIENT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "estimator/array/array.h"
#include "estimator/array/tensor_spec.h"
#include "estimator/base/string_arg.h"
#include "tpu/pjrt/plugin.h"

namespace estimator::tpu::pjrt {

// The plugin's element type. Errors: UNIMPLEMENTED for strings, which no device has.
absl::StatusOr<c_api::BufferType> BufferTypeOf(DType dtype);

struct DeviceInfo {
  c_api::Device* device = nullptr;
  int64_t id = 0;
  std::string kind;  // "TPU v3", "NVIDIA H200"
};

class DeviceBuffer;
class LoadedProgram;

// Thread-safe.
class Client : public std::enable_shared_from_this<Client> {
 public:
  // Makes the client of the plugin at `path`. A device can usually be opened once, so all callers
  // in the process share one client while any of them holds it. Errors: those of Plugin::Load; the
  // plugin's, as when there is no device.
  static absl::StatusOr<std::shared_ptr<Client>> Shared(StringArg path);
  static absl::StatusOr<std::shared_ptr<Client>> Create(std::shared_ptr<const Plugin> plugin);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  const Plugin& plugin() const { return *plugin_; }
  const std::string& platform() const { return platform_; }  // "tpu", "cuda"
  // The devices that this process can use, in the plugin's order.
  const std::vector<DeviceInfo>& devices() const { return devices_; }

  // Compiles StableHLO text with one replica on each of the first `num_replicas` devices.
  // Errors: INVALID_ARGUMENT if there are fewer devices; the compiler's.
  absl::StatusOr<std::unique_ptr<LoadedProgram>> Compile(StringArg stablehlo, int num_replicas);
  // Copies an array to devices()[device]. The host's bytes may change after the call.
  absl::StatusOr<DeviceBuffer> Upload(const Array& array, size_t device);
  // The same for bytes of this type and shape, row-major and dense.
  absl::StatusOr<DeviceBuffer> Upload(const TensorSpec& spec, const void* bytes, size_t device);

 private:
  explicit Client(std::shared_ptr<const Plugin> plugin) : plugin_(std::move(plugin)) {}
  absl::Status FindDevices();

  const std::shared_ptr<const Plugin> plugin_;
  c_api::Client* client_ = nullptr;
  std::string platform_;
  std::vector<DeviceInfo> devices_;
};

// A value on a device. Movable. Thread-compatible.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  // Takes `buffer`.
  DeviceBuffer(std::shared_ptr<Client> client, c_api::Buffer* buffer)
      : client_(std::move(client)), buffer_(buffer) {}
  DeviceBuffer(DeviceBuffer&& other) noexcept { *this = std::move(other); }
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept;
  ~DeviceBuffer() { Reset(); }

  bool valid() const { return buffer_ != nullptr; }
  c_api::Buffer* get() const { return buffer_; }
  void Reset();
  // Waits until the value is computed and copies it, in row-major order.
  // Errors: INVALID_ARGUMENT if the buffer's type is not that of `array`; those of the computation.
  absl::Status Download(Array& array) const;

 private:
  std::shared_ptr<Client> client_;
  c_api::Buffer* buffer_ = nullptr;
};

// A program on its devices. Runs on one thread at a time.
class LoadedProgram {
 public:
  // Takes `executable`.
  LoadedProgram(std::shared_ptr<Client> client, c_api::LoadedExecutable* executable,
                int num_replicas)
      : client_(std::move(client)), executable_(executable), num_replicas_(num_replicas) {}
  ~LoadedProgram();
  LoadedProgram(const LoadedProgram&) = delete;
  LoadedProgram& operator=(const LoadedProgram&) = delete;

  size_t num_outputs() const { return num_outputs_; }
  // Runs the program and waits for all replicas. arguments: [replica][argument]; donated ones are
  // invalid after the call, whether or not it succeeds. Returns [replica][output].
  absl::StatusOr<std::vector<std::vector<DeviceBuffer>>> Run(
      const std::vector<std::vector<c_api::Buffer*>>& arguments);

 private:
  friend class Client;
  absl::Status FindOutputs();

  const std::shared_ptr<Client> client_;
  c_api::LoadedExecutable* const executable_;
  const int num_replicas_;
  size_t num_outputs_ = 0;
};

}  // namespace estimator::tpu::pjrt

#endif  // TPU_PJRT_CLIENT_H_
