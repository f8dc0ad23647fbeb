// Asks a PJRT plugin whether it accepts the argument structs of tpu/pjrt, for
// testdata/interop/check_pjrt_plugin.py. It needs no device.
//
//   pjrt_tool PLUGIN
//
// Each function is called without an object, in a child process. A plugin checks the size of the
// struct first, and refuses one that is smaller than its own. An accepted call may crash, because
// the object is missing; that is expected. Prints a line for each function. Exit code 1 if a struct
// is refused.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <iostream>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "tpu/pjrt/plugin.h"

namespace estimator::tpu::pjrt {
namespace {

constexpr int kRefused = 3;

// The child. libtpu's destructors must not run in it.
[[noreturn]] void RunChild(const std::function<absl::Status()>& call) {
  for (const int number : {SIGSEGV, SIGABRT, SIGBUS}) signal(number, SIG_DFL);
  alarm(60);  // seconds
  const absl::Status status = call();
  // XLA's words: "Unexpected PJRT_Client_Create_Args size: expected 88, got 72".
  const bool refused = absl::StrContains(status.message(), " size: expected ");
  if (refused) std::cout << status.message() << std::endl;
  _exit(refused ? kRefused : 0);
}

// Whether the plugin accepts the structs of the call.
bool Accepts(const std::string& name, const std::function<absl::Status()>& call) {
  const pid_t child = fork();
  if (child == 0) RunChild(call);
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) {
    std::cout << name << ": no child process can be started" << std::endl;
    return false;
  }
  const bool refused = WIFEXITED(status) && WEXITSTATUS(status) == kRefused;
  if (!refused) std::cout << name << ": accepted" << std::endl;
  return !refused;
}

absl::Status CheckStructs(const std::string& path, int& num_refused) {
  const auto loaded = Plugin::Load(path);
  if (!loaded.ok()) return loaded.status();
  const Plugin& plugin = **loaded;
  std::cout << path << ": version " << plugin.version() << " of the PJRT C API" << std::endl;
  const auto check = [&](const std::string& name, auto function, auto args) {
    num_refused += Accepts(name, [&] { return plugin.Call(name, function, args); }) ? 0 : 1;
  };
  using c_api::Api;
  check("PJRT_Client_Create", &Api::client_create, c_api::ClientCreateArgs());
  check("PJRT_Client_PlatformName", &Api::client_platform_name, c_api::TextArgs<c_api::Client>());
  check("PJRT_Client_AddressableDevices", &Api::client_addressable_devices,
        c_api::ClientDevicesArgs());
  c_api::ClientCompileArgs compile;
  c_api::Program program;
  compile.program = &program;
  check("PJRT_Client_Compile", &Api::client_compile, compile);
  check("PJRT_Client_BufferFromHostBuffer", &Api::client_buffer_from_host,
        c_api::BufferFromHostArgs());
  check("PJRT_Device_GetDescription", &Api::device_get_description,
        c_api::DeviceGetDescriptionArgs());
  check("PJRT_DeviceDescription_Id", &Api::device_description_id, c_api::DeviceDescriptionIdArgs());
  check("PJRT_DeviceDescription_Kind", &Api::device_description_kind,
        c_api::TextArgs<c_api::DeviceDescription>());
  check("PJRT_Executable_NumOutputs", &Api::executable_num_outputs,
        c_api::ExecutableNumOutputsArgs());
  check("PJRT_LoadedExecutable_GetExecutable", &Api::loaded_executable_get,
        c_api::LoadedExecutableGetArgs());
  c_api::ExecuteArgs execute;
  c_api::ExecuteOptions options;
  execute.options = &options;
  check("PJRT_LoadedExecutable_Execute", &Api::loaded_executable_execute, execute);
  check("PJRT_Buffer_Destroy", &Api::buffer_destroy, c_api::ObjectArgs<c_api::Buffer>());
  check("PJRT_Buffer_ElementType", &Api::buffer_element_type, c_api::BufferTypeArgs());
  check("PJRT_Buffer_Dimensions", &Api::buffer_dimensions, c_api::BufferDimensionsArgs());
  c_api::BufferToHostArgs to_host;
  c_api::MemoryLayout layout;
  to_host.host_layout = &layout;
  check("PJRT_Buffer_ToHostBuffer", &Api::buffer_to_host, to_host);
  check("PJRT_Event_Await", &Api::event_await, c_api::ObjectArgs<c_api::Event>());
  check("PJRT_TopologyDescription_Create", &Api::topology_create, c_api::TopologyCreateArgs());
  c_api::CompileArgs for_topology{.program = &program};
  check("PJRT_Compile", &Api::compile, for_topology);
  return absl::OkStatus();
}

}  // namespace
}  // namespace estimator::tpu::pjrt

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: pjrt_tool PLUGIN\n";
    return 2;
  }
  int num_refused = 0;
  const absl::Status status = estimator::tpu::pjrt::CheckStructs(argv[1], num_refused);
  if (!status.ok()) std::cerr << status << "\n";
  return status.ok() ? (num_refused > 0 ? 1 : 0) : 2;
}
