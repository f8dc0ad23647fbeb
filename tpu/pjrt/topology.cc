#include "tpu/pjrt/topology.h"

#include <numeric>
#include <utility>
#include <vector>

#include "estimator/base/status.h"
#include "tpu/pjrt/compile_options.h"

namespace estimator::tpu::pjrt {
namespace {

// A cost analysis and memory statistics are optional: a plugin may not have them.
CompiledProgram Analyze(const Plugin& plugin, c_api::Executable* executable) {
  CompiledProgram program;
  c_api::ExecutableMemoryArgs memory{.executable = executable};
  const absl::Status measured =
      plugin.Call("PJRT_Executable_GetCompiledMemoryStats", &c_api::Api::executable_memory, memory);
  if (measured.ok()) {
    // Outputs that are aliases are in the memory of their arguments.
    program.memory = {.arguments = memory.argument_bytes,
                      .outputs = memory.output_bytes - memory.alias_bytes,
                      .temporaries = memory.temp_bytes,
                      .code = memory.code_bytes};
  }
  c_api::ExecutableCostArgs cost{.executable = executable};
  const absl::Status analyzed =
      plugin.Call("PJRT_Executable_GetCostAnalysis", &c_api::Api::executable_cost, cost);
  if (!analyzed.ok()) return program;
  for (size_t i = 0; i < cost.num_properties; ++i) {
    const c_api::NamedValue& value = cost.properties[i];
    const std::string name(value.name, value.name_size);
    if (value.type == c_api::NamedValue::Type::kFloat) {
      program.costs[name] = static_cast<double>(value.float_value);
    } else if (value.type == c_api::NamedValue::Type::kInt64) {
      program.costs[name] = static_cast<double>(value.int64_value);
    }
  }
  return program;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Topology>> Topology::Create(std::shared_ptr<const Plugin> plugin,
                                                           StringArg name) {
  c_api::TopologyCreateArgs args{.name = name.data(), .name_size = name.size()};
  EST_RETURN_IF_ERROR(
      plugin->Call("PJRT_TopologyDescription_Create", &c_api::Api::topology_create, args));
  std::unique_ptr<Topology> topology(new Topology(std::move(plugin), args.topology));
  c_api::TopologyDevicesArgs devices{.topology = args.topology};
  EST_RETURN_IF_ERROR(topology->plugin_->Call("PJRT_TopologyDescription_GetDeviceDescriptions",
                                              &c_api::Api::topology_devices, devices));
  topology->num_devices_ = static_cast<int64_t>(devices.num_descriptions);
  return topology;
}

Topology::~Topology() {
  plugin_->Destroy("PJRT_TopologyDescription_Destroy", &c_api::Api::topology_destroy,
                   {.object = topology_});
}

absl::StatusOr<CompiledProgram> Topology::Compile(StringArg stablehlo, int64_t num_replicas) const {
  if (num_replicas < 1 || num_replicas > num_devices_) {
    return InvalidArgument("the program has ", num_replicas, " replicas, but the topology has ",
                           num_devices_, " devices: give each replica a device");
  }
  std::vector<int64_t> ids(static_cast<size_t>(num_replicas));
  std::iota(ids.begin(), ids.end(), 0);
  const std::string options = CompileOptionsFor(ids);
  const c_api::Program program = ProgramOf(stablehlo);
  c_api::CompileArgs args{.topology = topology_,
                          .program = &program,
                          .compile_options = options.data(),
                          .compile_options_size = options.size()};
  EST_RETURN_IF_ERROR(plugin_->Call("PJRT_Compile", &c_api::Api::compile, args));
  CompiledProgram compiled = Analyze(*plugin_, args.executable);
  c_api::ObjectArgs<c_api::Executable> destroy{.object = args.executable};
  EST_RETURN_IF_ERROR(
      plugin_->Call("PJRT_Executable_Destroy", &c_api::Api::executable_destroy, destroy));
  return compiled;
}

}  // namespace estimator::tpu::pjrt
