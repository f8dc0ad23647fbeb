#include "tpu/pjrt/client.h"

#include <map>
#include <mutex>
#include <numeric>

#include "absl/strings/str_join.h"
#include "estimator/base/status.h"
#include "glog/logging.h"
#include "tpu/pjrt/compile_options.h"

namespace estimator::tpu::pjrt {
namespace {

absl::StatusOr<DeviceInfo> Describe(const Plugin& plugin, c_api::Device* device) {
  c_api::DeviceGetDescriptionArgs description{.device = device};
  EST_RETURN_IF_ERROR(
      plugin.Call("PJRT_Device_GetDescription", &c_api::Api::device_get_description, description));
  c_api::DeviceDescriptionIdArgs id{.description = description.description};
  EST_RETURN_IF_ERROR(
      plugin.Call("PJRT_DeviceDescription_Id", &c_api::Api::device_description_id, id));
  c_api::TextArgs<c_api::DeviceDescription> kind{.object = description.description};
  EST_RETURN_IF_ERROR(
      plugin.Call("PJRT_DeviceDescription_Kind", &c_api::Api::device_description_kind, kind));
  return DeviceInfo{.device = device, .id = id.id, .kind = std::string(kind.text, kind.text_size)};
}

}  // namespace

absl::StatusOr<c_api::BufferType> BufferTypeOf(DType dtype) {
  using Type = c_api::BufferType;
  static constexpr std::pair<DType, Type> kTypes[] = {
      {DType::kFloat32, Type::kF32}, {DType::kFloat64, Type::kF64}, {DType::kInt32, Type::kS32},
      {DType::kUint8, Type::kU8},    {DType::kInt16, Type::kS16},   {DType::kInt8, Type::kS8},
      {DType::kInt64, Type::kS64},   {DType::kBool, Type::kPred},   {DType::kBfloat16, Type::kBF16},
      {DType::kFloat16, Type::kF16}};
  for (const auto& [known, type] : kTypes) {
    if (known == dtype) return type;
  }
  return Unimplemented("a device has no values of dtype ", DTypeName(dtype),
                       ": convert them to numbers in input_fn");
}

absl::StatusOr<std::shared_ptr<Client>> Client::Shared(StringArg path) {
  static std::mutex mutex;
  static auto* const clients = new std::map<std::string, std::weak_ptr<Client>, std::less<>>;
  const std::lock_guard<std::mutex> lock(mutex);
  // Weak, so that the devices are free for other processes after the last estimator is gone.
  std::weak_ptr<Client>& known = (*clients)[std::string(path)];
  if (std::shared_ptr<Client> client = known.lock()) return client;
  EST_ASSIGN_OR_RETURN(std::shared_ptr<const Plugin> plugin, Plugin::Load(path));
  EST_ASSIGN_OR_RETURN(std::shared_ptr<Client> client, Create(std::move(plugin)));
  known = client;
  return client;
}

absl::StatusOr<std::shared_ptr<Client>> Client::Create(std::shared_ptr<const Plugin> plugin) {
  std::shared_ptr<Client> client(new Client(std::move(plugin)));
  c_api::ClientCreateArgs args;
  EST_RETURN_IF_ERROR(
      client->plugin_->Call("PJRT_Client_Create", &c_api::Api::client_create, args));
  client->client_ = args.client;
  EST_RETURN_IF_ERROR(client->FindDevices());
  return client;
}

Client::~Client() {
  if (client_ == nullptr) return;
  plugin_->Destroy("PJRT_Client_Destroy", &c_api::Api::client_destroy, {.object = client_});
}

absl::Status Client::FindDevices() {
  c_api::TextArgs<c_api::Client> platform{.object = client_};
  EST_RETURN_IF_ERROR(
      plugin_->Call("PJRT_Client_PlatformName", &c_api::Api::client_platform_name, platform));
  platform_ = std::string(platform.text, platform.text_size);
  c_api::ClientDevicesArgs args{.client = client_};
  EST_RETURN_IF_ERROR(plugin_->Call("PJRT_Client_AddressableDevices",
                                    &c_api::Api::client_addressable_devices, args));
  for (size_t i = 0; i < args.num_devices; ++i) {
    EST_ASSIGN_OR_RETURN(DeviceInfo device, Describe(*plugin_, args.devices[i]));
    devices_.push_back(std::move(device));
  }
  if (!devices_.empty()) return absl::OkStatus();
  return FailedPrecondition("the plugin ", plugin_->path(), " found no device on this machine");
}

absl::StatusOr<std::unique_ptr<LoadedProgram>> Client::Compile(StringArg stablehlo,
                                                               int num_replicas) {
  CHECK_GE(num_replicas, 1);
  if (static_cast<size_t>(num_replicas) > devices_.size()) {
    return InvalidArgument(num_replicas, " replicas need as many devices, but the plugin ",
                           plugin_->path(), " has ", devices_.size(), " (", devices_[0].kind,
                           "): set TPUConfig::num_shards to ", devices_.size(), " or less");
  }
  std::vector<int64_t> ids;
  for (int i = 0; i < num_replicas; ++i) ids.push_back(devices_[static_cast<size_t>(i)].id);
  const std::string options = CompileOptionsFor(ids);
  const c_api::Program program = ProgramOf(stablehlo);
  c_api::ClientCompileArgs args{.client = client_,
                                .program = &program,
                                .compile_options = options.data(),
                                .compile_options_size = options.size()};
  EST_RETURN_IF_ERROR(plugin_->Call("PJRT_Client_Compile", &c_api::Api::client_compile, args));
  auto loaded = std::make_unique<LoadedProgram>(shared_from_this(), args.executable, num_replicas);
  EST_RETURN_IF_ERROR(loaded->FindOutputs());
  return loaded;
}

absl::StatusOr<DeviceBuffer> Client::Upload(const Array& array, size_t device) {
  return Upload({.dtype = array.dtype(), .shape = array.shape()}, array.raw(), device);
}

absl::StatusOr<DeviceBuffer> Client::Upload(const TensorSpec& spec, const void* bytes,
                                            size_t device) {
  CHECK_LT(device, devices_.size());
  EST_ASSIGN_OR_RETURN(const c_api::BufferType type, BufferTypeOf(spec.dtype));
  const std::vector<int64_t> dims(spec.shape.dims().begin(), spec.shape.dims().end());
  // The plugin copies the bytes during the call, because the caller reuses their memory for the
  // next batches.
  c_api::BufferFromHostArgs args{.client = client_,
                                 .data = bytes,
                                 .type = type,
                                 .dims = dims.data(),
                                 .num_dims = dims.size(),
                                 .semantics = c_api::HostBufferSemantics::kOnlyDuringCall,
                                 .device = devices_[device].device};
  EST_RETURN_IF_ERROR(plugin_->Call("PJRT_Client_BufferFromHostBuffer",
                                    &c_api::Api::client_buffer_from_host, args));
  DeviceBuffer buffer(shared_from_this(), args.buffer);
  // The event is the caller's, and Await destroys it.
  EST_RETURN_IF_ERROR(plugin_->Await(args.done_with_host_buffer));
  return buffer;
}

DeviceBuffer& DeviceBuffer::operator=(DeviceBuffer&& other) noexcept {
  if (this == &other) return *this;
  Reset();
  client_ = std::move(other.client_);
  buffer_ = std::exchange(other.buffer_, nullptr);
  return *this;
}

void DeviceBuffer::Reset() {
  if (buffer_ == nullptr) return;
  client_->plugin().Destroy("PJRT_Buffer_Destroy", &c_api::Api::buffer_destroy,
                            {.object = std::exchange(buffer_, nullptr)});
}

absl::Status DeviceBuffer::Download(Array& array) const {
  CHECK(valid());
  const Plugin& plugin = client_->plugin();
  EST_ASSIGN_OR_RETURN(const c_api::BufferType wanted, BufferTypeOf(array.dtype()));
  c_api::BufferTypeArgs type{.buffer = buffer_};
  EST_RETURN_IF_ERROR(
      plugin.Call("PJRT_Buffer_ElementType", &c_api::Api::buffer_element_type, type));
  c_api::BufferDimensionsArgs dims{.buffer = buffer_};
  EST_RETURN_IF_ERROR(plugin.Call("PJRT_Buffer_Dimensions", &c_api::Api::buffer_dimensions, dims));
  const absl::Span<const int64_t> shape(dims.dims, dims.num_dims);
  if (type.type != wanted || shape != absl::MakeConstSpan(array.shape().dims())) {
    return InvalidArgument("a device buffer of type ", static_cast<int>(type.type), " and shape [",
                           absl::StrJoin(shape, ","), "] is not ", array.TypeString());
  }
  // An empty array has no bytes to copy to.
  if (array.num_bytes() == 0) return absl::OkStatus();
  // Without a layout, the plugin copies the array in the layout that it has on the device.
  std::vector<int64_t> minor_to_major(dims.num_dims);
  std::iota(minor_to_major.rbegin(), minor_to_major.rend(), 0);
  c_api::MemoryLayout layout;
  layout.tiled.minor_to_major = minor_to_major.data();
  layout.tiled.minor_to_major_size = minor_to_major.size();
  c_api::BufferToHostArgs args{.source = buffer_,
                               .host_layout = &layout,
                               .destination = array.raw(),
                               .destination_size = array.num_bytes()};
  EST_RETURN_IF_ERROR(plugin.Call("PJRT_Buffer_ToHostBuffer", &c_api::Api::buffer_to_host, args));
  return plugin.Await(args.event);
}

LoadedProgram::~LoadedProgram() {
  client_->plugin().Destroy("PJRT_LoadedExecutable_Destroy", &c_api::Api::loaded_executable_destroy,
                            {.object = executable_});
}

absl::Status LoadedProgram::FindOutputs() {
  const Plugin& plugin = client_->plugin();
  c_api::LoadedExecutableGetArgs get{.loaded = executable_};
  EST_RETURN_IF_ERROR(
      plugin.Call("PJRT_LoadedExecutable_GetExecutable", &c_api::Api::loaded_executable_get, get));
  c_api::ExecutableNumOutputsArgs outputs{.executable = get.executable};
  absl::Status status =
      plugin.Call("PJRT_Executable_NumOutputs", &c_api::Api::executable_num_outputs, outputs);
  // The executable is destroyed also after an error.
  num_outputs_ = outputs.num_outputs;
  c_api::ObjectArgs<c_api::Executable> destroy{.object = get.executable};
  status.Update(plugin.Call("PJRT_Executable_Destroy", &c_api::Api::executable_destroy, destroy));
  return status;
}

absl::StatusOr<std::vector<std::vector<DeviceBuffer>>> LoadedProgram::Run(
    const std::vector<std::vector<c_api::Buffer*>>& arguments) {
  const auto replicas = static_cast<size_t>(num_replicas_);
  CHECK_EQ(arguments.size(), replicas);
  std::vector<c_api::Buffer* const*> argument_lists;
  std::vector<std::vector<c_api::Buffer*>> outputs(replicas,
                                                   std::vector<c_api::Buffer*>(num_outputs_));
  std::vector<c_api::Buffer**> output_lists;
  for (size_t i = 0; i < replicas; ++i) {
    CHECK_EQ(arguments[i].size(), arguments[0].size());
    argument_lists.push_back(arguments[i].data());
    output_lists.push_back(outputs[i].data());
  }
  std::vector<c_api::Event*> events(replicas);
  c_api::ExecuteOptions options;
  c_api::ExecuteArgs args{.executable = executable_,
                          .options = &options,
                          .argument_lists = argument_lists.data(),
                          .num_devices = replicas,
                          .num_args = arguments[0].size(),
                          .output_lists = output_lists.data(),
                          .device_complete_events = events.data()};
  const Plugin& plugin = client_->plugin();
  EST_RETURN_IF_ERROR(
      plugin.Call("PJRT_LoadedExecutable_Execute", &c_api::Api::loaded_executable_execute, args));
  // The buffers have owners before the events are awaited, so that they are freed after an error.
  std::vector<std::vector<DeviceBuffer>> results(replicas);
  for (size_t i = 0; i < replicas; ++i) {
    for (c_api::Buffer* const output : outputs[i]) results[i].emplace_back(client_, output);
  }
  // All events are awaited: each must be destroyed, and no replica may run on after an error.
  absl::Status status;
  for (c_api::Event* const event : events) status.Update(plugin.Await(event));
  if (!status.ok()) return status;
  return results;
}

}  // namespace estimator::tpu::pjrt
