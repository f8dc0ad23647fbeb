#include "tpu/pjrt/testing/fake_plugin.h"

#include <cstring>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "glog/logging.h"
#include "gtest/gtest.h"
#include "tpu/pjrt/plugin.h"

namespace estimator::tpu::pjrt {
namespace c_api {

struct Error {
  absl::Status status;
  std::string message;
};
struct Event {
  absl::Status status;
  std::function<void()> work;  // done when the event is awaited
};
struct Client {};
struct DeviceDescription {
  int id = 0;
};
struct Device {
  DeviceDescription description;
};
struct Executable {
  size_t num_outputs = 0;
};
struct LoadedExecutable {
  FakePlugin::Program program;
  std::vector<bool> donates;  // for each argument
};
struct Buffer {
  Array value;
  std::vector<int64_t> dims;
  const Device* device = nullptr;
  bool deleted = false;
};

}  // namespace c_api

namespace {

// The sizes of structs in libtpu 0.0.51, whose PJRT C API is of version 0.116.
constexpr size_t kClientCreateArgsSize = 88;
constexpr size_t kExecuteOptionsSize = 112;

constexpr DType kDTypes[] = {DType::kFloat32, DType::kFloat64, DType::kInt32, DType::kUint8,
                             DType::kInt16,   DType::kInt8,    DType::kInt64, DType::kBool,
                             DType::kFloat16, DType::kBfloat16};

// Which arguments of @main the text donates.
absl::StatusOr<std::vector<bool>> DonatedArguments(absl::string_view stablehlo) {
  const size_t begin = stablehlo.find("@main(");
  const size_t end = stablehlo.find(" -> ", begin);
  if (begin == absl::string_view::npos || end == absl::string_view::npos)
    return absl::InvalidArgumentError("the fake plugin finds no function @main");
  const absl::string_view signature = stablehlo.substr(begin, end - begin);
  std::vector<bool> donates;
  size_t at = signature.find("%arg");
  while (at != absl::string_view::npos) {
    const size_t next = signature.find("%arg", at + 1);
    const absl::string_view argument = signature.substr(at, next - at);
    donates.push_back(argument.find("tf.aliasing_output") != absl::string_view::npos);
    at = next;
  }
  return donates;
}

}  // namespace

FakePlugin* FakePlugin::current_ = nullptr;

FakePlugin::FakePlugin(int num_devices) {
  CHECK(current_ == nullptr) << "there is another FakePlugin";
  current_ = this;
  for (int i = 0; i < num_devices; ++i) {
    devices_.push_back(std::make_unique<c_api::Device>());
    devices_.back()->description.id = i;
    device_list_.push_back(devices_.back().get());
  }
  api_.version.major_version = 0;
  api_.version.minor_version = 116;
  SetObjectFunctions();
  SetClientFunctions();
  SetProgramFunctions();
  SetBufferFunctions();
}

FakePlugin::~FakePlugin() {
  EXPECT_EQ(live_buffers, 0) << "buffers were not destroyed";
  EXPECT_EQ(live_others_, 0) << "errors, events, executables or clients were not destroyed";
  current_ = nullptr;
}

std::shared_ptr<Client> FakePlugin::NewClient() const {
  const auto plugin = Plugin::FromApi(&api_, "fake.so");
  CHECK(plugin.ok()) << plugin.status();
  const auto client = Client::Create(*plugin);
  CHECK(client.ok()) << client.status();
  return *client;
}

c_api::Error* FakePlugin::NewError(const absl::Status& status) {
  if (status.ok()) return nullptr;
  ++live_others_;
  return new c_api::Error{status, std::string(status.message())};
}

c_api::Error* FakePlugin::CheckSize(const char* name, size_t expected, size_t actual) {
  if (actual >= expected) return nullptr;
  return NewError(absl::InvalidArgumentError(
      absl::StrCat("Unexpected ", name, " size: expected ", expected, ", got ", actual)));
}

c_api::Event* FakePlugin::NewEvent(absl::Status status, std::function<void()> work) {
  ++live_others_;
  return new c_api::Event{std::move(status), std::move(work)};
}

c_api::Buffer* FakePlugin::NewBuffer(Array value, const c_api::Device* device) {
  ++live_buffers;
  auto* const buffer = new c_api::Buffer;
  buffer->dims.assign(value.shape().dims().begin(), value.shape().dims().end());
  buffer->value = std::move(value);
  buffer->device = device;
  return buffer;
}

template <typename Object>
c_api::Error* FakePlugin::Destroy(c_api::ObjectArgs<Object>* args) {
  --current_->live_others_;
  delete args->object;
  return nullptr;
}

void FakePlugin::SetObjectFunctions() {
  api_.error_destroy = [](c_api::ObjectArgs<c_api::Error>* args) {
    --current_->live_others_;
    delete args->object;
  };
  api_.error_message = [](c_api::ErrorMessageArgs* args) {
    args->message = args->error->message.data();
    args->message_size = args->error->message.size();
  };
  api_.error_get_code = [](c_api::ErrorGetCodeArgs* args) -> c_api::Error* {
    args->code = static_cast<int>(args->error->status.code());
    return nullptr;
  };
  api_.event_await = [](c_api::ObjectArgs<c_api::Event>* args) {
    if (args->object->work && args->object->status.ok()) args->object->work();
    return current_->NewError(args->object->status);
  };
  api_.event_destroy = Destroy<c_api::Event>;
  api_.plugin_initialize = [](c_api::PluginInitializeArgs*) -> c_api::Error* { return nullptr; };
}

void FakePlugin::SetClientFunctions() {
  api_.client_create = [](c_api::ClientCreateArgs* args) -> c_api::Error* {
    if (c_api::Error* const error = current_->CheckSize("PJRT_Client_Create_Args",
                                                        kClientCreateArgsSize, args->struct_size)) {
      return error;
    }
    ++current_->live_others_;
    args->client = new c_api::Client;
    return nullptr;
  };
  api_.client_destroy = Destroy<c_api::Client>;
  api_.client_platform_name = [](c_api::TextArgs<c_api::Client>* args) -> c_api::Error* {
    args->text = "fake";
    args->text_size = 4;
    return nullptr;
  };
  api_.client_addressable_devices = [](c_api::ClientDevicesArgs* args) -> c_api::Error* {
    args->devices = current_->device_list_.data();
    args->num_devices = current_->device_list_.size();
    return nullptr;
  };
  api_.device_get_description = [](c_api::DeviceGetDescriptionArgs* args) -> c_api::Error* {
    args->description = &args->device->description;
    return nullptr;
  };
  api_.device_description_id = [](c_api::DeviceDescriptionIdArgs* args) -> c_api::Error* {
    args->id = args->description->id;
    return nullptr;
  };
  api_.device_description_kind =
      [](c_api::TextArgs<c_api::DeviceDescription>* args) -> c_api::Error* {
    args->text = "Fake v1";
    args->text_size = 7;
    return nullptr;
  };
}

void FakePlugin::SetProgramFunctions() {
  api_.client_compile = [](c_api::ClientCompileArgs* args) { return current_->Compile(*args); };
  api_.loaded_executable_get = [](c_api::LoadedExecutableGetArgs* args) -> c_api::Error* {
    ++current_->live_others_;
    args->executable = new c_api::Executable{args->loaded->program.num_outputs};
    return nullptr;
  };
  api_.executable_num_outputs = [](c_api::ExecutableNumOutputsArgs* args) -> c_api::Error* {
    args->num_outputs = args->executable->num_outputs;
    return nullptr;
  };
  api_.executable_destroy = Destroy<c_api::Executable>;
  api_.loaded_executable_destroy = Destroy<c_api::LoadedExecutable>;
  api_.loaded_executable_execute = [](c_api::ExecuteArgs* args) {
    return current_->Execute(*args);
  };
}

void FakePlugin::SetBufferFunctions() {
  api_.client_buffer_from_host = [](c_api::BufferFromHostArgs* args) {
    return current_->Upload(*args);
  };
  api_.buffer_destroy = [](c_api::ObjectArgs<c_api::Buffer>* args) -> c_api::Error* {
    --current_->live_buffers;
    delete args->object;
    return nullptr;
  };
  api_.buffer_element_type = [](c_api::BufferTypeArgs* args) -> c_api::Error* {
    const auto type = BufferTypeOf(args->buffer->value.dtype());
    if (!type.ok()) return current_->NewError(type.status());
    args->type = *type;
    return nullptr;
  };
  api_.buffer_dimensions = [](c_api::BufferDimensionsArgs* args) -> c_api::Error* {
    args->dims = args->buffer->dims.data();
    args->num_dims = args->buffer->dims.size();
    return nullptr;
  };
  api_.buffer_to_host = [](c_api::BufferToHostArgs* args) -> c_api::Error* {
    if (args->source->deleted)
      return current_->NewError(absl::InvalidArgumentError("the buffer was deleted or donated"));
    if (args->destination_size != args->source->value.num_bytes())
      return current_->NewError(absl::InvalidArgumentError("another number of bytes"));
    ++current_->downloads;
    const Array value = args->source->value;
    void* const destination = args->destination;
    args->event = current_->NewEvent(current_->download_error, [value, destination] {
      std::memcpy(destination, value.raw(), value.num_bytes());
    });
    return nullptr;
  };
}

c_api::Error* FakePlugin::Upload(c_api::BufferFromHostArgs& args) {
  for (const DType dtype : kDTypes) {
    if (*BufferTypeOf(dtype) != args.type) continue;
    Array value(dtype, Shape(std::vector<int64_t>(args.dims, args.dims + args.num_dims)));
    if (value.num_bytes() > 0) std::memcpy(value.raw(), args.data, value.num_bytes());
    ++uploads;
    args.buffer = NewBuffer(std::move(value), args.device);
    args.done_with_host_buffer = NewEvent(absl::OkStatus(), nullptr);
    return nullptr;
  }
  return NewError(absl::InvalidArgumentError("unknown element type"));
}

c_api::Error* FakePlugin::Compile(c_api::ClientCompileArgs& args) {
  const absl::string_view text(args.program->code, args.program->code_size);
  if (!compiler) return NewError(absl::UnimplementedError("the test gave no compiler"));
  absl::StatusOr<Program> program = compiler(text);
  if (!program.ok()) return NewError(program.status());
  absl::StatusOr<std::vector<bool>> donates = DonatedArguments(text);
  if (!donates.ok()) return NewError(donates.status());
  ++live_others_;
  args.executable = new c_api::LoadedExecutable{*std::move(program), *std::move(donates)};
  return nullptr;
}

c_api::Error* FakePlugin::Execute(const c_api::ExecuteArgs& args) {
  if (c_api::Error* const error =
          CheckSize("PJRT_ExecuteOptions", kExecuteOptionsSize, args.options->struct_size)) {
    return error;
  }
  const c_api::LoadedExecutable& executable = *args.executable;
  if (args.num_args != executable.donates.size()) {
    return NewError(absl::InvalidArgumentError(
        absl::StrCat(args.num_args, " arguments for a program of ", executable.donates.size())));
  }
  Values arguments(args.num_devices);
  for (size_t d = 0; d < args.num_devices; ++d) {
    for (size_t a = 0; a < args.num_args; ++a) {
      const c_api::Buffer& buffer = *args.argument_lists[d][a];
      const std::string name = absl::StrCat("argument ", a, " of replica ", d);
      if (buffer.deleted)
        return NewError(absl::InvalidArgumentError(name + " was deleted or donated"));
      if (buffer.device != device_list_[d])
        return NewError(absl::InvalidArgumentError(name + " is on another device"));
      arguments[d].push_back(buffer.value);
    }
  }
  ++executions;
  absl::StatusOr<Values> outputs =
      execute_error.ok() ? executable.program.run(arguments) : execute_error;
  for (size_t d = 0; d < args.num_devices; ++d) {
    for (size_t a = 0; a < args.num_args; ++a) {
      if (executable.donates[a]) args.argument_lists[d][a]->deleted = true;
    }
  }
  if (!outputs.ok()) return NewError(outputs.status());
  CHECK_EQ(outputs->size(), args.num_devices);
  for (size_t d = 0; d < args.num_devices; ++d) {
    CHECK_EQ((*outputs)[d].size(), executable.program.num_outputs);
    for (size_t o = 0; o < executable.program.num_outputs; ++o)
      args.output_lists[d][o] = NewBuffer((*outputs)[d][o].Clone(), device_list_[d]);
    if (args.device_complete_events == nullptr) continue;
    const bool last = d + 1 == args.num_devices;
    args.device_complete_events[d] = NewEvent(last ? event_error : absl::OkStatus(), nullptr);
  }
  return nullptr;
}

}  // namespace estimator::tpu::pjrt
