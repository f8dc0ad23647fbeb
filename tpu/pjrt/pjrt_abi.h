// The part of the PJRT C API that this project calls: a device's runtime or compiler in a shared
// library (libtpu.so, the CUDA plugin) exports GetPjrtApi(), which returns a table of functions.
//
// The ABI: every function takes one pointer to an argument struct. Every struct begins with its own
// size and with a pointer for extensions, which is null here. A plugin refuses a struct that is
// smaller than its own one. A function returns an Error*, which is null on success and belongs to
// the caller. New functions are appended to the table, so Api::struct_size tells which ones a
// plugin has. A change of the major version breaks the ABI. Layout as of version 0.34, with the
// later functions that we call.
//
// Only layouts are declared here. client.h has the classes to use. A function that is not called
// has the type Unused. The order of all fields is the ABI: do not change it. Source: the public
// header pjrt_c_api.h of OpenXLA.
#ifndef TPU_PJRT_PJRT_ABI_H_
#define TPU_PJRT_PJRT_ABI_H_

#include <cstddef>

#include "tpu/pjrt/pjrt_structs.h"

namespace estimator::tpu::pjrt::c_api {

struct ApiVersion {
  size_t struct_size = sizeof(ApiVersion);
  void* extension = nullptr;
  int major_version = 0;
  int minor_version = 0;
};

using Unused = void (*)();
template <typename Args>
using Function = Error* (*)(Args*);

struct Api {
  size_t struct_size = sizeof(Api);
  void* extension = nullptr;
  ApiVersion version = {};

  void (*error_destroy)(ObjectArgs<Error>*) = nullptr;
  void (*error_message)(ErrorMessageArgs*) = nullptr;
  Function<ErrorGetCodeArgs> error_get_code = nullptr;

  Function<PluginInitializeArgs> plugin_initialize = nullptr;
  Unused plugin_attributes = nullptr;

  Function<ObjectArgs<Event>> event_destroy = nullptr;
  Unused event_is_ready = nullptr;
  Unused event_error = nullptr;
  Function<ObjectArgs<Event>> event_await = nullptr;
  Unused event_on_ready = nullptr;

  Function<ClientCreateArgs> client_create = nullptr;
  Function<ObjectArgs<Client>> client_destroy = nullptr;
  Function<TextArgs<Client>> client_platform_name = nullptr;
  Unused client_process_index = nullptr;
  Unused client_platform_version = nullptr;
  Unused client_devices = nullptr;
  Function<ClientDevicesArgs> client_addressable_devices = nullptr;
  // Not called: client_lookup_device, client_lookup_addressable_device,
  // client_addressable_memories.
  Unused client_lookups[3] = {};
  Function<ClientCompileArgs> client_compile = nullptr;
  Unused client_default_device_assignment = nullptr;
  Function<BufferFromHostArgs> client_buffer_from_host = nullptr;

  Function<DeviceDescriptionIdArgs> device_description_id = nullptr;
  Unused device_description_process_index = nullptr;
  Unused device_description_attributes = nullptr;
  Function<TextArgs<DeviceDescription>> device_description_kind = nullptr;
  Unused device_description_debug_string = nullptr;
  Unused device_description_to_string = nullptr;

  Function<DeviceGetDescriptionArgs> device_get_description = nullptr;
  // Not called: device_is_addressable, device_local_hardware_id, device_addressable_memories,
  // device_default_memory, device_memory_stats.
  Unused device_functions[5] = {};

  Unused memory_functions[5] = {};

  Function<ObjectArgs<Executable>> executable_destroy = nullptr;
  // Not called: executable_name, executable_num_replicas, executable_num_partitions.
  Unused executable_facts[3] = {};
  Function<ExecutableNumOutputsArgs> executable_num_outputs = nullptr;
  Unused executable_code_size = nullptr;
  Function<ExecutableCostArgs> executable_cost = nullptr;
  // Not called: executable_output_memory_kinds, executable_optimized_program, executable_serialize.
  Unused executable_results[3] = {};

  Function<ObjectArgs<LoadedExecutable>> loaded_executable_destroy = nullptr;
  Function<LoadedExecutableGetArgs> loaded_executable_get = nullptr;
  Unused loaded_executable_devices = nullptr;
  Unused loaded_executable_delete = nullptr;
  Unused loaded_executable_is_deleted = nullptr;
  Function<ExecuteArgs> loaded_executable_execute = nullptr;
  Unused executable_deserialize_and_load = nullptr;
  Unused loaded_executable_fingerprint = nullptr;

  Function<ObjectArgs<Buffer>> buffer_destroy = nullptr;
  Function<BufferTypeArgs> buffer_element_type = nullptr;
  Function<BufferDimensionsArgs> buffer_dimensions = nullptr;
  // Not called: buffer_unpadded_dimensions, buffer_dynamic_dimension_indices,
  // buffer_get_memory_layout, buffer_on_device_size, buffer_device, buffer_memory, buffer_delete,
  // buffer_is_deleted, buffer_copy_to_device.
  Unused buffer_functions[9] = {};
  Function<BufferToHostArgs> buffer_to_host = nullptr;
  // Not called: buffer_is_on_cpu, buffer_ready_event, buffer_unsafe_pointer,
  // buffer_external_references (2), buffer_opaque_device_pointer.
  Unused buffer_pointers[6] = {};

  Unused copy_to_device_stream_functions[5] = {};

  Function<TopologyCreateArgs> topology_create = nullptr;
  Function<ObjectArgs<Topology>> topology_destroy = nullptr;
  Unused topology_platform_name = nullptr;
  Unused topology_platform_version = nullptr;
  Function<TopologyDevicesArgs> topology_devices = nullptr;
  Unused topology_serialize = nullptr;
  Unused topology_attributes = nullptr;

  Function<CompileArgs> compile = nullptr;

  // Not called: executable_output_element_types, executable_output_dimensions,
  // buffer_copy_to_memory, client_create_view_of_device_buffer (the last one of version 0.34),
  // executable_fingerprint, client_topology_description.
  Unused later_functions[6] = {};
  Function<ExecutableMemoryArgs> executable_memory = nullptr;
};

// What a plugin exports under the name "GetPjrtApi".
using GetApi = const Api* (*)();

}  // namespace estimator::tpu::pjrt::c_api

#endif  // TPU_PJRT_PJRT_ABI_H_
