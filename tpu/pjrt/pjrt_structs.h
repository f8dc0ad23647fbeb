// The argument structs of the PJRT C API, as far as this project uses them. pjrt_abi.h has the
// rules of the ABI and the table of functions. The order of all fields is the ABI: do not change
// it. Source: the public header pjrt_c_api.h of OpenXLA.
#ifndef TPU_PJRT_PJRT_STRUCTS_H_
#define TPU_PJRT_PJRT_STRUCTS_H_

#include <cstddef>
#include <cstdint>

namespace estimator::tpu::pjrt::c_api {

// Owned by the plugin.
struct Error;
struct Event;
struct Client;
struct Device;
struct DeviceDescription;
struct Memory;
struct Topology;
struct Executable;
struct LoadedExecutable;
struct Buffer;

// The numbers of absl::StatusCode.
using ErrorCode = int;

// Element types. Their numbers are the ABI.
enum class BufferType : int {
  kInvalid = 0,
  kPred = 1,
  kS8 = 2,
  kS16 = 3,
  kS32 = 4,
  kS64 = 5,
  kU8 = 6,
  kU16 = 7,
  kU32 = 8,
  kU64 = 9,
  kF16 = 10,
  kF32 = 11,
  kF64 = 12,
  kBF16 = 13,
};

// Until when the host's bytes must not change.
enum class HostBufferSemantics : int { kOnlyDuringCall = 0, kUntilTransferCompletes = 1 };

// The end of the structs that tell a plugin what to do. Plugins refuse a struct that is smaller
// than their own one, and accept a larger one. So these zeros stand for the fields that versions
// after 0.34 have appended. For example, libtpu 0.0.51 (version 0.116) expects 88 bytes of
// ClientCreateArgs instead of 72, and 112 of ExecuteOptions instead of 52. A zero means that a
// field is not used.
struct LaterFields {
  void* zeros[16] = {};
};

// Begins every argument struct. Its size ends with the field `last`: padding does not count.
#define TPU_PJRT_HEADER(Self, last)                               \
  size_t struct_size = offsetof(Self, last) + sizeof(Self::last); \
  void* extension = nullptr

// The argument of the functions that destroy an object of the plugin, and of Event_Await.
template <typename Object>
struct ObjectArgs {
  TPU_PJRT_HEADER(ObjectArgs, object);
  Object* object = nullptr;
};

// The argument of Client_PlatformName and DeviceDescription_Kind.
template <typename Object>
struct TextArgs {
  TPU_PJRT_HEADER(TextArgs, text_size);
  Object* object = nullptr;
  const char* text = nullptr;  // out: lives as long as the object
  size_t text_size = 0;        // out
};

struct ErrorMessageArgs {
  TPU_PJRT_HEADER(ErrorMessageArgs, message_size);
  const Error* error = nullptr;
  const char* message = nullptr;  // out: lives as long as the error
  size_t message_size = 0;        // out
};
struct ErrorGetCodeArgs {
  TPU_PJRT_HEADER(ErrorGetCodeArgs, code);
  const Error* error = nullptr;
  ErrorCode code = 0;  // out
};

// A value with a name: an option, or a result of an analysis.
struct NamedValue {
  enum class Type : int { kString = 0, kInt64 = 1, kInt64List = 2, kFloat = 3, kBool = 4 };
  TPU_PJRT_HEADER(NamedValue, value_size);
  const char* name = nullptr;
  size_t name_size = 0;
  Type type = Type::kString;
  union {
    const char* string_value = nullptr;
    int64_t int64_value;
    const int64_t* int64_array_value;
    float float_value;
    bool bool_value;
  };
  size_t value_size = 0;  // elements of a list, bytes of a string, else 1
};

struct PluginInitializeArgs {
  TPU_PJRT_HEADER(PluginInitializeArgs, extension);
};

struct ClientCreateArgs {
  TPU_PJRT_HEADER(ClientCreateArgs, later);
  const NamedValue* create_options = nullptr;
  size_t num_options = 0;
  void* kv_get_callback = nullptr;  // the key-value store of several processes: not used
  void* kv_get_user_arg = nullptr;
  void* kv_put_callback = nullptr;
  void* kv_put_user_arg = nullptr;
  Client* client = nullptr;  // out
  LaterFields later = {};
};
struct ClientDevicesArgs {  // of Client_AddressableDevices
  TPU_PJRT_HEADER(ClientDevicesArgs, num_devices);
  Client* client = nullptr;
  Device** devices = nullptr;  // out
  size_t num_devices = 0;      // out
};

struct Program {
  TPU_PJRT_HEADER(Program, later);
  const char* code = nullptr;
  size_t code_size = 0;
  const char* format = nullptr;  // "mlir": StableHLO, as text or bytecode
  size_t format_size = 0;
  LaterFields later = {};
};
struct ClientCompileArgs {
  TPU_PJRT_HEADER(ClientCompileArgs, later);
  Client* client = nullptr;
  const Program* program = nullptr;
  const char* compile_options = nullptr;  // a serialized CompileOptionsProto
  size_t compile_options_size = 0;
  LoadedExecutable* executable = nullptr;  // out
  LaterFields later = {};
};
struct CompileArgs {
  TPU_PJRT_HEADER(CompileArgs, later);
  const Topology* topology = nullptr;
  const Program* program = nullptr;
  const char* compile_options = nullptr;
  size_t compile_options_size = 0;
  Client* client = nullptr;          // null: compile for the topology, with no device
  Executable* executable = nullptr;  // out
  LaterFields later = {};
};
struct BufferFromHostArgs {
  TPU_PJRT_HEADER(BufferFromHostArgs, later);
  Client* client = nullptr;
  const void* data = nullptr;
  BufferType type = BufferType::kInvalid;
  const int64_t* dims = nullptr;
  size_t num_dims = 0;
  const int64_t* byte_strides = nullptr;  // null: dense, the last axis is the fastest
  size_t num_byte_strides = 0;
  HostBufferSemantics semantics = HostBufferSemantics::kOnlyDuringCall;
  Device* device = nullptr;
  Memory* memory = nullptr;
  void* device_layout = nullptr;           // null: the compiler's choice
  Event* done_with_host_buffer = nullptr;  // out
  Buffer* buffer = nullptr;                // out
  LaterFields later = {};
};

struct DeviceGetDescriptionArgs {
  TPU_PJRT_HEADER(DeviceGetDescriptionArgs, description);
  Device* device = nullptr;
  DeviceDescription* description = nullptr;  // out
};
struct DeviceDescriptionIdArgs {
  TPU_PJRT_HEADER(DeviceDescriptionIdArgs, id);
  DeviceDescription* description = nullptr;
  int id = 0;  // out
};
struct ExecutableNumOutputsArgs {
  TPU_PJRT_HEADER(ExecutableNumOutputsArgs, num_outputs);
  Executable* executable = nullptr;
  size_t num_outputs = 0;  // out
};
struct ExecutableCostArgs {
  TPU_PJRT_HEADER(ExecutableCostArgs, properties);
  Executable* executable = nullptr;
  size_t num_properties = 0;               // out
  const NamedValue* properties = nullptr;  // out: live as long as the executable
};
struct ExecutableMemoryArgs {
  TPU_PJRT_HEADER(ExecutableMemoryArgs, host_temp_bytes);
  Executable* executable = nullptr;
  int64_t code_bytes = 0;  // out, as all that follow: in the device's memory
  int64_t argument_bytes = 0;
  int64_t output_bytes = 0;
  int64_t alias_bytes = 0;  // outputs that take the place of arguments
  int64_t temp_bytes = 0;
  int64_t host_code_bytes = 0;  // the same in the host's memory
  int64_t host_argument_bytes = 0;
  int64_t host_output_bytes = 0;
  int64_t host_alias_bytes = 0;
  int64_t host_temp_bytes = 0;
};

struct LoadedExecutableGetArgs {
  TPU_PJRT_HEADER(LoadedExecutableGetArgs, executable);
  LoadedExecutable* loaded = nullptr;
  Executable* executable = nullptr;  // out: the caller's
};
struct ExecuteOptions {
  TPU_PJRT_HEADER(ExecuteOptions, later);
  void** send_callbacks = nullptr;
  void** recv_callbacks = nullptr;
  size_t num_send_ops = 0;
  size_t num_recv_ops = 0;
  int launch_id = 0;
  LaterFields later = {};
};
struct ExecuteArgs {
  TPU_PJRT_HEADER(ExecuteArgs, later);
  LoadedExecutable* executable = nullptr;
  ExecuteOptions* options = nullptr;
  Buffer* const* const* argument_lists = nullptr;  // [num_devices][num_args]
  size_t num_devices = 0;
  size_t num_args = 0;
  Buffer** const* output_lists = nullptr;    // [num_devices][num outputs], filled in
  Event** device_complete_events = nullptr;  // [num_devices], filled in; null: not wanted
  Device* execute_device = nullptr;
  LaterFields later = {};
};

struct BufferTypeArgs {
  TPU_PJRT_HEADER(BufferTypeArgs, type);
  Buffer* buffer = nullptr;
  BufferType type = BufferType::kInvalid;  // out
};
struct BufferDimensionsArgs {
  TPU_PJRT_HEADER(BufferDimensionsArgs, num_dims);
  Buffer* buffer = nullptr;
  const int64_t* dims = nullptr;  // out
  size_t num_dims = 0;            // out
};
struct BufferToHostArgs {
  TPU_PJRT_HEADER(BufferToHostArgs, later);
  Buffer* source = nullptr;
  const struct MemoryLayout* host_layout = nullptr;  // null: the device's order of axes
  void* destination = nullptr;                       // null: only dst_size is filled in
  size_t destination_size = 0;
  Event* event = nullptr;  // out
  LaterFields later = {};
};
// The order of axes in memory. Without tiles, the values are dense.
struct MemoryLayoutTiled {
  TPU_PJRT_HEADER(MemoryLayoutTiled, num_tiles);
  const int64_t* minor_to_major = nullptr;
  size_t minor_to_major_size = 0;
  const int64_t* tile_dims = nullptr;
  const size_t* tile_dim_sizes = nullptr;
  size_t num_tiles = 0;
};
struct MemoryLayout {
  enum class Type : int { kTiled = 0, kStrides = 1 };
  TPU_PJRT_HEADER(MemoryLayout, type);
  MemoryLayoutTiled tiled = {};  // a union in the ABI, whose other member is smaller
  Type type = Type::kTiled;
};

struct TopologyCreateArgs {
  TPU_PJRT_HEADER(TopologyCreateArgs, later);
  const char* name = nullptr;  // "v3:2x2x1"
  size_t name_size = 0;
  const NamedValue* create_options = nullptr;
  size_t num_options = 0;
  Topology* topology = nullptr;  // out
  LaterFields later = {};
};
struct TopologyDevicesArgs {
  TPU_PJRT_HEADER(TopologyDevicesArgs, num_descriptions);
  Topology* topology = nullptr;
  DeviceDescription* const* descriptions = nullptr;  // out
  size_t num_descriptions = 0;                       // out
};

#undef TPU_PJRT_HEADER

}  // namespace estimator::tpu::pjrt::c_api

#endif  // TPU_PJRT_PJRT_STRUCTS_H_
